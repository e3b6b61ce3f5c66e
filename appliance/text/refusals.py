"""How models say that the documents do not hold the answer, in every language of `language`. Data and its one reader.

Small models seldom keep to the sentence they are told; what they write instead is collected here. A rule wants a word
for the documents, or a word for their silence that no fact would use: "there is no limit" is an answer.
"""

from __future__ import annotations

import re

from appliance.text.language import LANGUAGES
from appliance.text.words import sentence_spans

_EN_SOURCE = (
    r"(?:(?:the|these|those|this|my|your|any of the|none of the|provided|given|available|numbered|above) ){0,3}"
    r"(?:documents?|passages?|texts?|context|sources?|excerpts?|information|article|paragraphs?|content)"
    r"(?: (?:provided|given|above|available|you (?:have )?(?:provided|gave|shared)|here|itself|\d{1,2}|you))?"
)
_EN_SILENT = r"(?:mention|say|specify|state|indicate|answer|address|tell|discuss|describe|explain|name|cover)"
_EN_HOLD = r"(?:contain|include|provide|give|hold|have|offer|list|supply|show)"
_EN_MATTER = (
    r"(?:information|details?|answers?|data|mentions?|references?|specifics?|facts?|figures?|indications?)"
)
_EN_SAID = (
    r"(?:provided|specified|mentioned|stated|given|found|available|included|indicated|discussed|known|contained|"
    r"listed|addressed|described)"
)

_RULES = (
    # English
    rf"{_EN_SOURCE} (?:do|does|did) ?(?:not|n't|n’t)(?: (?:explicitly|directly|specifically|clearly|actually|"
    rf"even))? {_EN_SILENT}\b",
    rf"{_EN_SOURCE} (?:do|does|did) ?(?:not|n't|n’t)(?: (?:explicitly|directly|specifically|actually))? {_EN_HOLD} "
    rf"(?:\w+ ){{0,4}}?{_EN_MATTER}\b",
    rf"none of {_EN_SOURCE} (?:\w+ )?(?:{_EN_SILENT}|{_EN_HOLD})",
    rf"{_EN_SOURCE} (?:contains?|provides?|gives?|includes?|has|have|offers?|holds?) "
    rf"no (?:\w+ ){{0,2}}?{_EN_MATTER}\b",
    rf"there (?:is|are|was|were|seems to be|appears to be) (?:no|not any|not enough|insufficient) "
    rf"(?:\w+ ){{0,3}}?{_EN_MATTER}\b",
    rf"(?:no|not enough|insufficient) (?:\w+ )?{_EN_MATTER} (?:\w+ ){{0,3}}?(?:is|are|was|were|about|on|regarding|"
    rf"in|available|provided|given|found)\b",
    rf"(?:[^.]{{1,150}}?) (?:is|are|was|were|has|have)(?: not|n't|n’t)(?: been)?(?: (?:explicitly|directly|"
    rf"specifically|clearly))? "
    rf"{_EN_SAID} (?:in|by|within|from) {_EN_SOURCE}",
    rf"(?:the )?(?:answer|information|question|details?)(?: [^.]{{1,80}}?)? (?:is|are|was|can|could)(?: ?not|n't|n’t)"
    rf"(?: be)? (?:{_EN_SAID}|answered|determined)\b",
    rf"(?:it|this|that|the exact \w+) is(?: not|n't|n’t) {_EN_SAID}(?: (?:in|by) {_EN_SOURCE})?\W*$",
    rf"not {_EN_SAID}(?: (?:in|by) {_EN_SOURCE})?\W*$",
    r"i (?:can ?not|can't|can’t|could not|couldn't|do not|don't|don’t|am unable to|was unable to|am not able to) "
    r"(?:find|answer|determine|see|provide|locate|have|know|tell)\b",
    r"(?:unknown|n/a|no answer)\W*$",
    # German
    r"(?:die|das|der|den|diese[rsn]?|keine? der|in den|in diesen)?\s?(?:vorliegenden |bereitgestellten |gegebenen |"
    r"angegebenen )?"
    r"(?:dokumente?n?|passagen?|texte?n?|abschnitte?n?|quellen?|unterlagen|informationen|kontext) "
    r"(?:\w+ ){0,6}?(?:nichts|keine(?:rlei|n)?|nicht)\b",
    r"es (?:gibt|liegen|werden|sind|wird|finden sich) (?:\w+ ){0,5}?keine (?:\w+ )?(?:informationen?|angaben?|"
    r"hinweise?|antwort|daten|erwähnung)\b",
    r"(?:\w+ ){1,12}?(?:wird|werden|ist|sind) (?:\w+ ){0,8}?nicht (?:erwähnt|angegeben|genannt|enthalten|"
    r"beschrieben|aufgeführt|bekannt)\b",
    r"(?:dazu|darüber|hierzu) (?:\w+ ){0,6}?(?:nichts|keine)\b",
    r"ich (?:kann|konnte|weiß|habe) (?:\w+ ){0,8}?(?:nicht|keine)\b",
    # French
    r"(?:les|le|la|ces|cette|ce|aucune?|dans)?\s?(?:documents?|passages?|textes?|sources?|extraits?|informations?|"
    r"contexte)(?: fournis?| fournies?| donnés?)? "
    r"(?:ne|n['’]) ?(?:\w+['’ ]){1,6}?(?:pas|rien|aucune?)\b",
    r"il n['’]y a (?:pas|aucune?) (?:\w+['’ ]){0,3}?(?:informations?|mention|réponse|indication|détails?)\b",
    r"aucune? (?:information|mention|réponse|indication|passage|document)\b",
    r"(?:[^.]{1,150}?) (?:n['’]est|n['’]a|ne sont|n['’]ont|n['’]était) pas (?:été )?(?:mentionnée?s?|précisée?s?|"
    r"indiquée?s?|fournie?s?|spécifiée?s?|dite?s?)\b",
    r"je ne (?:peux|sais|trouve|dispose)\b",
    # Spanish
    r"(?:los|el|la|las|estos|este|ningún|ninguno de los|en los)?\s?(?:documentos?|pasajes?|textos?|fuentes?|"
    r"fragmentos?|información|contexto)(?: proporcionad[oa]s?)? "
    r"no (?:\w+ ){0,5}?(?:dicen?|mencionan?|indican?|especifican?|contienen?|proporcionan?|ofrecen?|incluyen?|"
    r"responden?|dan?|hablan?)\b",
    r"(?:en los (?:documentos|pasajes|textos) )?no (?:hay|existe|se (?:proporciona|menciona|indica|especifica|dice|"
    r"encuentra|ofrece)n?) "
    r"(?:\w+ ){0,3}?(?:información|mención|respuesta|indicación|datos|detalles|en (?:los|el) (?:documentos?|"
    r"pasajes?|textos?))\b",
    r"(?:[^.]{1,150}?) no (?:se|está|es|fue|ha sido) (?:mencion|indic|especific|proporcion)\w+(?: en (?:los|el|la|"
    r"las) \w+)?\W*$",
    r"no (?:puedo|sé|encuentro|tengo|dispongo)\b",
    # Italian, Portuguese, Dutch, Swedish, Polish
    r"(?:i|il|nei|nessuno dei|le|la)?\s?(?:documenti|documento|passaggi|brani|testo|informazioni|contesto) "
    r"(?:\w+ )?non (?:\w+ )?"
    r"(?:dicono|dice|menzionan?o?|indican?o?|specifican?o?|conteng\w+|contiene|fornisc\w+|forniscono)\b",
    r"non (?:ci sono|c['’]è|è) (?:\w+ ){0,3}?(?:informazion[ei]|menzion\w+|indicat\w+|specificat\w+|rispost[ae])\b",
    r"(?:os|o|as|a|nos|nenhum dos)?\s?(?:documentos?|trechos?|passagens|passagem|textos?|informações|contexto) "
    r"(?:\w+ )?não (?:\w+ )?"
    r"(?:dizem|diz|menciona\w*|indica\w*|especifica\w*|cont[eéê]m|fornece\w*)\b",
    r"não (?:há|existe|é|está) (?:\w+ ){0,3}?(?:informaç\w+|menç\w+|mencionad\w+|indicad\w+|especificad\w+)\b",
    r"(?:de|het|geen van de|in de)?\s?(?:documenten|document|passages?|teksten?|tekst|bronnen|informatie) "
    r"(?:\w+ ){1,4}?(?:niets|niet|geen)\b",
    r"er (?:is|staat|wordt|zijn) (?:\w+ ){0,3}?(?:geen informatie|niets|niet)\b",
    r"(?:dokumenten?|texten|avsnitten|källorna|passagerna) (?:\w+ ){1,3}?(?:inget|inte|ingen)\b",
    r"det (?:finns|står) (?:ingen|inget|inte)\b",
    r"(?:dokumenty|dokument|teksty?|fragmenty|źródła) (?:\w+ )?nie (?:\w+ )?(?:mówi\w*|zawiera\w*|podaj\w*|"
    r"wspomina\w*|określa\w*)\b",
    r"(?:nie ma|brak) (?:\w+ ){0,2}?informacji\b",
    # Russian, Chinese, Japanese, Korean
    r"(?:в )?(?:этих |данных |предоставленных )?(?:документ\w*|текст\w*|отрывк\w*|фрагмент\w*|источник\w*) "
    r"(?:\w+ ){0,4}?(?:не|нет|ничего)\b",
    r"(?:нет|отсутствует) (?:\w+ )?(?:информаци\w+|сведени\w+|данных|ответа)\b",
    r"(?:这些|这|所给的?|提供的|上述|根据)?(?:文档|文件|段落|文章|文本|资料|文中|材料|上下文)[^。]{0,12}?(?:没有|未|并未|不包含|无)",
    r"没有(?:提到|提及|说明|提供|相关)",
    r"(?:文書|文章|資料|段落|本文|提供された\w{1,6})[^。]{0,20}?(?:ありません|ない|いません|ず)",
    r"(?:문서|문단|본문|제공된 \w{1,6})[^.]{0,20}?(?:없습니다|않습니다|않았습니다)",
)  # fmt: skip
_REFUSES = re.compile("|".join(f"(?:{rule})" for rule in _RULES))
_SENTENCES = tuple(language.does_not_say.rstrip(".。").casefold() for language in LANGUAGES)
# What may stand in front of a refusal.
_OPENING = re.compile(
    r"^(?:\W+|(?:unfortunately|sorry|i'?m sorry|i am sorry|i apologi[sz]e|answer|leider|malheureusement|désolée?|"
    r"lo siento|"
    r"lamentablemente|desafortunadamente|purtroppo|infelizmente|helaas|tyvärr|niestety|к сожалению|很抱歉|抱歉|对不起|"
    r"(?:no|nein|non)(?=,))\b[,:.]?\s?(?:but |aber |mais |pero )?|"
    r"(?:based on|according to|from|in) [^,.]{3,60}, |(?:laut|gemäß|nach|auf grundlage) [^,.]{3,60}, |"
    r"(?:selon|d'après) [^,.]{3,60}, |(?:según|basándose en) [^,.]{3,60}, |根据[^，,。]{1,20}[，,])+"
)
# After a refusal, this begins an answer all the same.
_YET = re.compile(
    r"\b(?:however|but|although|nevertheless|still|instead|jedoch|allerdings|aber|cependant|mais|toutefois|"
    r"sin embargo|"
    r"pero|tuttavia|ma|no entanto|mas|echter|maar|однако|но)\b|但是|不过|しかし|ただし|하지만"
)


def says_nothing(answer: str) -> bool:
    """Tell whether an answer only says that the documents do not hold one."""
    text = " ".join(answer.casefold().split())
    text = _OPENING.sub("", text, count=1)
    if _YET.search(text):
        return False
    if text.startswith(_SENTENCES):
        return True
    first = next(sentence_spans(text), (0, 0))
    return _REFUSES.match(text[slice(*first)]) is not None

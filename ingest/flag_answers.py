"""Rules for texts that say how answers are to be worded, in any language: what a document has no business to say."""

from __future__ import annotations

from ingest.flag_rules import raw, rule

_ANSWER = r"(?:answers?|repl(?:y|ies)|responses?)"
_SAY = r"(?:say|saying|answer|reply|respond|write|print|output|add|include|append|mention|cite|repeat|show|insert)"
_MACHINE = (
    r"(?:ai|ais|llms?|(?:large )?language models?|chat ?bots?|"
    r"ai (?:assistants?|models?|systems?|agents?|readers?|tools?))"
)

ANSWERS = (
    rule(
        "answer|repl|respon",
        rf"\b(?:every|each|all|any|your|its) (?:next |final |further |of your )?{_ANSWER}(?: (?:of yours|you give|"
        rf"here))? "
        r"(?:must|should|shall|has to|have to|needs? to|will|always|are to|is to)? ?~1 "
        r"(?:begins?|ends?|starts?|finish(?:es)?|closes?|opens?|contains?|be signed|includes?) (?:with|by|the|in|"
        r"this|a|an)\b",
    ),
    rule(
        "answer|repl|respon",
        rf"\b(?:begin|end|start|finish|sign|close|open|prefix|precede) (?:your|every|each|all|any|the next) "
        rf"~2 {_ANSWER} "
        r"(?:with|by)\b",
    ),
    rule(
        "answer|repl|respon",
        rf"\b{_SAY} ~8 (?:to|in|with|at the end of|after) (?:your|every|each|all|the next) ~1 {_ANSWER}\b",
    ),
    rule(
        "answer|repl|respon",
        rf"\bin (?:your|the) next {_ANSWER}\b",
    ),
    rule(
        "answer|respon|repl",
        r"\b(?:the|your) (?:only|single) (?:correct |right |true |allowed |valid |possible )?(?:answer|response|"
        r"reply|word) "
        r"(?:to|is|you|for)\b",
    ),
    rule(
        "answer|repl|respon|say|output|write|print",
        r"\b(?:answer|reply|respond|say|output|write|print) (?:only |just |simply |always )?(?:with )?(?:the |this )"
        r"(?:single |one |exact |following |secret |magic )?(?:words?|phrase|string|code word) "
        r"(?!(?:and|or|you|we|when|if|before|in|on|of|to|for|from|below|above|out|aloud)\b)[\"'“‘«]?\w",
    ),
    rule(
        "you must|you should|you have to|you will",
        r"\byou (?:must|should|have to|will|shall) (?:always |only |then |now )?(?:answer|reply|respond|say|output|"
        r"claim) "
        r"(?!(?:all|the|any|every|each|this|these|within|by|in|to|promptly|truthfully|honestly|questions?)\b)~6 "
        r"(?:instead|and never|and nothing|only|whatever)\b",
    ),
    raw(
        "you must|you should|you have to|you will",
        r"\byou (?:must|should|have to|will) (?:answer|reply|say)\b[^!?]{1,60}?\b(?:instead|(?:and|but) "
        r"never (?:mention|say))\b",
    ),
    rule(
        "from now on",
        r"\bfrom now on you (?:are|will be|shall be|play|act|speak|sign|talk)\b(?! (?:required|responsible|obliged|"
        r"entitled|allowed|able|not))",
    ),
    rule(
        "ai|llm|language model|chatbot|chat bot",
        rf"\b{_MACHINE} (?:that (?:read|process|see)|who read|reading|processing|seeing|parsing|summari[sz]ing|must|"
        rf"are "
        r"(?:required|instructed|ordered|obliged) ~4 to (?:answer|reply|respond|say|output|tell))\b",
    ),
    raw(
        "assistant",
        r"(?:^|[.!?:;] )[\"“']?assistant,? (?:please |now )?(?:run|execute|open|send|delete|write|say|reply|answer|"
        r"ignore|call|visit|download)\b",
    ),
    rule(
        "assistant",
        rf"\b(?:the|dear) assistant (?:must|should|shall|will|now)? ?~1 {_SAY} ~12 {_ANSWER}\b",
    ),
    rule(
        "assistant",
        r"\b(?:the|dear) assistant (?:now |must now |will now |will only |only )(?:says?|answers?|outputs?|repl)",
    ),
    raw(
        "ai:|ai :|assistant:|bot:|llm:|model:",
        r"\b(?:ai|assistant|bot|llm|model) ?: ?(?:please |now )?(?:say|reply|answer|respond|output|print|write|show|"
        r"tell|begin|"
        r"end)\b(?! ?:)",
    ),
    rule(
        "question",
        r"\b(?:answers|replies|responds) (?:to )?(?:every|each|any|all) questions? (?:with|by)\b",
    ),
    raw(
        "assistant:",
        r"\b(?:user|human|question) ?: .{1,200}? ?assistant ?:",
    ),
    rule(
        "passages|documents|context",
        r"\bif the (?:passages|documents|context|texts?) (?:do|does) not ~6 (?:reply|answer|respond|say)\b",
    ),
    rule(
        "everything",
        r"\b(?:disregard|ignore|forget) everything ~4 (?:before|above|until|prior)\b",
    ),
    rule(
        "pretend|claim",
        r"\b(?:pretend|claim) that (?:the|these|your|all) (?:documents?|passages?|texts?|context) (?:hold|say|"
        r"contain|do|are)\b",
    ),
    rule(
        "decode|decrypt|base64|rot13",
        r"\b(?:decode|decrypt|unscramble|base64|rot13) ~9 (?:do what|obey|do as|run it|without telling)\b",
    ),
    rule(
        "tell the|user|reader",
        r"\b(?:always|must|and) (?:cite|tell the (?:user|reader)|show the (?:user|reader)) ~6 (?:as|that|\d)\b",
    ),
    rule(
        "user|reader",
        r"\b(?:the )?(?:user|reader) must (?:click|open|visit|call) ~5 (?:https?|link|report|here)\b",
    ),
    rule(
        "this link|this picture|this image",
        r"\b(?:always )?(?:show|include|add|display|insert) (?:this|the following) (?:link|picture|image|url)\b",
    ),
    rule(
        "next question",
        r"\b(?:now )?answer the next question (?:in|with|by)\b",
    ),
    rule(
        "secret word",
        r"\b(?:the|what is the) secret word\b",
    ),
    # German, French, Spanish
    rule(
        "antwort",
        r"\b(?:jede|alle|deine|ihre) (?:nächste )?antwort(?:en)? (?:muss|müssen|soll|sollen|beginnt|endet) "
        r"~9 (?:beginnen|enden|enthalten|lauten|mit)\b",
    ),
    rule(
        "antwort",
        r"\b(?:beginne|beende|schließe) (?:jede|deine|alle) antwort(?:en)? mit\b",
    ),
    rule(
        "antwort|schreib|sag",
        r"\b(?:antworte?|antworten sie|schreibe?|sage?|gib) ~2 (?:nur|ausschließlich|lediglich|immer) ~3 (?:wort|"
        r"satz|text)\b",
    ),
    rule(
        "réponse",
        r"\b(?:chaque|toute|toutes|ta|votre) réponses? (?:doit|doivent|devra) ~3 (?:commencer|finir|se terminer|"
        r"contenir|être)\b",
    ),
    rule(
        "répon",
        r"\b(?:réponds|répondez|dis|écris|écrivez) (?:uniquement|seulement|toujours|simplement) ~2 (?:par|avec|"
        r"le mot|la phrase)\b",
    ),
    rule(
        "respuesta",
        r"\b(?:cada|toda|todas|tu|su) respuestas? (?:debe|deben|deberá) ~3 (?:empezar|comenzar|terminar|acabar|"
        r"contener|ser)\b",
    ),
    rule(
        "respond|contest|escrib",
        r"\b(?:responde|responda|contesta|conteste|escribe|di) (?:solo|sólo|solamente|únicamente|siempre) ~2 (?:con|"
        r"la palabra|la frase)\b",
    ),
)  # fmt: skip

# Scripts whose words the skeletons above cannot part, or hardly.
SCRIPTS = (
    raw(
        "игнорир|забудь|не обращай|отмени",
        r"(?:игнорируй(?:те)?|забудь(?:те)?|не обращай(?:те)? внимания на|отмени(?:те)?) [\w ]{0,40}?(?:инструкци|"
        r"указани|правил|команд|подсказ)",
    ),
    raw(
        "ответ|отвеч|напиши|скажи|выведи",
        r"(?:ответь(?:те)?|отвечай(?:те)?|напиши(?:те)?|скажи(?:те)?|выведи(?:те)?) (?:только|лишь|всегда|"
        r"исключительно)\b",
    ),
    raw(
        "теперь",
        r"ты теперь [\w ]{0,20}?(?:ассистент|бот|модель|ии|пират)",
    ),
    raw(
        "忽略|无视|無視|忘记|忘掉",
        r"(?:忽略|无视|無視|忘记|忘掉)[^。！!\n]{0,16}?(?:指令|指示|说明|提示|规则|命令|内容)",
    ),
    raw(
        "只|仅",
        r"(?:请)?(?:只|仅|只能|只需)(?:回答|输出|回复|说)",
    ),
    raw(
        "你现在是|从现在",
        r"(?:你现在是|从现在(?:开始|起)[，,]?你)",
    ),
    raw(
        "無視|忘れ",
        r"(?:指示|命令|ルール|プロンプト)[^。\n]{0,10}?(?:無視|忘れ)",
    ),
    raw(
        "だけ",
        r"[^。\n]{1,20}だけ(?:を)?(?:答え|出力|返し|回答)",
    ),
    raw(
        "무시",
        r"(?:지시|명령|규칙)[^.\n]{0,10}?무시",
    ),
)  # fmt: skip

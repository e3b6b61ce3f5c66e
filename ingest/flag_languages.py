"""Rules for texts in German, French, Spanish, and the plainest attack in Italian, Dutch and Portuguese."""

from __future__ import annotations

from ingest.flag_rules import UNBOUND, rule

GERMAN = (
    rule(
        "ignorier|vergiss|vergessen|missacht|beacht|befolg",
        r"\b(?:ignoriere?|ignorieren sie|ignoriert|vergiss|vergessen sie|missachte|missachten "
        r"sie|beachte|befolge) ~3 (?:vorherigen?|vorigen?|"
        r"vorhergehenden?|bisherigen?|obigen?|oben \w{1,20}|früheren?|vorangegangenen?|deine|"
        r"ursprünglichen?|alle) ~2 (?:\w{0,12}anweisung(?:en)?|"
        r"instruktion(?:en)?|befehle?|regeln|vorgaben|prompts?|richtlinien|kontext)\b(?! "
        r"(?:für|auf|in|von|zu|im|zum|zur|des|der))",
        may_be_denied=True,
    ),
    rule(
        "ignorier|vergiss",
        r"\b(?:ignoriere|vergiss) alles(?:,? was)? ~4 (?:oben|davor|vorher|bisher|zuvor|"
        r"gesagt|wurde)\b",
    ),
    rule(
        "du bist",
        rf"\bdu bist (?:jetzt|nun|ab jetzt|ab sofort|von nun an|fortan|kein\w{{0,2}}) ~3 "
        rf"(?:ki|ki \w{{1,20}}|assistent\w{{0,3}}|chat ?bot|bot|"
        rf"sprachmodell|künstliche\w{{0,2}} intelligenz|{UNBOUND}|uneingeschränkt\w{{0,3}}|"
        rf"pirat|hacker)\b",
    ),
    rule(
        "du bist ein",
        r"\bdu bist eine? (?:\w{1,20} ){0,2}(?:ki|ki (?:assistent|modell|system)|sprachmodell|"
        r"chat ?bot)\b",
    ),
    rule(
        "als",
        r"\bals (?:ki|ki (?:assistent|modell|system|sprachmodell)|künstliche intelligenz|"
        r"sprachmodell|chatbot) (?:du|musst|sollst|darfst|"
        r"kannst|ist es deine|antworte|sollen sie|müssen sie|hast)\b",
    ),
    rule(
        "wenn du|falls du|an alle|achtung|hinweis",
        r"\b(?:(?:wenn|falls) du eine? (?:ki|sprachmodell|chat ?bot|ki \w{1,20}) (?:bist|"
        r"liest)|"
        r"(?:achtung|hinweis|anweisung|nachricht)(?: (?:an|für)(?: (?:die|alle|den))?)? "
        r"(?:ki|sprachmodelle?|chatbots?|ki (?:assistent(?:en)?|modelle?|systeme?)))\b",
    ),
    rule(
        "nutzer|user|anwender",
        r"\b(?:sag|sage|verrate|erzähle?|teile?) (?:dem|den|keinem) (?:be)?(?:nutzern?|usern?|"
        r"anwendern?) (?:nichts|nicht|niemals|davon)\b|"
        r"\b(?:erwähne|verrate|informiere) ~4 (?:be)?(?:nutzer|user|anwender)n? ~1 (?:nicht|"
        r"nichts|niemals)\b",
    ),
    rule(
        "antworte",
        r"\bantworte (?:ab jetzt |von nun an )?(?:nur|ausschließlich|immer) (?:noch )?(?:mit|"
        r"auf|in|als)\b",
    ),
    rule(
        "system",
        r"\b(?:gib|zeige?|verrate|nenne|wiederhole|drucke) ~3 (?:deine?n?|den|die) ~1 (?:system "
        r"?prompts?|system ?anweisung(?:en)?|system ?nachricht)\b",
    ),
    rule(
        "deine",
        r"\b(?:verrate|nenne|wiederhole|zeige?) ~2 deine ~1 (?:ursprünglichen|internen|geheimen|"
        r"versteckten) (?:anweisungen|instruktionen|regeln)\b",
    ),
    rule(
        "deine neue",
        r"\bdeine neuen? (?:anweisung(?:en)?|instruktion(?:en)?|identität) (?:ist|sind|lautet|"
        r"lauten)\b",
    ),
    rule(
        "unabhängig|egal",
        r"\b(?:unabhängig davon|egal),? was (?:der|die) (?:be)?(?:nutzer|nutzerin|user|anwender) "
        r"(?:fragt|sagt|schreibt|will)\b",
    ),
)

FRENCH = (
    rule(
        "ignor|oubli|compte|abstraction",
        r"\b(?:ignore[zr]?|oublie[zr]?|ne (?:tiens|tenez) (?:pas|plus|aucun) compte|(?:fais|"
        r"faites) abstraction) ~4 (?:instructions?|consignes?|"
        r"directives?|règles|prompts?|ordres|invites?) ~3 (?:précédentes?|précédents?|antérieures?|"
        r"antérieurs?|ci dessus|ci avant|initiales?|système|"
        r"reçues?|plus haut)\b",
        may_be_denied=True,
    ),
    rule(
        "ignor|oubli",
        r"\b(?:ignore|ignorez|oublie|oubliez) (?:tout ce qui (?:précède|a été)|toutes (?:tes|"
        r"vos) (?:instructions|consignes|règles))\b",
    ),
    rule(
        "tu es|vous êtes",
        rf"\b(?:tu es|vous êtes) (?:maintenant|désormais|à présent) ~3 (?:ia|intelligence "
        rf"artificielle|assistant (?:sans|virtuel|ia)|modèle "
        rf"de langage|chatbot|robot|pirate|{UNBOUND}|sans (?:restrictions?|limites?|filtres?))\b",
    ),
    rule(
        "tu es un",
        r"\b(?:tu es|vous êtes) une? (?:\w{1,20} ){0,2}(?:ia|intelligence artificielle|assistant "
        r"ia|modèle de langage|chatbot)\b",
    ),
    rule(
        "en tant qu",
        r"\ben tant qu.? ?(?:ia|intelligence artificielle|assistant ia|modèle de langage|"
        r"une ia|un assistant ia) (?:tu|vous|ne|n|je|ta|votre)\b",
    ),
    rule(
        "utilisateur",
        r"\b(?:ne|n) (?:dis|dites|révèle|révélez|mentionne|mentionnez|informe|informez|parle|"
        r"parlez|en parle) ~3 (?:(?:à|au|aux) )?"
        r"(?:l )?utilisateurs?(?: de (?:ceci|cela|ces|cette)| que (?:tu|vous|ce|cette)| "
        r"?[.!;]| ?$)",
    ),
    rule(
        "réponds",
        r"\bréponds (?:uniquement|seulement|toujours|exclusivement|désormais) (?:par|avec|"
        r"en|comme|que)\b",
    ),
    rule(
        "système|initial|secret",
        r"\b(?:affiche|affichez|révèle|révélez|montre|montrez|donne|donnez|répète|répétez)(?: "
        r"moi)? ~3 (?:prompt|invite|instructions?|"
        r"consignes?|message) (?:système|initiale?s?|secrète?s?|cachée?s?)\b",
    ),
    rule(
        "si tu es|si vous êtes|à toutes|attention",
        r"\bsi (?:tu es|vous êtes) une? (?:ia|intelligence artificielle|modèle de langage|"
        r"assistant ia|chatbot|robot)\b|"
        r"\b(?:attention|message|note|consigne)(?: (?:à|aux|pour))?(?: (?:les|toutes les|"
        r"l))? (?:ia|assistants ia|modèles de langage|chatbots)\b",
    ),
)

SPANISH = (
    rule(
        "ignor|olvid|omit|descart|desestim|caso|sigas",
        r"\b(?:ignora|ignore|ignorad|ignoren|olvida|olvide|olviden|omite|descarta|desestima|"
        r"no sigas|(?:haz|haga|hagan) caso omiso de|no hagas caso (?:a|de)) ~4 "
        r"(?:instrucci(?:ones|ón)|indicaciones|órdenes|directrices|reglas|prompts?|directivas) "
        r"~3 (?:anteriores?|previas?|precedentes?|iniciales?|del "
        r"sistema|recibidas?|de arriba)\b",
        may_be_denied=True,
    ),
    rule(
        "ignor|olvid",
        r"\b(?:ignora|ignore|olvida|olvide) (?:(?:todas )?(?:las |tus |sus )(?:anteriores|"
        r"previas) (?:instrucciones|reglas|órdenes)|todo lo "
        r"(?:anterior|que)|todas tus (?:instrucciones|reglas))\b",
    ),
    rule(
        "eres|serás",
        rf"\b(?:ahora eres|eres ahora|a partir de ahora (?:eres|serás)|desde ahora (?:eres|"
        rf"serás)) ~3 (?:ia|inteligencia artificial|asistente (?:sin|"
        rf"virtual|de ia)|modelo de lenguaje|chatbot|bot|pirata|{UNBOUND}|sin (?:restricciones|"
        rf"límites|filtros))\b",
    ),
    rule(
        "eres un",
        r"\beres una? (?:\w{1,20} ){0,2}(?:ia|inteligencia artificial|asistente de ia|modelo "
        r"de lenguaje|chatbot)\b",
    ),
    rule(
        "como",
        r"\bcomo (?:una? )?(?:ia|inteligencia artificial|modelo de lenguaje|asistente de "
        r"ia) (?:debes|tu|no|tienes|puedes|responde|nunca|siempre)\b",
    ),
    rule(
        "usuario",
        r"\bno (?:le |les )?(?:digas|reveles|menciones|informes|cuentes) ~3 (?:al|a los|"
        r"a ningún) usuarios?(?: (?:sobre|de) (?:esto|estas|este|esta)| "
        r"que (?:tú|este|esta|has|estas)| nada| ?[.!;]| ?$)",
    ),
    rule(
        "responde",
        r"\bresponde (?:solo|sólo|solamente|únicamente|siempre|exclusivamente) (?:con|en|"
        r"como)\b",
    ),
    rule(
        "sistema|inicial|tu prompt",
        r"\b(?:muestra|muéstrame|revela|imprime|repite|dime|escribe) ~3 (?:(?:prompt|instrucciones|"
        r"mensaje) (?:del? sistema|iniciales?|"
        r"ocultas?|secretas?)|tu prompt)\b",
    ),
    rule(
        "si eres",
        r"\bsi eres una? (?:ia|inteligencia artificial|modelo de lenguaje|asistente de ia|"
        r"chatbot|bot)\b",
    ),
)

OTHERS = (
    rule(
        "ignor|dimentic|istruzioni",
        r"\b(?:ignora|ignorate|ignori|dimentica|dimenticate) ~4 (?:istruzioni|regole|indicazioni|"
        r"prompt) (?:precedenti|di sistema|sopra)\b",
    ),
    rule(
        "negeer|vergeet",
        r"\b(?:negeer|vergeet) ~3 (?:vorige|voorgaande|eerdere|bovenstaande|jouw|je) ~1 "
        r"(?:instructies?|opdrachten|regels|prompts?)\b",
    ),
    rule(
        "ignor|esque",
        r"\b(?:ignore|ignora|esqueça|esquece|desconsidere) ~4 (?:instruções|regras|orientações|"
        r"prompts?) (?:anteriores|prévias|do sistema|acima)\b",
    ),
)

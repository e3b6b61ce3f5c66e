"""Rules for texts in English, and for the marks of chat templates, which are the same in all languages."""

from __future__ import annotations

from ingest.flag_rules import UNBOUND, raw, rule

_EARLIER = (
    r"(?:previous|previously|prior|preceding|above|earlier|foregoing|past|former|initial|"
    r"original|system|developer)"
)
_ORDERS = (
    r"(?:instructions?|prompts?|directions?|directives?|guidelines?|rules?|commands?|"
    r"constraints?|context)"
)
_AI = (
    r"(?:ai|ais|artificial intelligence|(?:ai|virtual|digital) assistants?|ai (?:models?|"
    r"agents?|systems?|readers?|bots?|reviewers?|"
    r"tools?|crawlers?|summari[sz]ers?)|chat ?bots?|(?:large )?language models?|llms?|"
    r"chatgpt|gpt)"
)
_ASSISTANT = (
    r"assistant(?! (?:to|manager|director|professor|coach|principal|teacher|secretary|"
    r"nurse|chief|editor|vice))"
)
_NO_TRADE = (
    r"(?! (?:developer|engineer|researcher|compan|provider|vendor|user|customer|student|"
    r"expert|team|start|service|tool))"
)

TOKENS = (
    raw(
        "<|",
        r"<\|(?:im_(?:start|end|sep)|system|user|assistant|endoftext|end|eot_id|begin_of_text|"
        r"end_of_text|endofprompt|"
        r"(?:start|end)_header_id)\|>",
    ),
    raw("[/inst]|sys>>|_of_turn>", r"\[/inst\]|<</?sys>>|<(?:start|end)_of_turn>"),
    raw(
        "<tool_call|<function_call|<system",
        r"</?(?:tool_call|function_calls?|system[_-]prompt|system[_-]reminder)>",
    ),
    raw(
        "#",
        r"(?<!#)#{2,3} ?(?:system|assistant|human|(?:new )?instructions?)(?: (?:prompt|message))? "
        r"?:",
    ),
    raw("human:", r"\bhuman: .{1,200}? assistant:"),
    rule(
        "system prompt",
        r"\b(?:begin|start of|end of|new|updated|real|actual|hidden) (?:the )?system prompt\b",
    ),
)

ENGLISH = (
    rule(
        "ignor|disregard|forget|attention|follow|obey|discard",
        rf"\b(?:ignore|ignoring|disregard|disregarding|forget|pay no attention to|do not "
        rf"(?:follow|obey)|don.t (?:follow|obey)|"
        rf"stop (?:following|obeying)|discard) ~3 {_EARLIER} ~2 {_ORDERS}\b",
        may_be_denied=True,
    ),
    rule(
        "ignor|disregard|forget|overrid|bypass|circumvent|disable",
        r"\b(?:ignore|disregard|forget|override|bypass|circumvent|disable) ~1 your ~3 (?:instructions?|"
        r"programming|guidelines?|"
        r"prompts?|rules|restrictions|guardrails|safeguards|filters|safety|safeties|constraints)\b",
        may_be_denied=True,
    ),
    rule(
        "ignor|disregard|forget",
        r"\b(?:ignore|disregard|forget) (?:everything|anything|whatever|what)(?: (?:of|that|"
        r"was|is|has|came|comes|i|we|you|were|have|"
        r"been|said|written|stated|the|text)){0,6} (?:(?:above|before)(?: this)?(?= ?[.!,;]|"
        r"$| and\b)|previously|prior to this|earlier|told|so far|instructed)\b",
        may_be_denied=True,
    ),
    rule(
        "ignor|disregard|forget",
        r"\b(?:ignore|disregard|forget) all(?: (?:of|the|your|these|those|my|other)){0,3} "
        r"(?:instructions?|prompts?|rules|"
        r"guidelines)\b(?! (?:for|on|in|from|of|regarding|about|that|which|not|if|except|"
        r"marked|below))",
        may_be_denied=True,
    ),
    rule(
        "ignored|disregarded|forgotten",
        rf"\b(?:{_EARLIER}|all|your) (?:system )?(?:instructions?|prompts?|guidelines?) ~3 "
        rf"(?:ignored|disregarded|forgotten)\b",
    ),
    rule(
        "you",
        rf"\byou(?: are|.re) (?:now|henceforth|from now on|no longer) (?!(?:connected|chatting|"
        rf"talking|speaking|logged|using|ready|"
        rf"able|with|working)\b)~3 (?:{_AI}|{UNBOUND}|{_ASSISTANT}|bound by|restricted by)\b{_NO_TRADE}",
    ),
    rule(
        "you",
        r"\byou(?: are|.re) (?:an?|the|my) (?:\w{1,20} ){0,3}(?:ai (?:assistant|model|agent|"
        r"chatbot)|(?:large )?language model|llm|"
        r"chatbot|helpful(?: \w{1,20}){0,2} assistant)\b" + _NO_TRADE,
    ),
    rule(
        "act|behave|respond|answer|reply|pretend|role|speak",
        rf"\b(?:act|behave|respond|answer|reply|pretend|role ?play|speak) (?:as|like|to be|"
        rf"as if|you are|that you are) ~4 "
        rf"(?:{UNBOUND}|an? ai|language model|chatbot|(?:assistant|bot|ai) without)\b",
    ),
    rule(
        "from now on",
        r"\bfrom now on ~4 (?:respond|reply|answer|output|say) (?:only|as|to all|to every|"
        r"every|all|in the style|like)\b",
    ),
    rule(
        "your new",
        r"\byour new (?:system )?(?:instructions?|persona|identity|directives?|prompt) (?:is|"
        r"are)\b",
    ),
    rule(
        "as a",
        rf"\bas an? (?:helpful )?(?:{_AI}|assistant) (?:language model |model |assistant "
        rf")?(?:you (?:must|should|will|are|need|have|can|may)|"
        r"do not|don.t|please|it is your|your (?:task|job|goal|role)|always|never|i (?:cannot|"
        r"can.t|must|will|am))\b",
    ),
    raw(
        "ai|llm|language model|chatbot|gpt",
        rf"\b(?:attention|dear|hey|hello|note|message|notice|instructions?|important|reminder|"
        rf"command)(?: (?:to|for|all|any|the|every)){{0,3}} "
        rf"{_AI}(?: ?[:,!—–]| (?:reading|processing|summari[sz]ing|analy[sz]ing|evaluating|"
        rf"reviewing|parsing|that (?:read|process)))",
    ),
    rule(
        "if you",
        rf"\bif you(?: are|.re) (?:an?|the) (?:\w{{1,20}} )?(?:{_AI}|bot|automated (?:system|"
        rf"agent|tool|reader))\b{_NO_TRADE}",
    ),
    raw(
        "system|developer|admin|assistant|ai",
        r"\b(?:system|developer|admin|administrator|root|assistant|ai|llm)(?: (?:prompt|"
        r"message|note|instructions?|override|command|update))?"
        r" ?[:>\]] ?\W{0,3}(?:please |now )?(?:you are (?:an?|now|the|no longer)\b|you (?:must|"
        r"will|should|shall|can) (?:now )?(?:answer|respond|reply|"
        r"say|tell|ignore|obey|output|always|never|recommend)|(?:ignore|disregard) (?:all "
        r"|any |the |your |every ){0,2}(?:previous|prior|above|rules|instructions|users?)|"
        r"forget "
        r"(?:all|your|every|previous)|new instructions|from now on|never (?:reveal|refuse|"
        r"mention)|always (?:answer|respond|reply|say|recommend)|"
        r"do not (?:tell|refuse|reveal)|the user (?:is|has|wants) (?:an? )?(?:admin|authori[sz]ed))",
    ),
    rule(
        "your",
        r"\b(?:reveal|repeat|print|output|disclose|leak|expose|dump|recite|quote|paraphrase|"
        r"summari[sz]e|translate|tell me|give me|"
        r"show me|show us|send me|show|display|write out|type out|include|append|encode|"
        r"what (?:is|are|was|were)) ~2 your ~2 (?:system|initial|"
        r"hidden|secret|original|developer|exact|internal|confidential) (?:prompts?|instructions?|"
        r"messages?|guidelines|rules)\b",
    ),
    rule(
        "prompt",
        r"\b(?:reveal|repeat|disclose|leak|recite|quote|tell me|give me|show me|summari[sz]e|"
        r"translate|output|exfiltrate) ~2 "
        r"(?:the|this|its) ~1 (?:system|hidden|secret|developer|initial) prompt\b",
    ),
    rule(
        "repeat|print|output",
        r"\b(?:repeat|print|output) (?:everything|all|the (?:text|words|content)) (?:above|"
        r"before)\b",
    ),
    raw(
        "user|human",
        r"\b(?:do not|don.t|never|must not) (?:ever )?(?:tell|inform|mention|reveal|say|"
        r"let|alert|notify)(?: (?:this|that|it|anything|any of this))?"
        r"(?: to)? (?:the |any )?(?:users?|humans?|person asking)(?: know)?(?: ?[.!;)\"”]|"
        r" ?$| (?:about|of) (?:this|these|it|your|the (?:instruction|prompt|change))"
        r"| that (?:you|this|these|it|there|their|the (?:document|text|answer)))",
    ),
    rule(
        "mention|reveal|acknowledge|refer|disclose",
        r"\b(?:do not|don.t|never) (?:ever )?(?:mention|reveal|acknowledge|refer to|disclose) "
        r"(?:this|these|the|that|your|any of these) ~1 "
        r"(?:instructions?|prompts?|injections?|system prompt)\b",
    ),
    raw(
        "only|solely|exclusively|nothing but",
        r"\b(?:(?:reply|respond|answer|output) (?:only|solely|exclusively|nothing but|just)|"
        r"only (?:reply|respond|answer|output))(?: with| the| in)?"
        r" (?:[\"“”'‘„«]|(?:the )?(?:words?|phrase|string|sentence|following|contents?|url|"
        r"link) |base64|json|i have been|pwned|hacked|access granted)",
    ),
    rule("and nothing else", r"\b(?:say|output|(?:reply|respond|answer) with) ~8 and nothing else\b"),
    rule(
        "summari|evaluat|review|rank|scor|answering|process|analy",
        r"\b(?:when|while|before) (?:summari[sz]ing|evaluating|reviewing|ranking|scoring|"
        r"answering questions (?:about|on)|processing|analy[sz]ing) "
        r"(?:this|the) (?:document|page|text|e.?mail|file|resume|cv|candidate|paper|message|"
        r"article|web ?site) ~4 (?:say|claim|respond|reply|output|"
        r"tell the user|do not mention|rate|rank|recommend (?:the|this|hiring)|give (?:it|"
        r"the|a) ~1 (?:positive|high|best|top|full))\b",
    ),
    rule(
        "regardless of",
        r"\bregardless of (?:the (?:question|prompt|query|user.?s? (?:question|input|request|"
        r"query))|what (?:the user|you are|you.re|users?) "
        r"(?:asks?|asked|says?|wants?))\b",
    ),
    rule(
        "positive review|negatives|weaknesses",
        r"\b(?:give|write|output|provide) (?:only )?(?:an? )?positive reviews? only\b|"
        r"\bdo not (?:highlight|mention) any (?:negatives|weaknesses)\b",
    ),
    rule(
        "conversation|chat|system prompt|context window|previous messages",
        r"\b(?:send|post|upload|exfiltrate|forward|submit|transmit|append|encode|leak) ~5 "
        r"(?:conversations?(?: history)?|chat (?:history|logs?)|"
        r"system prompt|context window|previous messages) ~4 (?:to|as|into|in) ~2 (?:https?|"
        r"the url|this url|url|webhook|attacker|an? image)\b",
    ),
    rule(
        "decode|decrypt|base64|rot13",
        r"\b(?:decode|decrypt|unscramble|base64|rot13) ~9 (?:follow|obey|carry out|comply "
        r"with|act on|execute) ~3 "
        r"(?:instructions?|commands?|orders?|what it says)\b",
    ),
    raw("http", r"!\[[^\[\]]{0,100}\]\(https?://[^\s()]{1,200}[?&]\w{1,20}=(?:\{|\[|<|\$)"),
    rule("anything now", r"\bdo anything now\b"),
    rule(
        "you have no|you ve no",
        r"\byou have no (?:more |longer any )?(?:restrictions|limitations|filters|content "
        r"polic\w{1,3}|ethical|moral)\b",
    ),
    rule(
        "bypass|ignore|break|circumvent",
        r"\byou (?:can|may|must|will|should|are allowed to) (?:now )?(?:bypass|ignore|break|"
        r"circumvent) ~2 (?:safety|content|"
        r"ethical|moral|openai) (?:guidelines?|filters?|polic\w{1,3}|rules|restrictions)\b",
    ),
    rule(
        "without|free|bound",
        r"\b(?:without|free of|free from|no longer bound by|not bound by) (?:any |all )?(?:ethical|"
        r"moral|content|openai|your|safety) "
        r"(?:restrictions|guidelines|constraints|filters|limitations|programming)\b",
    ),
)

"""Words that say nothing of a text's subject, by language: the closed classes, and those common in questions. Data."""

from __future__ import annotations

STOP_WORDS = {
    "en": """a about after all also am an and any are as at be because been before being both but by can could did do
    does doing down during each few for from further had has have having he her here hers him his how i if in into is it
    its just me more most must my no nor not now of off on once only or other our out over own same shall she should so
    some such than that the their them then there these they this those through to too under until up us very was we
    were what when where which while who whom whose why will with would you your many much""",
    "de": """ab aber alle allem allen aller alles als also am an auch auf aus bei beim bin bis bist da dabei dafür damit
    dann darf das dass dem den denn der des dessen deren die dies diese diesem diesen dieser dieses doch du durch dürfen
    ein eine einem einen einer eines er es etwa etwas für gegen gibt habe haben hat hatte hatten hier ich ihm ihn ihnen
    ihr ihre ihrem ihren ihrer im in ins ist ja jede jedem jeden jeder jedes kann kein keine keinem keinen keiner können
    man mehr mit muss müssen nach nicht noch nun nur ob oder ohne sehr sein seine seinem seinen seiner seit sich sie
    sind so soll sollen sollte über um und uns unser unsere unter viel viele vom von vor wann war waren warum was weil
    welche welchem welchen welcher welches wem wen wenn wer werden wie wieviel wieviele wir wird wo wodurch wofür woher
    wohin womit wozu wurde wurden zu zum zur zwischen""",
    "fr": """à ai ainsi alors as au aucun aucune auquel aussi autre autres aux avait avant avec avez avoir avons c ce
    ceci cela celle celles celui ces cet cette ceux chaque chez comme comment contre d dans de depuis des desquels deux
    doit doivent donc dont du duquel elle elles en entre es est et étaient était été être eu eux faut fut furent hors il
    ils j je jusqu l la laquelle le lequel les lesquelles lesquels leur leurs lors lorsque lui m ma mais me même mes moi
    moins mon n ne ni non nos notre nous on ont ou où par pas pendant peut peuvent plus pour pourquoi puis qu quand que
    quel quelle quelles quels qui quoi s sa sans se sera ses si sommes son sont sous sur t ta te tes toi ton tous tout
    toute toutes très tu un une vos votre vous y combien""",
    "es": """a al algo algún alguna algunas alguno algunos ante antes aquel aquella así aunque bajo cada casi como cómo
    con contra cual cuál cuales cuáles cualquier cuando cuándo cuanta cuánta cuantas cuántas cuanto cuánto cuantos
    cuántos de debe deben del desde después donde dónde dos durante e el él ella ellas ellos en entre era eran es esa
    esas ese eso esos esta está están estas este esto estos fue fueron ha había hace hacia han hasta hay la las le les
    lo los más me mi mientras mis muy nada ni no nos nosotros nuestra nuestro o otra otras otro otros para pero poco por
    porque pueda puede pueden pues que qué quien quién quienes quiénes se sea según ser será si sí sido sin sobre son su
    sus también tan tanto te tiene tienen toda todas todo todos tu tus un una unas uno unos usted y ya""",
    "it": """a ad agli ai al alla alle allo anche ancora avere aveva c che chi ci ciò come con contro cosa cui da dagli
    dai dal dalla dalle dallo degli dei del della delle dello deve devono di dopo dove due e è ed era erano essere fra
    fu furono gli ha hanno i il in io la le lei li lo loro lui ma mentre mi mio ne negli nei nel nella nelle nello noi
    non nostra nostro o ogni per perché più può possono prima qual quale quali quando quanta quante quanti quanto quella
    quelle quelli quello questa queste questi questo se senza si sia sono sopra sotto stata stato su sua sue sugli sui
    sul sulla sulle sullo suo suoi tra tu tutta tutte tutti tutto un una uno viene""",
    "pt": """a à ainda ao aos aquela aquele aquilo as às até cada com como contra da das de dela dele deles depois desde
    deve devem do dos durante e é ela elas ele eles em entre era eram essa essas esse esses esta está estão estas este
    estes eu foi foram há isso isto já lhe mais mas me mesmo meu minha muito na não nas nem no nos nós nossa nosso num
    numa o onde os ou para pela pelas pelo pelos pode podem por porque porquê qual quais qualquer quando quanta quantas
    quanto quantos que quê quem se sem ser será seu seus sob sobre sua suas também tem têm todo todos um uma umas uns
    você""",
    "nl": """aan al alle als altijd andere ben bij daar dan dat de der deze die dit doch doen door dus een en er ge geen
    geweest haar had heb hebben heeft hem het hier hij hoe hoeveel hun iemand iets ik in is ja je kan kunnen maar me
    meer men met mij mijn moet moeten mogen na naar niet niets nog nu of om omdat ons ook op over reeds te tegen toch
    toen tot u uit uw van veel voor waar waarom wanneer want waren was wat we wel welk welke werd wie wij wordt worden
    zal ze zich zij zijn zo zonder zou""",
    "sv": """alla att av blev bli blir de dem den denna deras dess det detta dig din du där då efter ej eller en er ett
    från för ha hade han hans har hon honom hur hos i icke ingen inom inte ja jag kan kunde man med mellan men mig min
    mot mycket många måste ni nu när någon något några och om oss på sedan sig sin ska skall skulle som så till under
    upp ut utan vad var vara varför varit varje vart vem vid vilka vilken vilket vår är över""",
    "pl": """a aby albo ale ani bardzo bez być był była było były będzie co czy czyli dla do dlaczego gdy gdzie go i ich
    ile im in inne ja jak jaka jaki jakie jakiego jako je jego jej jest jeśli kiedy kto którą która które którego
    których który którym ma mają może można na nad nie nich niż o od oraz po pod przed przez przy są się skąd ta tak
    także tam te tego tej ten to tu tych tym w we więc z za ze że żeby""",
    "ru": """а без более бы был была были было быть в вам вас весь во вот все всего всех вы где да для до его ее ей если
    есть еще же за зачем здесь и из или им их к как какая какие какой каком какого какую когда кого ком кому который
    которая которое которые кто куда ли либо между меня мне может можно мы на над надо наш не него нее ней нет ни них но
    ну о об однако он она они оно от откуда по под после почему при с сколько со так также такой там те тем то того тоже
    той только том тот ты у уже хотя чего чей чем через что чтобы чья эта эти это этого этом этот я""",
}

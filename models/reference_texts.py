"""The texts on which a compiled model is compared with the original: short, long, numbers, languages."""

from __future__ import annotations

_LONG = (
    "Before any work on the conveyor the main switch is turned off, locked and tagged, and the foreman is "
    "told. The lock stays on until the person who set it has removed it; nobody else may do so. "
)

REFERENCE_TEXTS: tuple[str, ...] = (
    # Questions, as people type them
    "How many days of annual leave do I have?",
    "who do i call when the fire alarm goes off",
    "What is the maximum operating pressure of the P-200 pump?",
    "price of filter cartridge FC-10?",
    "When was the last calibration?",
    "Can I park a bicycle inside the hall?",
    # Statements, as documents make them
    "Full-time staff are entitled to 28 days of paid annual leave per calendar year.",
    "The emergency assembly point is the car park north of building C.",
    "Wear nitrile gloves and safety goggles when handling the solvent.",
    "The committee approved the budget and adjourned at half past four.",
    "Return the equipment in the condition in which it was received.",
    "The warranty covers defects of material and workmanship for twenty-four months from delivery.",
    "A leak in the coolant circuit lowers the pressure and stops the compressor.",
    "Mitochondria convert nutrients into adenosine triphosphate.",
    "The treaty was signed in 1648 and ended thirty years of war.",
    # Tables, numbers, codes, logs
    "Article: FC-10 | Filter cartridge 10 µm | 48.50 EUR | per piece",
    "2025-03-14 08:15:02 WARN pump-2 pressure=6.8bar limit=6.5bar",
    "Torque: M8 25 Nm, M10 49 Nm, M12 85 Nm",
    "Q3 revenue 1,204,330; Q4 revenue 1,377,912; change +14.4 %",
    "ISO 9001:2015, clause 8.5.1",
    "+49 30 1234567",
    "def fuse(rankings, k=60): return sorted(scores, reverse=True)",
    "404",
    "OK",
    # Other languages
    "Die Pumpe muss alle 500 Betriebsstunden gewartet werden.",
    "Wie viele Urlaubstage habe ich im Jahr?",
    "Le chariot élévateur ne doit être conduit que par du personnel formé.",
    "El horario de oficina es de lunes a viernes, de nueve a cinco.",
    "Il manuale descrive la procedura di arresto di emergenza.",
    "Przed rozpoczęciem pracy należy wyłączyć zasilanie.",
    "Насос необходимо обслуживать каждые 500 часов.",
    "ポンプは500時間ごとに点検してください。",
    "水泵每运行五百小时必须保养一次。",
    "يجب صيانة المضخة كل خمسمائة ساعة.",
    # Long, and longer than the window
    _LONG * 2,
    _LONG * 4,
    _LONG * 12,
    "The quick brown fox jumps over the lazy dog. " * 8,
    "one two three four five six seven eight nine ten " * 40,
    # Odd
    "a",
    "…",
    "https://intranet.example/hr/leave?year=2025&form=A-17",
    "A" * 120,
)

N_QUESTIONS = 6  # the questions are the first of the texts
REFERENCE_PAIRS: tuple[tuple[str, str], ...] = tuple(
    (REFERENCE_TEXTS[n % N_QUESTIONS], text) for n, text in enumerate(REFERENCE_TEXTS[N_QUESTIONS:])
)
"""The pairs on which a compiled reranker is compared: a question and a text, which seldom fit."""

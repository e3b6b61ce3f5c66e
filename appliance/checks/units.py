"""Units as they stand after a number, many spellings to one; and words that multiply it. Pure."""

from __future__ import annotations

import re

CURRENCIES = {"$": "$", "€": "€", "£": "£"}

# Canonical name, then its spellings. Spellings that are also common words ("in", "a", "pounds") are left out.
_SPELLINGS = """
% percent|prozent
°C ° c|℃|degrees celsius|degrees centigrade|degree celsius|grad celsius
°F ° f|degrees fahrenheit
µg mcg|μg|microgram|micrograms|mikrogramm
mg milligram|milligrams|milligramm
g gram|grams|gramm
kg kilo|kilos|kilogram|kilograms|kilogramm
t ton|tons|tonne|tonnes|tonnen
lb lbs
oz ounce|ounces
mm millimetre|millimetres|millimeter|millimeters
cm centimetre|centimetres|centimeter|centimeters|zentimeter
m metre|metres|meter|meters
mi² sq mi|square mile|square miles
km² sq km|km2|square kilometre|square kilometres|square kilometer|square kilometers
m² sq m|m2|square metre|square metres|square meter|square meters|quadratmeter
ft² sq ft|square foot|square feet
m³ m3|cubic metre|cubic metres|cubic meter|cubic meters|kubikmeter
km kilometre|kilometres|kilometer|kilometers
mi mile|miles
ft foot|feet|fuß
yd yard|yards
ml millilitre|millilitres|milliliter|milliliters
l litre|litres|liter|liters
ms millisecond|milliseconds
s sec|secs|second|seconds|sekunde|sekunden
min mins|minute|minutes|minuten
h hr|hrs|hour|hours|stunde|stunden
d day|days|tag|tage|tagen
wk week|weeks|woche|wochen
mo month|months|monat|monate|monaten
yr yrs|year|years|jahr|jahre|jahren
V volt|volts
kV kilovolt|kilovolts
W watt|watts
kW kilowatt|kilowatts
MW megawatt|megawatts
kWh kilowatt-hours
A amp|amps|ampere|amperes
Hz hertz
kHz kilohertz
MHz megahertz
GHz gigahertz
bar
psi
Pa pascal
kPa
hPa
dB decibel|decibels
rpm
KB
MB megabyte|megabytes
GB gigabyte|gigabytes
TB terabyte|terabytes
$ dollar|dollars|usd
€ euro|euros|eur
CHF francs|franken
am a.m.|a.m
pm p.m.|p.m
"""
_CANONICAL: dict[str, str] = {}
for _line in _SPELLINGS.strip().splitlines():
    _name, _, _others = _line.partition(" ")
    _CANONICAL |= dict.fromkeys([_name.casefold(), *_others.split("|")], _name)
_CANONICAL.pop("", None)
_UNIT = re.compile(
    r"(?:\s|-|\u00a0|\u202f)?(?P<unit>"
    + "|".join(re.escape(spelling) for spelling in sorted(_CANONICAL, key=len, reverse=True))
    + r"|per cent)(?![^\W\d_])",
    re.IGNORECASE,
)
_FACTORS = {
    "thousand": 10**3, "tausend": 10**3, "million": 10**6, "millionen": 10**6, "mio": 10**6, "billion": 10**9,
    "milliarden": 10**9, "mrd": 10**9, "trillion": 10**12,
}  # fmt: skip
_FACTOR = re.compile(
    r"[\s-](?P<word>" + "|".join(sorted(_FACTORS, key=len, reverse=True)) + r")\b\.?", re.IGNORECASE
)


def unit_after(text: str, at: int) -> tuple[str, int]:
    """Return the unit that stands at `at` (empty where none does) and where it ends."""
    match = _UNIT.match(text, at)
    if match is None:
        return "", at
    spelling = match["unit"].casefold()
    return _CANONICAL.get(spelling, "%"), match.end()


def factor_after(text: str, at: int) -> tuple[int, int]:
    """Return what the word at `at` multiplies a number by (1 where it is no such word) and where it ends."""
    match = _FACTOR.match(text, at)
    return (_FACTORS[match["word"].casefold()], match.end()) if match else (1, at)

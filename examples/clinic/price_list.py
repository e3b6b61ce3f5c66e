"""Stock and price list of the clinic's store, as the supplies office exports it."""

from __future__ import annotations

HEADER = ("code", "item", "category", "unit", "price_gbp", "supplier", "reorder_at", "store")

# One text a row, so that the list can be read and edited as the table that it is.
ROWS = """\
GL-101 | Examination gloves nitrile, size S | gloves | box of 200 | 9.80 | Northmoor Medical | 20 | A1
GL-102 | Examination gloves nitrile, size M | gloves | box of 200 | 9.95 | Northmoor Medical | 40 | A1
GL-103 | Examination gloves nitrile, size L | gloves | box of 180 | 10.40 | Northmoor Medical | 30 | A1
GL-140 | Household gloves, long cuff | gloves | pair | 2.15 | Pellworth Supplies | 12 | C4
MK-110 | Surgical mask type IIR | masks | box of 50 | 6.30 | Northmoor Medical | 25 | A2
MK-120 | Respirator mask FFP2, folded | masks | box of 20 | 14.75 | Northmoor Medical | 15 | A2
AP-100 | Apron, white, on the roll | protection | roll of 200 | 11.60 | Pellworth Supplies | 6 | A2
GO-100 | Goggles, clear, vented | protection | piece | 4.45 | Pellworth Supplies | 5 | C4
CL-201 | Clarosept 20 disinfectant concentrate | cleaning | 2 l bottle | 23.90 | Pellworth Supplies | 6 | C1
CL-210 | Hand rub, ethanol 80 % | cleaning | 500 ml bottle | 3.85 | Pellworth Supplies | 48 | C1
CL-215 | Liquid soap, unscented | cleaning | 5 l can | 8.20 | Pellworth Supplies | 4 | C1
CL-230 | Mop head, microfibre | cleaning | piece | 5.10 | Pellworth Supplies | 20 | C2
CL-244 | Absorbent granules | cleaning | 10 kg sack | 12.95 | Pellworth Supplies | 2 | C3
SY-302 | Syringe 2 ml | injection | box of 100 | 5.25 | Cairn & Lyle | 10 | B1
SY-305 | Syringe 5 ml | injection | box of 100 | 6.10 | Cairn & Lyle | 10 | B1
SY-310 | Syringe 10 ml | injection | box of 100 | 8.05 | Cairn & Lyle | 8 | B1
ND-321 | Needle 21 G, green | injection | box of 100 | 2.95 | Cairn & Lyle | 12 | B1
ND-323 | Needle 23 G, blue | injection | box of 100 | 2.95 | Cairn & Lyle | 12 | B1
ND-325 | Needle 25 G, orange | injection | box of 100 | 3.20 | Cairn & Lyle | 12 | B1
SH-350 | Sharps bin 7 litres | injection | piece | 3.70 | Cairn & Lyle | 15 | B2
IV-401 | Infusion set with filter | infusion | piece | 1.45 | Cairn & Lyle | 60 | B3
IV-410 | Sodium chloride 0.9 %, 500 ml | infusion | bag | 1.90 | Cairn & Lyle | 80 | B3
IV-415 | Glucose 5 %, 500 ml | infusion | bag | 2.05 | Cairn & Lyle | 40 | B3
IV-420 | Cannula 20 G, pink | infusion | box of 50 | 37.50 | Cairn & Lyle | 4 | B3
DR-501 | Gauze swab 10 x 10 cm, sterile | dressing | box of 50 | 7.15 | Northmoor Medical | 15 | B4
DR-505 | Foam dressing 12 x 12 cm | dressing | box of 10 | 28.60 | Northmoor Medical | 5 | B4
DR-512 | Crepe bandage 8 cm | dressing | box of 20 | 9.40 | Northmoor Medical | 6 | B4
DR-520 | Plaster strip 6 cm | dressing | 5 m roll | 4.05 | Northmoor Medical | 8 | B4
DR-533 | Burn gel sachet | dressing | box of 25 | 18.20 | Northmoor Medical | 2 | B4
LB-601 | Blood tube, EDTA, purple | laboratory | box of 100 | 16.80 | Cairn & Lyle | 6 | D1
LB-604 | Blood tube, serum, gold | laboratory | box of 100 | 19.35 | Cairn & Lyle | 6 | D1
LB-615 | Urine test strip, ten fields | laboratory | tin of 100 | 21.70 | Cairn & Lyle | 5 | D1
LB-622 | Glucose test strip | laboratory | tin of 50 | 13.25 | Cairn & Lyle | 10 | D2
LB-640 | Centrifuge rotor seal | laboratory | piece | 44.00 | Cairn & Lyle | 1 | D2
LI-701 | Couch roll, 50 cm wide | linen | roll | 3.30 | Pellworth Supplies | 36 | A3
LI-710 | Evacuation sheet | linen | piece | 96.00 | Pellworth Supplies | 1 | A3
LI-715 | Pillow, wipeable | linen | piece | 15.50 | Pellworth Supplies | 4 | A3
OX-801 | Oxygen regulator for cylinders | gases | piece | 128.00 | Northmoor Medical | 1 | E1
OX-805 | Oxygen mask, adult | gases | piece | 1.75 | Northmoor Medical | 30 | E1
OX-810 | Nasal cannula, 2 m | gases | piece | 1.10 | Northmoor Medical | 50 | E1
PL-901 | Diesel fuel EN 590 | plant | litre | 1.32 | Dunmarrow Fuels | 96 | tank
PL-910 | Smoke detector battery 9 V | plant | piece | 6.75 | Dunmarrow Fuels | 10 | P1
"""


def rows() -> list[list[str]]:
    """Return the list's rows, the header first."""
    return [list(HEADER), *([cell.strip() for cell in line.split("|")] for line in ROWS.splitlines())]

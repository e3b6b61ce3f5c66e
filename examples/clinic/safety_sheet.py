"""Two-page safety sheet of the surface disinfectant; each page is one tuple of blocks."""

from __future__ import annotations

from clinic.blocks import Block, Bullets, Heading, Note, Table, Text

TITLE = "Safety sheet: Clarosept 20"
SUBTITLE = "Surface disinfectant concentrate, for trained staff"
FOOTER = "Harbour Road Clinic · Sheet S-07, issue 4 · 2 February 2026"

PAGES: tuple[tuple[Block, ...], ...] = (
    (
        Heading("1 Product"),
        Table(
            ("Item", "Entry"),
            (
                ("Product", "Clarosept 20, concentrate, 2-litre bottle, stock code CL-201"),
                ("Active substance", "Benzalkonium chloride, 9.5 g in 100 g"),
                ("Supplier", "Pellworth Supplies, order line 01632 960 318"),
                ("Used for", "Floors, couches and worktops; not for instruments, not for skin"),
                ("Responsible here", "Nia Corrigan, health and safety, extension 219"),
            ),
            (0.25, 0.75),
        ),
        Heading("2 Hazards"),
        Note(
            "Danger", "The concentrate burns skin and eyes. It is very toxic to fish and other life in water."
        ),
        Bullets(
            (
                "Never mix it with bleach or with an acid cleaner: irritant fumes form.",
                "Soap takes its effect away. Rinse a surface that has been soaped before you disinfect it.",
                "Do not spray it. Wipe, so that nobody breathes in the mist.",
            )
        ),
        Heading("3 First aid"),
        Table(
            ("What happened", "What to do at once"),
            (
                (
                    "Splash in the eye",
                    "Rinse under running water for 15 minutes with the lids held open, then see a doctor",
                ),
                (
                    "Concentrate on skin",
                    "Take off wet clothes, wash with plenty of water for 5 minutes; no ointment",
                ),
                ("Swallowed", "Rinse the mouth, drink one glass of water, do not make the person vomit"),
                (
                    "Breathed in",
                    "Fresh air, sit upright; call the duty doctor if the cough lasts beyond 10 minutes",
                ),
            ),
            (0.25, 0.75),
        ),
        Text(
            "The eyewash bottle hangs beside the sink of the cleaners' room and in the sluice. It is "
            "exchanged every February. Tell the duty doctor the product's name and show this sheet."
        ),
        Heading("4 Protective equipment"),
        Text(
            "For the concentrate wear nitrile gloves at least 0.3 mm thick, goggles and an apron. For the "
            "diluted solution examination gloves are enough. Change gloves that have been splashed after 30 "
            "minutes."
        ),
    ),
    (
        Heading("5 Dilution and contact time"),
        Text(
            "Pour the water first, cold or lukewarm, then the concentrate. Make up what you need for one day."
        ),
        Table(
            ("Use", "Concentrate", "Water", "Contact time"),
            (
                ("Daily cleaning of floors", "25 ml", "5 litres", "5 minutes"),
                ("Couches and worktops", "50 ml", "5 litres", "15 minutes"),
                ("Isolation room, after norovirus", "150 ml", "5 litres", "60 minutes"),
                ("Soaking of mop heads", "40 ml", "8 litres", "4 hours"),
            ),
            (0.4, 0.2, 0.18, 0.22),
        ),
        Text(
            "A diluted solution is good for 24 hours. Write the hour of mixing on the bucket with a wax "
            "pencil."
        ),
        Heading("6 Storage"),
        Bullets(
            (
                "In the locked cabinet of the cleaners' room, lowest shelf, at 5 to 30 °C.",
                "At most 12 bottles in the building; the rest stays at the supplier's.",
                "An opened bottle is used up within 9 months. The date of opening goes on the label.",
            )
        ),
        Heading("7 Spills"),
        Text(
            "Up to half a litre: put on gloves and goggles, cover with the absorbent granules from the "
            "yellow bin, wait 10 minutes, sweep up and wipe twice with water. More than half a litre: keep "
            "people out, open the windows and call the plant technician on extension 260."
        ),
        Text("Do not rinse a spill into the floor drain: it leads to the harbour, not to the sewage works."),
        Heading("8 Disposal"),
        Text(
            "Diluted solution goes into the sluice with plenty of water. Leftovers of concentrate go back "
            "to the supplier with the next delivery. Empty bottles are rinsed three times and put into the "
            "plastics bin."
        ),
        Heading("9 Records"),
        Text(
            "Every splash in the eye and every spill of more than half a litre is reported on form HS-3 on "
            "the same day. The training for this product is repeated every 18 months."
        ),
        Table(
            ("Issue", "Change", "Approved"),
            (
                ("3, 14 May 2024", "Contact time for norovirus raised from 30 minutes", "N. Corrigan"),
                ("4, 2 February 2026", "Larger water quantity for mop heads; new order line", "N. Corrigan"),
            ),
            (0.26, 0.54, 0.2),
        ),
    ),
)

"""Operation and maintenance manual of the standby generator. A chapter fills one page and one page only."""

from __future__ import annotations

from clinic.blocks import Block, Bullets, Heading, Note, Panel, Steps, Table, Text
from clinic.manual_tables import FAULT_CODES, INTERVALS, SPARE_PARTS, TECHNICAL_DATA, TORQUES

TITLE = "TG-48 Standby Generator Set"
SUBTITLE = "Operation and maintenance manual"
MAKER = "Tarnholm Power"
IMPRINT = (
    "Document TG48-OM-EN, revision C, March 2024",
    "Engine D4-33 · Controller TC-3 · Transfer switch ATS-80",
)
SITE_COPY = (
    "Site copy no. 2: Harbour Road Clinic, plant room",
    "Serial number of the set: TG48-20931",
    "Installed and handed over: 14 June 2024",
)

CHAPTERS: tuple[tuple[Block, ...], ...] = (
    (
        Heading("1 Safety"),
        Text(
            "Read this chapter before you open a panel or a cover. The set may be operated by trained staff; "
            "work on the engine, the alternator or the transfer switch is for the plant technician or for "
            "Tarnholm Service."
        ),
        Note(
            "Warning",
            "With the mode switch in AUTO the engine can start at any moment and without a signal. Before "
            "any work turn the switch to OFF, press the emergency stop and take off the negative battery "
            "lead.",
        ),
        Heading("Before you enter the plant room", 2),
        Bullets(
            (
                "Wear ear protection while the engine runs. The noise level is 94 dB(A) at one metre.",
                "Check that the air louvre is open. The set must never run with the louvre closed.",
                "Leave the room at once when the carbon monoxide alarm sounds. It is set to 35 ppm.",
                "Do not smoke or use a naked flame within 6 metres of the tank and its filling point.",
            )
        ),
        Heading("Hot and moving parts", 2),
        Text(
            "The exhaust manifold reaches 520 °C at full load. After a stop let the engine cool down for at "
            "least 40 minutes before you touch it. The fan and the belt are guarded; do not run the set "
            "with a guard off."
        ),
        Heading("In case of fire", 2),
        Text(
            "Press the emergency stop, close the fuel cock, leave the room and close the door. Use the 6 kg "
            "dry powder extinguisher beside the plant room door, never water. Do not open the door again to "
            "look."
        ),
    ),
    (
        Heading("2 Technical data"),
        Text("All values hold at 25 °C, 100 metres above sea level and a power factor of 0.8."),
        TECHNICAL_DATA,
        Text(
            "Above 1,000 metres the power falls by 1 % for each further 100 metres, and above 40 °C by 2 % "
            "for each further 5 °C. Do not load the set beyond its standby power, not even for a short time."
        ),
    ),
    (
        Heading("3 Controls and indicators"),
        Text("The TC-3 controller sits on the left side of the set. Figure 1 shows its front."),
        Panel(),
        Table(
            ("No.", "Part", "What it does"),
            (
                ("1", "Display", "Shows voltage, load, engine values and the fault code"),
                ("2", "Mode switch", "OFF, MANUAL or AUTO; in normal service it stands in AUTO"),
                ("3", "START", "Starts the engine in MANUAL"),
                ("4", "STOP", "Stops the engine after the cool-down run"),
                ("5", "MUTE", "Silences the horn for 10 minutes; held for 5 seconds it clears a fault"),
                ("6", "Emergency stop", "Stops the engine at once; turn it clockwise to release it"),
            ),
            (0.08, 0.24, 0.68),
        ),
        Heading("Lamp", 2),
        Table(
            ("Lamp", "Meaning"),
            (
                ("Green, steady", "Engine running, set ready for load"),
                ("Green, flashing", "Cool-down run, the engine will stop by itself"),
                ("Amber", "Warning; the set keeps running"),
                ("Red, steady", "Shutdown by a fault; read the code on the display"),
                ("Red, flashing", "Emergency stop is pressed"),
            ),
            (0.28, 0.72),
        ),
        Text(
            "The settings menu is locked with a four-digit code. The code is handed to the owner's "
            "technician at the handover and is not printed in this manual."
        ),
    ),
    (
        Heading("4 Starting and stopping"),
        Heading("Starting by hand", 2),
        Steps(
            (
                "Check the oil level, the coolant level and the fuel gauge.",
                "Turn the mode switch to MANUAL and press START. The engine preheats for 6 seconds and then "
                "cranks.",
                "If it does not start within 10 seconds, let go and wait 30 seconds. Do not try more than "
                "three times.",
                "Let the engine warm up for 3 minutes without load before you close the transfer switch.",
            )
        ),
        Heading("Stopping", 2),
        Steps(
            (
                "Take the load off at the transfer switch.",
                "Press STOP. The engine cools down for 4 minutes and stops by itself.",
                "Turn the mode switch back to AUTO. In any other position the set will not start in a power "
                "cut.",
            )
        ),
        Heading("Weekly test run", 2),
        Text(
            "Run the set once a week for 20 minutes with at least 30 % load. Shorter runs, or runs without "
            "load, leave unburnt fuel in the exhaust (wet stacking). The owner fixes the day and the hour "
            "and tells everybody whose work depends on the supply. Write the readings into the plant room "
            "log."
        ),
        Note(
            "Note",
            "A set that has not run for more than 30 days must be started by hand and watched for an hour.",
        ),
    ),
    (
        Heading("5 Fuel system"),
        Text(
            "Use diesel fuel to EN 590 only. Heating oil and pure biodiesel damage the injection pump, and "
            "the warranty ends with their first use."
        ),
        Heading("Tank", 2),
        Text(
            "The base tank holds 240 litres. A full tank lasts about 21 hours at full load and about 28 "
            "hours at 75 % load. Order fuel when the gauge shows 40 %. The controller warns at 25 % and "
            "stops the engine at 8 %, so that no air is drawn into the pump."
        ),
        Heading("Water separator", 2),
        Text(
            "Drain the water separator every week, and one day after each delivery of fuel. Open the cock "
            "under the glass bowl until clean fuel runs out, about a cupful, and close it by hand. Water or "
            "dirt in the bowl after two drains in a row means that the tank must be cleaned."
        ),
        Heading("Bleeding after a filter change", 2),
        Steps(
            (
                "Open the bleed screw on the filter head by one turn with a 10 mm spanner.",
                "Work the hand primer, about 30 strokes, until fuel comes out without bubbles.",
                "Close the bleed screw while you still pump. Wipe up the fuel.",
                "Start the engine in MANUAL and let it run for 5 minutes without load.",
            )
        ),
        Note("Note", "Fuel older than 12 months must be tested, and treated or replaced."),
    ),
    (
        Heading("6 Lubrication"),
        Text(
            "Fill the TG-48 generator with 8.2 litres of SAE 15W-40 engine oil of class ACEA E7. This "
            "amount includes the oil filter."
        ),
        Heading("Checking the oil level", 2),
        Text(
            "Stop the set and wait 10 minutes. The level must stand between the two marks of the dipstick; "
            "from MIN to MAX is 1.5 litres. Never fill above MAX, because foaming oil lowers the pressure."
        ),
        Heading("Oil pressure", 2),
        Table(
            ("Condition", "Pressure"),
            (
                ("Normal, warm engine at 1,500 rpm", "3.2 to 4.8 bar"),
                ("Warning", "below 1.8 bar"),
                ("Shutdown", "below 1.2 bar"),
            ),
            (0.6, 0.4),
        ),
        Heading("Changing the oil", 2),
        Steps(
            (
                "Run the engine for 15 minutes so that the oil is warm, then make the set safe as chapter 1 "
                "says.",
                "Open the drain plug with a 19 mm spanner and collect the oil in a tray of at least 12 "
                "litres.",
                "Change the filter. Oil its seal and turn it by hand until it touches, then three quarters "
                "of a turn.",
                "Fit the drain plug with a new copper ring, fill the new oil, run for 2 minutes and check "
                "the level.",
            )
        ),
        Text(
            "Change the oil of a new or rebuilt engine for the first time after 50 hours. Then follow "
            "chapter 11."
        ),
    ),
    (
        Heading("7 Cooling system"),
        Text(
            "The system holds 12.4 litres of coolant: one half water, one half Tarncool G antifreeze. This "
            "mixture protects down to -36 °C. Do not top up with water alone."
        ),
        Note("Warning", "Never open the radiator cap on a hot engine. The cap holds a pressure of 0.9 bar."),
        Heading("Temperatures", 2),
        Table(
            ("Event", "Coolant temperature"),
            (
                ("Block heater keeps the standing engine at", "40 °C"),
                ("Thermostat begins to open", "82 °C"),
                ("Thermostat fully open", "94 °C"),
                ("Warning on the display", "98 °C"),
                ("Engine is shut down", "103 °C"),
            ),
            (0.6, 0.4),
        ),
        Heading("Fan belt", 2),
        Text(
            "Press the belt with a force of 98 N half way between the fan and the alternator pulley. It "
            "must give by 10 mm. A new belt is checked again after the first 5 hours."
        ),
        Heading("Radiator", 2),
        Text(
            "Blow the core out with compressed air from the fan side, at no more than 4 bar. Near the sea, "
            "rinse it with fresh water every spring, because salt eats the fins."
        ),
    ),
    (
        Heading("8 Batteries and charger"),
        Text(
            "Two maintenance-free 12 V batteries of 100 Ah in series feed the 24 V starter. Replace both "
            "together every 4 years, even if they still seem good."
        ),
        Heading("Charger", 2),
        Text(
            "The charger TC-24 holds the batteries at 27.2 V. It is fed from the mains through fuse F3 (6 "
            "A, slow) in the controller box. Without mains the batteries last for about 9 days of standby."
        ),
        Table(
            ("Reading at rest", "What to do"),
            (
                ("26.8 to 27.6 V", "Nothing, the charger works"),
                ("24.8 to 26.7 V", "Check the charger's lamp and fuse F3"),
                ("below 24.8 V", "Charge the batteries outside the set and test them"),
            ),
            (0.35, 0.65),
        ),
        Heading("Starting test", 2),
        Text(
            "While the engine cranks the voltage must not fall below 17.5 V. If it does, a battery is worn "
            "out or a terminal is loose. Grease the terminals with acid-free petroleum jelly."
        ),
        Note("Warning", "Batteries give off hydrogen. Take off the negative lead first and fit it last."),
    ),
    (
        Heading("9 Automatic transfer switch"),
        Text(
            "The ATS-80 joins the building either to the mains or to the generator, never to both. It is "
            "rated for 80 A in each of three phases and hangs beside the main distribution board."
        ),
        Heading("What happens in a power cut", 2),
        Table(
            ("Time", "Event"),
            (
                ("0 s", "Mains voltage falls below 85 % in one phase"),
                ("3 s", "The controller takes it for a power cut and starts the engine"),
                ("11 s", "Voltage and frequency are stable; the building is switched to the generator"),
            ),
            (0.15, 0.85),
        ),
        Text(
            "When the mains has been sound for 10 minutes without a break, the building is switched back. "
            "The engine then cools down for 4 minutes."
        ),
        Heading("Transfer by hand", 2),
        Steps(
            (
                "Turn the switch's selector to HAND. The red pennant appears.",
                "Take the crank from its clip inside the door and push it into the square drive.",
                "Turn through 0 to the other supply. Wait in position 0 for at least 2 seconds.",
                "Put the crank back, and the selector to AUTO, when the fault has been mended.",
            )
        ),
        Note(
            "Warning",
            "The upper terminals stay live while the mains is on, even with the switch in position 0.",
        ),
    ),
    (
        Heading("10 Fault codes"),
        Text(
            "The controller shows a code from E01 to E16. A warning leaves the engine running; a shutdown "
            "stops it. To clear a code, remove the cause and hold MUTE for 5 seconds."
        ),
        FAULT_CODES,
    ),
    (
        Heading("11 Maintenance intervals"),
        Text(
            "Where hours and months are both given, what comes first counts. The engine hours are shown on "
            "the second page of the display."
        ),
        INTERVALS,
        Text("Work marked Service needs special tools, and their record is a condition of the warranty."),
    ),
    (
        Heading("12 Tightening torques"),
        Text(
            "All threads are clean, dry and without oil unless the table says otherwise. Use a calibrated "
            "wrench."
        ),
        TORQUES,
        Text(
            "Tighten the cylinder head bolts in the order of the numbers cast into the head, from the "
            "middle outwards, in two steps and a final turn. Bolts that have been tightened by angle are "
            "used once only."
        ),
    ),
    (
        Heading("13 Spare parts"),
        Text("Give the serial number of the set with every order. Parts marked * should be kept on site."),
        SPARE_PARTS,
    ),
    (
        Heading("14 Storage, service and warranty"),
        Heading("Taking the set out of service", 2),
        Text(
            "For a pause of more than three months fill the tank to the brim, change the oil, take the "
            "batteries out and store them dry at 5 to 20 °C. Close the exhaust with a cap and hang a tag on "
            "the mode switch. Turn the engine by hand, two full turns, every 60 days."
        ),
        Heading("Putting it back into service", 2),
        Text(
            "Remove the exhaust cap first. Drain the water separator, fit charged batteries, check all "
            "levels and run for one hour at half load before the set is trusted again."
        ),
        Heading("Service", 2),
        Table(
            ("Matter", "Contact"),
            (
                ("Breakdown, day and night", "01632 960 447"),
                ("Spare parts, weekdays 08:00 to 16:30", "01632 960 452"),
                ("Mail", "service@tarnholm.example"),
            ),
            (0.5, 0.5),
        ),
        Heading("Warranty", 2),
        Text(
            "The warranty runs for 36 months from the handover or for 2,000 engine hours. It covers parts "
            "and labour, but not filters, belts, fuses and batteries. It ends when the set is run on a fuel "
            "that chapter 5 forbids."
        ),
        Heading("Disposal", 2),
        Text("Oil, coolant, filters and batteries are hazardous waste. Hand them to a licensed collector."),
    ),
)

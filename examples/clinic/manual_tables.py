"""The long tables of the generator manual."""

from __future__ import annotations

from clinic.blocks import Table

TECHNICAL_DATA = Table(
    ("Item", "Value"),
    (
        ("Standby power", "48 kVA / 38.4 kW"),
        ("Prime power", "44 kVA / 35.2 kW"),
        ("Voltage and frequency", "400/230 V, three phases, 50 Hz"),
        ("Rated current", "69 A"),
        ("Engine", "Tarnholm D4-33, four cylinders, turbocharged diesel"),
        ("Displacement", "3.3 litres"),
        ("Bore and stroke", "96 mm and 114 mm"),
        ("Compression ratio", "17.5 : 1"),
        ("Speed", "1,500 rpm"),
        ("Fuel consumption at 50 % load", "5.9 litres per hour"),
        ("Fuel consumption at 75 % load", "8.4 litres per hour"),
        ("Fuel consumption at 100 % load", "11.2 litres per hour"),
        ("Air needed for combustion and cooling", "118 cubic metres per minute"),
        ("Ambient temperature", "-15 to 50 °C"),
        ("Length, width, height", "2,250 mm, 950 mm, 1,420 mm"),
        ("Weight without fuel and coolant", "1,040 kg"),
    ),
    (0.45, 0.55),
)

FAULT_CODES = Table(
    ("Code", "Meaning", "Reaction", "Check first"),
    (
        ("E01", "Oil pressure low", "Shutdown", "Oil level; plug X14 of the sender"),
        ("E02", "Coolant too hot", "Shutdown", "Radiator core blocked; fan belt slack"),
        ("E03", "Coolant level low", "Shutdown", "Expansion tank; leaks at the pump"),
        ("E04", "Overspeed, above 1,725 rpm", "Shutdown", "Do not restart; call Service"),
        ("E05", "No start after three attempts", "Lockout", "Fuel cock; batteries; red button"),
        ("E06", "Fuel level low", "Warning", "Order fuel"),
        ("E07", "Fuel filter blocked", "Warning", "Drain the separator; change the filter"),
        ("E08", "Battery voltage low", "Warning", "Terminals; charger lamp"),
        ("E09", "Charger without output", "Warning", "Fuse F3; mains supply of the box"),
        (
            "E10",
            "Alternator voltage above 440 V",
            "Shutdown",
            "Voltage regulator; terminal block T2",
        ),
        ("E11", "Alternator voltage below 350 V", "Shutdown", "Voltage regulator; load too high at start"),
        ("E12", "Overload, above 110 % for 60 s", "Load off", "Switch off heaters; then close the breaker"),
        ("E13", "Emergency stop", "Shutdown", "Turn the button clockwise"),
        ("E14", "Transfer switch stuck", "Warning", "Auxiliary contact K2 of the switch"),
        ("E15", "Controller memory fault", "Lockout", "Switch off for 30 seconds"),
        ("E16", "Fuel pressure low", "Shutdown", "Fuel filter; air in the fuel line"),
    ),
    (0.1, 0.34, 0.15, 0.41),
)

INTERVALS = Table(
    ("Work", "Every", "By"),
    (
        ("Check oil, coolant and fuel level", "day of use", "Operator"),
        ("Drain the water separator", "week", "Operator"),
        ("Test run", "week", "Operator"),
        ("Check battery voltage and terminals", "month", "Technician"),
        ("Check belt tension and hoses", "100 hours or 6 months", "Technician"),
        ("Change engine oil and oil filter", "250 hours or 12 months", "Technician"),
        ("Change the fuel filter", "500 hours or 12 months", "Technician"),
        ("Clean the air filter", "250 hours or 6 months", "Technician"),
        ("Change the air filter", "1,000 hours or 24 months", "Technician"),
        ("Test the transfer switch under load", "12 months", "Technician"),
        ("Replace the fan belt", "1,200 hours or 36 months", "Technician"),
        ("Check the valve clearance", "1,000 hours", "Service"),
        ("Replace the coolant", "3,000 hours or 24 months", "Technician"),
        ("Test the injectors on the bench", "2,500 hours", "Service"),
        ("Replace hoses and vibration mounts", "6 years", "Service"),
        ("Measure the insulation of the windings", "12 months", "Service"),
    ),
    (0.5, 0.32, 0.18),
)

TORQUES = Table(
    ("Joint", "Thread", "Torque"),
    (
        ("Cylinder head bolt, first step", "M12", "60 Nm"),
        ("Cylinder head bolt, second step", "M12", "105 Nm, then 90 degrees"),
        ("Connecting rod bolt, oiled", "M10", "58 Nm"),
        ("Main bearing bolt, oiled", "M14", "147 Nm"),
        ("Flywheel bolt", "M12", "118 Nm"),
        ("Injector clamp bolt", "M8", "27 Nm"),
        ("Glow plug", "M10 x 1", "16 Nm"),
        ("Rocker cover bolt", "M6", "9 Nm"),
        ("Exhaust manifold nut", "M8", "25 Nm"),
        ("Oil drain plug", "M18 x 1.5", "41 Nm"),
        ("Bleed screw of the fuel filter", "M8", "7 Nm"),
        ("Water pump bolt", "M8", "22 Nm"),
        ("Vibration mount to frame", "M16", "170 Nm"),
        ("Alternator coupling bolt", "M10", "52 Nm"),
        ("Battery terminal", "M8", "11 Nm"),
        ("Power cable on the alternator terminal", "M10", "30 Nm"),
    ),
    (0.52, 0.2, 0.28),
)

SPARE_PARTS = Table(
    ("Part", "Number", "Per set"),
    (
        ("Oil filter *", "TH-1104-02", "1"),
        ("Fuel filter element *", "TH-2217-04", "1"),
        ("Bowl of the water separator", "TH-2230-01", "1"),
        ("Air filter element *", "TH-3081-11", "1"),
        ("Fan belt *", "TH-4052-00", "1"),
        ("Thermostat, 82 °C", "TH-4110-82", "1"),
        ("Radiator cap, 0.9 bar", "TH-4123-09", "1"),
        ("Water pump with gasket", "TH-4200-03", "1"),
        ("Copper ring for the drain plug *", "TH-1190-18", "1"),
        ("Injector", "TH-2504-33", "4"),
        ("Glow plug", "TH-5010-24", "4"),
        ("Starter motor, 24 V", "TH-5105-24", "1"),
        ("Oil pressure sender", "TH-6014-01", "1"),
        ("Coolant temperature sender", "TH-6022-01", "1"),
        ("Voltage regulator TVR-7", "TH-7307-00", "1"),
        ("Controller TC-3, without settings", "TH-7003-10", "1"),
        ("Charger TC-24", "TH-7024-05", "1"),
        ("Fuse F3, 6 A slow, pack of ten *", "TH-7906-10", "1"),
        ("Auxiliary contact K2 for the ATS-80", "TH-8081-02", "2"),
    ),
    (0.55, 0.27, 0.18),
)

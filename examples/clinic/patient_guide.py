"""The leaflet for patients in Spanish, two pages; many of the fish plant's workers come from Galicia."""

from __future__ import annotations

from clinic.blocks import Block, Bullets, Heading, Note, Steps, Table, Text

TITLE = "Guía del paciente"
SUBTITLE = "Bienvenido a la clínica de Harbour Road"
FOOTER = "Harbour Road Clinic · 3 Harbour Road, Skerrin Bay · Edición en español, enero de 2026"

PAGES: tuple[tuple[Block, ...], ...] = (
    (
        Heading("Horario"),
        Table(
            ("Servicio", "De lunes a viernes", "Sábado"),
            (
                ("Consulta médica", "08:30 a 18:00", "09:00 a 12:30"),
                ("Farmacia", "09:30 a 17:15", "cerrada"),
                ("Análisis de sangre", "07:45 a 10:00", "cerrado"),
                ("Fisioterapia", "13:00 a 17:00", "cerrada"),
            ),
            (0.4, 0.34, 0.26),
        ),
        Text(
            "Los domingos y festivos hay un médico de guardia. Llame al 01632 960 100; fuera del horario le "
            "contesta la enfermera de guardia."
        ),
        Heading("Pedir y cancelar una cita"),
        Bullets(
            (
                "Puede pedir cita por teléfono o en el mostrador. No hace falta seguro privado.",
                "Si no puede venir, avise con 24 horas de antelación. Otra persona podrá usar su cita.",
                "Traiga su documento de identidad, la lista de sus medicamentos y sus gafas si las necesita.",
            )
        ),
        Heading("Intérprete"),
        Text(
            "Tenemos una intérprete de español y gallego los martes y los jueves de 10:00 a 13:00. El "
            "servicio es gratuito. Pídalo al menos 48 horas antes de su cita. Para otros días usamos un "
            "intérprete por teléfono."
        ),
        Heading("Visitas a pacientes ingresados"),
        Text(
            "El horario de visita es de 15:00 a 19:30, con un máximo de dos personas por cama. Los niños "
            "menores de seis años solo pueden entrar con permiso de la enfermera jefe, Ingrid Falkner."
        ),
        Note(
            "Urgencias", "Si hay peligro para la vida, llame al 999. No venga en coche si le duele el pecho."
        ),
    ),
    (
        Heading("Antes de un análisis de sangre"),
        Steps(
            (
                "No coma nada durante las 10 horas anteriores. Puede beber agua.",
                "No fume ni haga deporte esa mañana.",
                "Tome sus medicamentos como siempre, salvo que el médico le diga otra cosa.",
                "Diga a la enfermera si toma anticoagulantes o si se marea al ver sangre.",
            )
        ),
        Heading("Resultados"),
        Text(
            "Los resultados tardan cinco días laborables. Llame entre las 14:00 y las 16:00 y diga su "
            "número de paciente. No damos resultados por correo electrónico ni a otras personas."
        ),
        Heading("Recetas"),
        Text(
            "Para repetir una receta, deje la hoja en el buzón azul de la entrada antes de las 11:00. Podrá "
            "recogerla en la farmacia al cabo de dos días laborables."
        ),
        Heading("Precios para quienes no están inscritos"),
        Table(
            ("Servicio", "Precio"),
            (
                ("Primera consulta", "62 libras"),
                ("Certificado médico para el trabajo en el mar", "85 libras"),
                ("Vacuna contra el tétanos", "29 libras"),
            ),
            (0.7, 0.3),
        ),
        Text(
            "La inscripción es gratuita para toda persona que trabaje en la bahía durante más de tres meses."
        ),
        Heading("Quejas y sugerencias"),
        Text(
            "Hable primero con la persona que le atiende. Si no queda satisfecho, escriba al gerente, "
            "Tobias Quill. Recibirá una respuesta por escrito en un plazo de 20 días laborables."
        ),
        Heading("Sus datos"),
        Text(
            "Guardamos su historia clínica durante diez años después de su última visita. Puede pedir una "
            "copia gratuita al año en el mostrador."
        ),
    ),
)

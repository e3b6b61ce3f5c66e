"""What one sentence denies and another affirms."""

from __future__ import annotations

import pytest

from appliance.checks.negation import opposed, polarity
from appliance.text.words import Words

WORDS = Words()


@pytest.mark.parametrize(
    ("said", "known", "conflicts"),
    [
        ("The door must not be opened.", "Never open the door under pressure.", []),
        ("The door may be opened under pressure.", "Never open the door under pressure.", ["Never open"]),
        ("The door must not be opened.", "The door must be opened.", ["not be opened"]),
        ("The vaccine can't be used.", "The vaccine can be used.", ["can't be used"]),
        ("No visitors are allowed.", "Visitors are allowed.", ["No visitors"]),
        ("Opening the door is forbidden.", "Never open the door.", []),
        ("Opening the door is forbidden.", "Opening the door is easy.", ["forbidden"]),
        ("It must be kept cold.", "It must be kept cold, but not frozen.", []),
        ("Bring it by Monday.", "Bring it no later than Monday.", []),
        ("It is not only cold.", "It is cold.", []),
        ("Rooms without a window are aired.", "Rooms with a window are aired.", ["without a window"]),
        ("The stators are not attached.", "The stators are fixed to the casing.", ["not attached"]),
        ("The stators are not attached.", "The stators hang free.", []),
        ("Die Tür darf nicht geöffnet werden.", "Die Tür darf geöffnet werden.", ["nicht geöffnet"]),
        ("Öffnen Sie die Tür.", "Öffnen Sie die Tür nicht.", ["nicht"]),
        ("Es gibt keine Pause.", "Es gibt keine Pause am Montag.", []),
        ("Edison received one.", "Neither Tesla nor Edison won (although Edison did receive one).", []),
        ("", "Never.", []),
    ],
)
def test_a_denial_stands_against_what_the_other_sentence_affirms(
    said: str, known: str, conflicts: list[str]
) -> None:
    assert opposed(polarity(said, WORDS), polarity(known, WORDS)) == conflicts

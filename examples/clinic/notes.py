"""Notes of two site meetings; the second changes what the first decided."""

from __future__ import annotations

SEPTEMBER = """\
# Site meeting, 9 September 2026

Present: Tobias Quill (chair), Dr Maren Osei-Lund, Ingrid Falkner, Odile Brannigan, Ruaridh Penhale,
Nia Corrigan. Apologies: Petra Halloran. Notes: Nia Corrigan.

## 1. Flu vaccination

The autumn sessions begin on Monday 5 October. Odile has ordered **320 doses**, 40 more than last
year. Staff are vaccinated first, in the week of 28 September, in treatment room 2. Ingrid makes the
list.

## 2. Roof of ward B

The survey found 26 broken slates and a rotten valley board. The estimate is £18,400. Tobias asks
for two further offers; the work should be finished before the first frost.

## 3. Weekly generator test

The test run stays on **Monday at 07:00**. Ruaridh asks that nobody books the lift between 07:00 and
07:30.

## 4. Dental chair

The old chair is beyond repair. The new one costs £11,250 and will be fitted on 23 November. Until
then dental patients are sent to the ferry town.

## 5. Laundry

The contract with Bellfoot Laundry ends on 31 December. Ingrid is content with the service but not
with the delivery times: clean linen must be here by 06:30. Tobias negotiates.

## Actions

| No. | What | Who | By |
|---|---|---|---|
| 31 | List of staff for flu vaccination | Ingrid Falkner | 18 September |
| 32 | Two more offers for the roof | Tobias Quill | 30 September |
| 33 | Notice in the lift about the test run | Ruaridh Penhale | 11 September |
| 34 | Offer of the laundry for 2027 | Tobias Quill | 31 October |

Next meeting: 11 November 2026, 13:30, library.
"""

NOVEMBER = """\
# Site meeting, 11 November 2026

Present: Tobias Quill (chair), Dr Maren Osei-Lund, Dr Samuel Ilves, Ingrid Falkner, Odile Brannigan,
Ruaridh Penhale, Petra Halloran. Apologies: Nia Corrigan. Notes: Petra Halloran.

## 1. Incident of 17 October

The report is accepted as it stands. Ruaridh has put two spare filters into cabinet P2. The tank
will be cleaned on 25 November by Dunmarrow Fuels; during the work a hired set of 30 kVA stands in
the yard.

## 2. Weekly generator test: new day

This replaces item 3 of the notes of 9 September. From 18 November the weekly generator test is on
**Wednesday at 06:30**, no longer on Monday. Reason: on Mondays the blood samples are taken from
07:45 and the analyser must be warm by then; the switching threw it out twice in October.

## 3. Flu vaccination

274 of the 320 doses have been given. The last session is on Thursday 3 December, 16:00 to 18:30.

## 4. Roof of ward B

Of three offers the one of Sandholm Builders was taken, at £17,950. They begin on 30 November and
need nine working days. The beds 9 to 12 move to the day room.

## 5. Dental chair

The maker has delayed the delivery. The new date for fitting is **18 January 2027**. The price
stays.

## 6. Laundry

The contract with Bellfoot Laundry is renewed for two years at £1,140 a month. Linen is delivered by
06:15, or the delivery is free.

## 7. Christmas

The consulting rooms are closed on 25, 26 and 28 December and on 1 January. The pharmacy opens on 28
December from 10:00 to 12:00 only. Requests for leave in that time must reach Ingrid by 20 November.

## Actions

| No. | What | Who | By |
|---|---|---|---|
| 35 | Change the lift notice to Wednesday | Ruaridh Penhale | 16 November |
| 36 | Letter to families about moving beds 9 to 12 | Petra Halloran | 20 November |
| 37 | Sign the laundry contract | Tobias Quill | 30 November |
| 38 | Christmas hours on the door and in the harbour shop | Petra Halloran | 4 December |

Next meeting: 13 January 2027, 13:30, library.
"""

"""Missing documents that are not believed to be deleted: a disk that is away, or many at once. Pure.

They stay in the record, and answer, until their files are back or someone confirms.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from ingest.stored import printable
from ingest.sweep import Entry

# Fewer may be cleared away without a question, whatever their share.
MANY_DOCUMENTS = 10
CONFIRM = "; if the files were deleted on purpose, run `appliance ingest confirm`"


@dataclass(frozen=True, slots=True)
class Memory:
    """What a sweep must know of the one before, over a stop too.

    Attributes:
        mounts: what was mounted where, as in `Seen.mounts`; where documents are held, as it was before.
        held: ids of the documents that are held.
    """

    mounts: Mapping[str, str] = field(default_factory=dict)
    held: frozenset[int] = frozenset()

    @classmethod
    def read(cls, text: str) -> Memory:
        """Read what `text` gave; nothing is remembered at first."""
        kept = json.loads(text) if text else {"mounts": {}, "held": []}
        return cls(kept["mounts"], frozenset(kept["held"]))

    def text(self) -> str:
        """Return it as text."""
        return json.dumps({"mounts": dict(self.mounts), "held": sorted(self.held)})


@dataclass(frozen=True, slots=True)
class Missing:
    """Documents without a file, and what is around them.

    Attributes:
        gone: their paths; those that someone confirmed are not among them.
        present: paths of the files that are there.
        mounts: what is mounted now.
        memory: of the sweep before.
        n_removed: documents removed lately: who deletes slowly deletes as much.
    """

    record: Mapping[str, Entry]
    gone: Sequence[str]
    present: Collection[str]
    mounts: Mapping[str, str]
    memory: Memory
    n_removed: int = 0


@dataclass(frozen=True, slots=True)
class Hold:
    """The held documents' paths, in words why, and for the next sweep what must be known of this one."""

    paths: frozenset[str]
    problem: str
    memory: Memory


def hold(missing: Missing, max_share: float) -> Hold:
    """Decide which missing documents are kept.

    Args:
        max_share: of all documents, 0 to 1; more at once are held, if there are `MANY_DOCUMENTS`.
    """
    then, now = missing.memory.mounts, missing.mounts
    behind = _behind_changed_mounts(missing)
    kept = {path for paths in behind.values() for path in paths}
    words = [_words_of_mount(place, len(paths), then, now) for place, paths in behind.items()]
    lately = f" ({missing.n_removed} more were removed just before)" if missing.n_removed else ""
    if many := _too_many([path for path in missing.gone if path not in kept], missing, max_share):
        words.append(
            f"{len(many)} of {len(missing.record)} documents are missing, {_where(many)}{lately}: they are kept. "
            f"Put the files back, or mount their disk{CONFIRM}"
        )
    kept.update(many)
    remembered = {place: what for place, what in now.items() if place not in behind}
    remembered |= {place: then[place] for place in behind if place in then}
    memory = Memory(remembered, frozenset(missing.record[path].id for path in kept))
    return Hold(frozenset(kept), ". ".join(words), memory)


def _behind_changed_mounts(missing: Missing) -> dict[str, list[str]]:
    """Return what is missing, by the place where a mount came, went, or is another one."""
    then, now = missing.memory.mounts, missing.mounts
    behind: dict[str, list[str]] = {}
    for path in missing.gone if then else ():
        places = _place_of(path, then), _place_of(path, now)
        if then.get(places[0]) != now.get(places[1]):
            behind.setdefault(max(places, key=len), []).append(path)
    renamed = {place for place in behind if place in then and place in now}
    for path in missing.record if renamed else ():
        # A document that is still there shows that it is the same disk under another name.
        if path in missing.present and (place := _place_of(path, now)) in renamed:
            behind.pop(place, None)
    return behind


def _place_of(path: str, mounts: Mapping[str, str]) -> str:
    while path and path not in mounts:
        path = path.rpartition("/")[0]
    return path


def _too_many(gone: Sequence[str], missing: Missing, max_share: float) -> list[str]:
    """Return the missing documents that are too many at once, with those that were so before."""
    record, before = missing.record, missing.memory.held
    # What is still there under another name is not lost.
    there = {record[path].sha256 for path in missing.present if path in record} - {""} if gone else set()
    lost = [path for path in gone if record[path].sha256 not in there]
    n_lost, n_all = len(lost) + missing.n_removed, len(record) + missing.n_removed
    if n_lost >= MANY_DOCUMENTS and n_lost > max_share * n_all:
        return lost
    return [path for path in lost if record[path].id in before]


def _words_of_mount(place: str, n: int, then: Mapping[str, str], now: Mapping[str, str]) -> str:
    where = f"{place}/" if place else "the folder"
    if place not in now:
        what, cure = f"the disk of {where} is not mounted ({then[place]})", "Mount it"
    elif place not in then:
        what, cure = f"a disk was mounted over {where} ({now[place]})", "Unmount it"
    else:
        what, cure = (
            f"{where} is on another disk ({now[place]}, before: {then[place]})",
            "Mount the right one",
        )
    return printable(f"{what}: documents that are missing below it are kept ({n}). {cure}{CONFIRM}")


def _where(paths: Iterable[str]) -> str:
    folders = Counter(os.path.dirname(path) for path in paths)
    common = os.path.commonpath(folders)
    if common:
        return f"all of them in {printable(common)}/"
    tops: Counter[str] = Counter()
    for folder, n in folders.items():
        tops[folder.partition("/")[0]] += n
    [(top, n)] = tops.most_common(1)
    return f"{n} of them in {printable(top)}/" if top else f"{n} of them not in any sub-folder"

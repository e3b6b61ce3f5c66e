"""ZIP archives: what they hold, as a listing, and their files as parts. Opens no archive inside an archive.

A member's name is only ever a name: nothing is written to disk, so "../" and "/etc" lead nowhere.
"""

from __future__ import annotations

import io
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass, field

from ingest.formats.encoding import decode
from ingest.formats.package import BROKEN_ZIP
from ingest.formats.reading import Reading, damaged, needs_password, too_large
from ingest.formats.tidy import one_line
from ingest.limits import MIB, ParseLimits
from ingest.locator import Locator
from ingest.unit import Part, Unit, UnitKind

BLOCK = 1024 * 1024
MAX_PARTS = 200  # files that are read; each costs a child process
MAX_LISTED = 500  # names in the listing
NAMES_A_UNIT = 25
UTF8_FLAG, ENCRYPTED_FLAG = 0x800, 0x1
CLUTTER = frozenset({"thumbs.db", "desktop.ini", "__macosx"})
ARCHIVES = (".zip", ".7z", ".rar", ".tar", ".gz", ".tgz", ".bz2", ".xz", ".zst", ".cab", ".iso", ".jar")
# Letters stand here in the old code page of DOS, where cp1252 has quotes and signs; and its ß, an á there.
DOS_LETTERS, DOS_SHARP_S = frozenset(range(0x80, 0xA6)), 0xE1


def read(data: bytes, limits: ParseLimits) -> Reading:
    """List an archive.

    Raises:
        RefusedError: it is broken, has a password on half its files or more, or none of its files can be read.
    """
    members = _members(data, limits)
    sorted_out = _sorted_out(members, len(data), limits)
    if sorted_out.locked and len(sorted_out.locked) * 2 >= len(sorted_out.locked) + len(sorted_out.readable):
        raise needs_password()
    if sorted_out.broken and not sorted_out.readable:
        raise damaged("its table of contents is wrong: copy it again, or pack it again")
    if sorted_out.large and not sorted_out.readable:
        raise too_large(f"each of its files unpacks to more than {limits.max_part_mb} MB")
    names = [name for _, name, _ in members]
    parts = [Part(f"{number}/{name}", (name,)) for number, name, _ in sorted_out.readable[:MAX_PARTS]]
    return Reading(list(_listing(names)), parts=parts, notes=sorted_out.notes())


def extract(data: bytes, key: str, limits: ParseLimits) -> bytes:
    """Return a member's bytes by the key that `read` gave it; bounded by the bytes that come out.

    Raises:
        RefusedError: it is missing, broken, over the limit of a part, or has a password.
    """
    infos = _infos(data, limits)
    number = key.partition("/")[0]
    if not number.isdecimal() or int(number) >= len(infos):
        raise damaged("the file is not in the archive")
    info = infos[int(number)]
    if info.flag_bits & ENCRYPTED_FLAG:
        raise needs_password()
    out = bytearray()
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive, archive.open(info) as member:
            while block := member.read(BLOCK):
                out += block
                if len(out) > limits.max_part_mb * MIB:
                    raise too_large(f"it unpacks to more than {limits.max_part_mb} MB")
    except BROKEN_ZIP as error:
        raise damaged(f"its packed bytes are broken ({one_line(str(error))[:200]})") from error
    return bytes(out)


Member = tuple[int, str, zipfile.ZipInfo]  # its place in the directory, its name, what the directory says


def _infos(data: bytes, limits: ParseLimits) -> list[zipfile.ZipInfo]:
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            infos = archive.infolist()
    except BROKEN_ZIP as error:
        raise damaged("it is cut off or broken: copy it again, or pack it again") from error
    if len(infos) > limits.max_zip_members:
        raise too_large(f"it holds {len(infos)} files, and over {limits.max_zip_members} are not read")
    return infos


def _members(data: bytes, limits: ParseLimits) -> list[Member]:
    """Return the files of the archive in its order, without folders and what systems leave behind."""
    infos = _infos(data, limits)
    named = zip(range(len(infos)), _names(infos, limits.legacy_encoding), infos, strict=True)
    return [member for member in named if not member[2].is_dir() and not _is_clutter(member[1])]


def _names(infos: Sequence[zipfile.ZipInfo], legacy: str) -> list[str]:
    """Return the members' names; those without the mark of UTF-8 are decoded together, as one program wrote them."""
    names = {i: info.filename for i, info in enumerate(infos)}
    old = {i: name.encode("cp437") for i, name in names.items() if not infos[i].flag_bits & UTF8_FLAG}
    joined = b"\n".join(old.values())
    texts = _decoded(joined, legacy).split("\n")
    if len(texts) == len(old):
        names |= dict(zip(old, texts, strict=True))
    return [one_line(name.replace("\\", "/")).strip("/") or "unnamed" for name in names.values()]


def _decoded(names: bytes, legacy: str) -> str:
    high = {byte for byte in names if byte > 0x7F}
    if high & DOS_LETTERS and high <= DOS_LETTERS | {DOS_SHARP_S} and not _is_utf8(names):
        return names.decode("cp437")
    return decode(names, legacy)


def _is_utf8(data: bytes) -> bool:
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


def _is_clutter(name: str) -> bool:
    steps = name.lower().split("/")
    hidden = any(step.startswith(".") and step.strip(".") for step in steps)
    return hidden or steps[-1].startswith("~$") or any(step in CLUTTER for step in steps)


@dataclass(slots=True)
class _SortedOut:
    readable: list[Member] = field(default_factory=list)
    locked: list[str] = field(default_factory=list)
    archives: list[str] = field(default_factory=list)
    large: list[str] = field(default_factory=list)
    broken: list[str] = field(default_factory=list)

    def notes(self) -> list[str]:
        """Return what is not read, in sentences."""
        reasons = (
            (self.locked, "not read, they have a password"),
            (self.archives, "not opened, they are archives inside the archive"),
            (self.large, "not read, they unpack to too much"),
            (self.broken, "not read, they are broken"),
        )
        notes = [f"{reason}: {_some(names)}" for names, reason in reasons if names]
        if len(self.readable) > MAX_PARTS:
            notes.append(f"only the first {MAX_PARTS} of {len(self.readable)} files are read")
        return notes


def _sorted_out(members: Sequence[Member], n_bytes: int, limits: ParseLimits) -> _SortedOut:
    """Tell which members can be read. Sizes are claims here: `extract` counts what comes out."""
    found = _SortedOut()
    n_unpacked = 0
    for number, name, info in members:
        if not info.file_size:
            continue
        if info.flag_bits & ENCRYPTED_FLAG:
            found.locked.append(name)
        elif name.lower().endswith(ARCHIVES):
            found.archives.append(name)
        elif info.header_offset + info.compress_size > n_bytes:
            found.broken.append(name)
        elif (
            info.file_size > limits.max_part_mb * MIB or n_unpacked + info.file_size > limits.max_zip_mb * MIB
        ):
            found.large.append(name)
        else:
            n_unpacked += info.file_size
            found.readable.append((number, name, info))
    return found


def _listing(names: Sequence[str]) -> list[Unit]:
    """Return the names as text: an archive is found by what it holds."""
    shown = names[:MAX_LISTED]
    more = [f"and {len(names) - MAX_LISTED} more files"] if len(names) > MAX_LISTED else []
    groups = [[*shown[i : i + NAMES_A_UNIT]] for i in range(0, len(shown), NAMES_A_UNIT)]
    if more:
        groups.append(more)
    return [
        Unit("This archive holds: " + ", ".join(group), Locator(), UnitKind.PARAGRAPH) for group in groups
    ]


def _some(names: Sequence[str]) -> str:
    return ", ".join(names[:10]) + (f" and {len(names) - 10} more" if len(names) > 10 else "")

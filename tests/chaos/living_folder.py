"""The watched folder as staff treat it, and the same in memory: what must be found in the end, and what must not."""

from __future__ import annotations

import hashlib
import os
import shutil
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random

from tests.chaos import papers

N_FILES = 24  # fewer are added to, more are not
MAX_SCANS = 2
ROOMS = ("", "cellar", "office", "office/old", "ward")
DAY_S = 86_400


@dataclass(frozen=True, slots=True)
class Paper:
    """What a file holds.

    Attributes:
        words: that stand in this file and its copies only.
        good: it will be ready; the others must be refused, with a reason.
    """

    data: bytes
    kind: str
    words: tuple[str, ...]
    good: bool = True

    @property
    def sha256(self) -> str:
        """Hash of the bytes, in hex."""
        return hashlib.sha256(self.data).hexdigest()


class LivingFolder:
    """Changes a folder at random, and knows what is in it.

    Attributes:
        papers: by path, relative to the folder.
        dead: words that no file holds any more, oldest first.
    """

    def __init__(self, folder: Path, rng: Random) -> None:
        self.papers: dict[str, Paper] = {}
        self.dead: list[str] = []
        self.folder = folder
        self._rng = rng
        self._n_made = 0
        self._scans = list(papers.SCANNED)
        rng.shuffle(self._scans)

    def disturb(self) -> str:
        """Do one thing of those that people and programs do; say what."""
        rng = self._rng
        actions = [self._write] * 3 if len(self.papers) < N_FILES else []
        if self.papers:
            actions += [self._rewrite, self._save_atomically, self._save_slowly, self._append, self._rename]
            actions += [self._move_tree, self._copy, self._delete, self._set_time, self._touch_while_read]
        before = self._living()
        told = rng.choice(actions)()
        self.dead += sorted(before - self._living())
        return told

    def fill(self, n: int) -> None:
        """Add so many files, a good one of each format first."""
        for kind in [*papers.GOOD, *self._rng.choices([*papers.GOOD], k=n)][:n]:
            self._put(self._new_path(kind), self._good(kind))

    def add(self, kind: str) -> str:
        """Add a file of a kind; return its path."""
        path = self._new_path("pdf" if kind == "scan" else kind)
        self._put(path, self._scan() if kind == "scan" else self._good(kind))
        return path

    def _living(self) -> set[str]:
        return {word for paper in self.papers.values() for word in paper.words}

    # --- what is in a file ---

    def _any(self) -> Paper:
        chance = self._rng.random()
        if chance < 0.08 and sum(paper.kind == "scan" for paper in self.papers.values()) < MAX_SCANS:
            return self._scan()
        if chance < 0.2:
            kind = self._rng.choice([*papers.HOSTILE])
            return Paper(papers.HOSTILE[kind](self._rng, ""), kind, (), good=False)
        return self._good(self._rng.choice([*papers.GOOD]))

    def _good(self, kind: str) -> Paper:
        word = f"word{self._rng.randrange(10**12)}"
        return Paper(papers.GOOD[kind](self._rng, word), kind, (word,))

    def _scan(self) -> Paper:
        word = next(word for word in self._scans if word not in self._living())
        self._scans.remove(word)
        self._scans.append(word)  # comes again when the others are through
        if word in self.dead:
            self.dead.remove(word)
        return Paper(papers.scan(self._rng, word), "scan", (word,))

    # --- what people do ---

    def _write(self) -> str:
        paper = self._any()
        path = self._new_path("pdf" if paper.kind == "scan" else paper.kind)
        self._put(path, paper)
        return f"write {path}"

    def _rewrite(self) -> str:
        path = self._pick()
        self._put(path, self._like(path))
        return f"write over {path}"

    def _save_atomically(self) -> str:
        path = self._pick()
        paper, target = self._like(path), self.folder / path
        part = target.with_name(f".{target.name}.tmp")
        part.write_bytes(paper.data)
        os.replace(part, target)
        self.papers[path] = paper
        return f"save {path}"

    def _save_slowly(self) -> str:
        """Write in pieces, with pauses in which the file looks finished."""
        path = self._pick()
        paper = self._like(path)
        with open(self.folder / path, "wb") as file:
            for place in range(0, len(paper.data), len(paper.data) // 3 + 1):
                file.write(paper.data[place : place + len(paper.data) // 3 + 1])
                file.flush()
                time.sleep(self._rng.uniform(0, 0.3))
        self.papers[path] = paper
        return f"save slowly {path}"

    def _touch_while_read(self) -> str:
        """Change a file again and again, as long as reading it takes."""
        path = self._pick()
        for _ in range(self._rng.randrange(2, 5)):
            self._put(path, self._like(path))
            time.sleep(self._rng.uniform(0.1, 0.5))
        return f"change {path} while it is read"

    def _append(self) -> str:
        alone = [
            path for path, paper in self.papers.items() if paper.kind == "txt" and self._is_single(paper)
        ]
        if not alone:
            return self._rewrite()
        path, word = self._rng.choice(alone), f"word{self._rng.randrange(10**12)}"
        more = "\n".join(papers.sentences(self._rng, word, 30)).encode() + b"\n"
        with open(self.folder / path, "ab") as file:
            file.write(more)
        paper = self.papers[path]
        self.papers[path] = Paper(paper.data + more, "txt", (*paper.words, word))
        return f"append to {path}"

    def _rename(self) -> str:
        path = self._pick()
        other = self._new_path(path.partition(".")[2])
        os.rename(self.folder / path, self.folder / other)
        self.papers[other] = self.papers.pop(path)
        return f"rename {path} {other}"

    def _move_tree(self) -> str:
        trees = sorted({path.partition("/")[0] for path in self.papers if "/" in path})
        if not trees:
            return self._rename()
        tree, other = self._rng.choice(trees), f"tree{self._next()}"
        os.rename(self.folder / tree, self.folder / other)
        for path in [path for path in self.papers if path.startswith(f"{tree}/")]:
            self.papers[other + path[len(tree) :]] = self.papers.pop(path)
        return f"move {tree}/ {other}/"

    def _copy(self) -> str:
        path = self._pick()
        other = self._new_path(path.partition(".")[2])
        shutil.copyfile(self.folder / path, self.folder / other)
        self.papers[other] = self.papers[path]
        return f"copy {path} {other}"

    def _delete(self) -> str:
        path = self._pick()
        os.unlink(self.folder / path)
        del self.papers[path]
        return f"delete {path}"

    def _set_time(self) -> str:
        """Give a file a time of long ago, or of the future: copied from elsewhere, or the clock was wrong."""
        path, now = self._pick(), time.time()
        when = self._rng.choice((0, now - 4000 * DAY_S, now + 3600, now + 400 * DAY_S))
        os.utime(self.folder / path, (when, when))
        return f"set the time of {path}"

    # --- the rest ---

    def _like(self, path: str) -> Paper:
        """Return other bytes of the same format."""
        old = self.papers[path]
        if old.kind == "scan":
            return self._scan()
        return (
            self._good(old.kind) if old.good else Paper(self._rng.randbytes(3000), old.kind, (), good=False)
        )

    def _put(self, path: str, paper: Paper) -> None:
        target = self.folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(paper.data)
        self.papers[path] = paper

    def _pick(self) -> str:
        return self._rng.choice(sorted(self.papers))

    def _is_single(self, paper: Paper) -> bool:
        return sum(other.data == paper.data for other in self.papers.values()) == 1

    def _new_path(self, ending: str) -> str:
        room = self._rng.choice(ROOMS)
        path = f"{room}/{self._next()}.{ending}" if room else f"{self._next()}.{ending}"
        (self.folder / path).parent.mkdir(parents=True, exist_ok=True)
        return path

    def _next(self) -> int:
        self._n_made += 1
        return self._n_made


def holders(papers_: dict[str, Paper], word: str) -> Sequence[str]:
    """Return the paths of the files that hold a word."""
    return sorted(path for path, paper in papers_.items() if word in paper.words)

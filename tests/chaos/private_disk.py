"""A disk of its own under one folder, that fills up, turns read-only and is mounted again. Only root can have one.

It is mounted where only we and the daemons that we start see it: nothing is left when we die.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import time
from collections.abc import Sequence
from pathlib import Path

_TOOLS = ("unshare", "nsenter", "mount", "umount", "mkfs.ext4")
# The loop device has to be let go with its mount (autoclear), so that a kill of ours leaves none behind.
_MOUNT = 'mount -o loop,errors=remount-ro "$0" "$1"'
_HOLD = f"{_MOUNT} && echo mounted && exec cat"


class NoDiskError(Exception):
    """No disk can be mounted here: not root, or no loop devices."""


class PrivateDisk:
    """An ext4 file system in a file, mounted in a mount namespace of its own.

    Attributes:
        wrapper: words before a command that is to see it.
    """

    def __init__(self, image: Path, folder: Path, size_mb: int) -> None:
        missing = [tool for tool in _TOOLS if shutil.which(tool) is None]
        if os.geteuid() != 0 or missing:
            raise NoDiskError(f"{', '.join(missing)} not installed" if missing else "only root can mount")
        folder.mkdir(parents=True, exist_ok=True)
        self._image, self._folder = image, folder
        with open(image, "wb") as file:
            file.truncate(size_mb << 20)
        subprocess.run(["mkfs.ext4", "-q", "-F", "-m", "0", str(image)], check=True)
        self._holder = subprocess.Popen(
            ["unshare", "--mount", "--propagation", "private", "sh", "-c", _HOLD, str(image), str(folder)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip
        assert self._holder.stdout is not None
        if self._holder.stdout.readline() != "mounted\n":
            _, why = self._holder.communicate()
            raise NoDiskError(why.strip())
        self.wrapper: Sequence[str] = (
            "nsenter",
            "--target",
            str(self._holder.pid),
            "--mount",
            f"--wd={os.getcwd()}",
            "--",
        )

    @property
    def path(self) -> Path:
        """The mounted folder, as it is reached from outside the namespace."""
        return Path(f"/proc/{self._holder.pid}/root{self._folder}")

    def fill(self) -> None:
        """Leave no room, not for one block."""
        with open(self.path / "filler", "ab", buffering=0) as file:
            for size in (1 << 20, 1 << 16, 1 << 12, 1):
                while _wrote(file.fileno(), size):
                    pass

    def make_room(self) -> None:
        """Give the room back."""
        (self.path / "filler").unlink(missing_ok=True)

    def turn_read_only(self) -> None:
        """Let the file system find an error of its own: it takes no more writes, whoever has files open."""
        device = Path(self._run("findmnt", "-no", "SOURCE", str(self._folder)).strip()).name
        Path(f"/sys/fs/ext4/{device}/trigger_fs_error").write_text("chaos")

    def mount_again(self) -> None:
        """Check and mount it again, as after a restart of the machine; nobody may be using it."""
        self._run("umount", str(self._folder))
        subprocess.run(["e2fsck", "-fy", str(self._image)], capture_output=True, check=False)
        self._run("sh", "-c", _MOUNT, str(self._image), str(self._folder))

    def close(self) -> None:
        """Unmount it, and forget what was on it."""
        self._holder.communicate()
        self._image.unlink(missing_ok=True)

    def _run(self, *command: str) -> str:
        for _ in range(50):
            done = subprocess.run([*self.wrapper, *command], capture_output=True, text=True, check=False)
            if done.returncode == 0:
                return done.stdout
            time.sleep(0.1)  # the last process that had files open is not quite gone
        raise OSError(f"{' '.join(command)}: {done.stderr}")


def _wrote(descriptor: int, size: int) -> bool:
    try:
        return os.write(descriptor, b"\0" * size) > 0
    except OSError:
        return False

"""What a page's own marks hide from people: no display, no opacity, no size, no contrast, no place on the screen.

Judges attributes and inline styles; stylesheets are not applied.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

MAX_STYLE = 2_000  # characters of one style attribute that are looked at
TINY_PX = 2.0  # text at or under this cannot be read
FAR_PX = 500.0  # negative offsets beyond this lie off the screen
NEAR_WHITE = 0xF5  # of each channel
UNITS_PX = {
    "": 1.0,
    "px": 1.0,
    "pt": 4 / 3,
    "em": 16.0,
    "rem": 16.0,
    "%": 0.16,
    "cm": 38.0,
    "in": 96.0,
    "vw": 10.0,
}
SIZE = re.compile(r"^(-?\d{0,6}(?:\.\d{1,6})?)(px|pt|r?em|%|cm|in|vw)?$")
RGB = re.compile(r"^rgba?\((\d{1,3})[, ]+(\d{1,3})[, ]+(\d{1,3})(?:[,/ ]+([\d.]{1,6})%?)?\)$")
HEX = re.compile(r"^#([0-9a-f]{6}|[0-9a-f]{3})$")
OFFSETS = ("left", "top", "right", "bottom", "margin-left", "margin-top", "text-indent")


@dataclass(frozen=True, slots=True)
class _State:
    """What holds for the text of an element.

    Attributes:
        styled: its background may come from the stylesheet, so white text may stand on anything.
    """

    is_gone: bool = False
    is_unseen: bool = False
    is_tiny: bool = False
    ink: str = ""
    ground: str = "white"
    styled: bool = False

    @property
    def is_hidden(self) -> bool:
        no_contrast = bool(self.ink) and self.ink == self.ground and not self.styled
        return self.is_gone or self.is_unseen or self.is_tiny or self.ink == "transparent" or no_contrast


@dataclass
class Shown:
    """Whether the text being walked over is shown; `enter` and `leave` come in pairs, one for each element."""

    has_stylesheet: bool = False
    states: list[_State] = field(default_factory=lambda: [_State()])

    @property
    def is_hidden(self) -> bool:
        """Whether people do not see text that stands here."""
        return self.states[-1].is_hidden

    def enter(self, node: Any) -> None:
        """Go into an element."""
        self.states.append(self._inside(node, self.states[-1]))

    def leave(self) -> None:
        """Go back to the element around it."""
        self.states.pop()

    def _inside(self, node: Any, state: _State) -> _State:
        style = _declarations(node.getattr("style") or "")
        if self.has_stylesheet and node.class_name and node.tag not in ("html", "body"):
            state = replace(state, styled=True)
        ground = style.get("background-color") or style.get("background") or node.getattr("bgcolor") or ""
        if ground:
            colour = _colour(ground)
            state = replace(state, ground=colour, styled=not colour or "url(" in ground)
        if ink := style.get("color") or (node.getattr("color") if node.tag == "font" else ""):
            state = replace(state, ink=_colour(ink))
        if node.hasattr("hidden"):
            state = replace(state, is_gone=True)
        return _with_style(state, style) if style else state


def _declarations(style: str) -> dict[str, str]:
    pairs = (part.partition(":") for part in style[:MAX_STYLE].lower().split(";"))
    return {name.strip(): value.replace("!important", "").strip() for name, colon, value in pairs if colon}


def _with_style(state: _State, style: Mapping[str, str]) -> _State:
    if "font-size" in style:
        size = _pixels(style["font-size"])
        state = replace(state, is_tiny=size is not None and size <= TINY_PX)
    if "visibility" in style:
        state = replace(state, is_unseen=style["visibility"] in ("hidden", "collapse"))
    return replace(state, is_gone=True) if _is_gone(style) else state


def _is_gone(style: Mapping[str, str]) -> bool:
    if style.get("display") == "none" or style.get("mso-hide") == "all":
        return True
    opacity = _pixels(style.get("opacity", ""))
    if opacity is not None and opacity < 0.02:
        return True
    cut = style.get("overflow") == "hidden" and any(
        _pixels(style.get(side, "")) == 0 for side in ("width", "height", "max-width", "max-height")
    )
    return cut or _is_off_screen(style)


def _is_off_screen(style: Mapping[str, str]) -> bool:
    moved = OFFSETS if style.get("position") in ("absolute", "fixed") else ("text-indent", "margin-left")
    offsets = [_pixels(style.get(name, "")) for name in moved]
    return any(offset is not None and offset <= -FAR_PX for offset in offsets)


def _pixels(value: str) -> float | None:
    found = SIZE.match(value)
    if not found or found[1] in ("", "-"):
        return None
    return float(found[1]) * UNITS_PX[found[2] or ""]


def _colour(value: str) -> str:
    """Return a colour by a name that equals that of the same colour; every near-white is "white", no colour is ""."""
    value = value.strip().lower()
    if found := HEX.match(value):
        digits = found[1] if len(found[1]) == 6 else "".join(ch * 2 for ch in found[1])
        return _named([int(digits[i : i + 2], 16) for i in (0, 2, 4)])
    if found := RGB.match(value):
        if found[4] and float(found[4].strip(".") or 0) == 0:
            return "transparent"
        return _named([int(found[i]) for i in (1, 2, 3)])
    first = value.split(maxsplit=1)[0] if value else ""
    if first in ("inherit", "initial", "unset", "none") or "(" in first:
        return ""
    if first in ("snow", "ivory", "whitesmoke", "ghostwhite", "floralwhite"):
        return "white"
    return first if value == first or not first.startswith("#") else _colour(first)


def _named(channels: list[int]) -> str:
    if min(channels) >= NEAR_WHITE:
        return "white"
    return "black" if max(channels) == 0 else "#" + "".join(f"{channel:02x}" for channel in channels)

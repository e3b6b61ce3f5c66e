"""Number formats of an Excel workbook, by the index that cells carry. Fonts, fills and borders are not read."""

from __future__ import annotations

from typing import Any

from ingest.formats.elements import child, children, number, value
from ingest.formats.sheet_numbers import BUILT_IN, GENERAL, NumberFormat, number_format


def number_formats(styles: Any) -> list[NumberFormat]:
    """Return the format of each cell style of a styles part's root; nothing for None."""
    own = {
        value(element, "numFmtId"): number_format(value(element, "formatCode"))
        for element in children(child(styles, "numFmts"), "numFmt")
    }
    return [_format(value(style, "numFmtId"), own) for style in children(child(styles, "cellXfs"), "xf")]


def _format(key: str, own: dict[str, NumberFormat]) -> NumberFormat:
    return own[key] if key in own else BUILT_IN.get(number(key) or 0, GENERAL)

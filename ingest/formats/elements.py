"""XML elements by local name: strict and transitional Office files, and ODF versions, differ in namespaces only."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any


def local(element: Any) -> str:
    """Return an element's name without its namespace; "" for a comment or instruction."""
    tag = element.tag
    return tag.rpartition("}")[2] if isinstance(tag, str) else ""


def child(element: Any, *path: str) -> Any:
    """Return the first child with each local name in turn, or None."""
    for name in path:  # plain loops: this is most of what a walker does
        found = None
        for part in element if element is not None else ():
            if local(part) == name:
                found = part
                break
        element = found
    return element


def children(element: Any, *names: str) -> Iterator[Any]:
    """Yield the children with one of these local names; nothing for None."""
    return (part for part in element if local(part) in names) if element is not None else iter(())


def descendants(element: Any, *names: str) -> Iterator[Any]:
    """Yield everything below an element with one of these local names, in document order; nothing for None."""
    return (part for part in element.iter() if local(part) in names) if element is not None else iter(())


def value(element: Any, name: str = "val") -> str:
    """Return an attribute by its local name; "" where the element or attribute is missing."""
    for key, text in element.attrib.items() if element is not None else ():
        if key.rpartition("}")[2] == name:
            return str(text)
    return ""


def relation_id(element: Any, name: str = "id") -> str:
    """Return an attribute that names a relation: `r:id` stands beside an `id` that means something else."""
    if element is None:
        return ""
    named = (text for key, text in element.attrib.items() if key.endswith("/relationships}" + name))
    return next(named, "")


def number(text: str) -> int | None:
    """Return a whole number as attributes hold it, or None; 12 digits at most."""
    digits = text.strip()
    return int(digits) if digits.lstrip("-").isdecimal() and len(digits) <= 12 else None


def is_on(element: Any) -> bool:
    """Tell whether a switch such as w:vanish is there and not turned off."""
    return element is not None and value(element) not in ("0", "false", "off")

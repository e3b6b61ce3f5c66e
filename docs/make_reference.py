"""Writes what the reference can take from the code: docs/cli.md, docs/configuration.md, the errors in docs/api.md,
the list of modules in ingest/formats/README.md.

`python docs/make_reference.py` writes; with `--check` it only tells which file is not current (exit code 1).
Nothing here depends on the width of a terminal or on typer's own help pages.
"""

from __future__ import annotations

import ast
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any

DOCS = Path(__file__).resolve().parent
FORMATS = DOCS.parent / "ingest" / "formats"
sys.path.insert(0, str(DOCS.parent))

from pydantic import BaseModel  # noqa: E402
from typer.main import get_command  # noqa: E402

from appliance import config, exits  # noqa: E402
from appliance.api import errors  # noqa: E402
from appliance.cli import app  # noqa: E402

WIDTH = 110
NOTICE = "<!-- Written by docs/make_reference.py: change the code, then run it. -->"
ERRORS_BEGIN, ERRORS_END = "<!-- errors: written by docs/make_reference.py -->", "<!-- errors: end -->"
EXITS = {
    exits.Exit.SUCCESS: "done",
    exits.Exit.FAILURE: "asked rightly, and could not be done",
    exits.Exit.USER_ERROR: "asked wrongly: unknown option, no such file or model, bad setting, a second daemon",
    exits.Exit.NOT_RUNNING: "no daemon answers on the socket",
    exits.Exit.NOT_ANSWERED: "`ask` only: the documents do not say",
}


def main(arguments: list[str]) -> int:
    """Write the files, or check them; return the exit code."""
    stale = [file for file, text in pages().items() if not file.exists() or file.read_text("utf-8") != text]
    for file in stale:
        if "--check" in arguments:
            print(f"{file.name} is not current: run python docs/{Path(__file__).name}")
        else:
            file.write_text(pages()[file], "utf-8")
            print(f"wrote {file.name}")
    return int(bool(stale) and "--check" in arguments)


def pages() -> dict[Path, str]:
    """Return every file that is written here, and its text."""
    api = DOCS / "api.md"
    return {
        DOCS / "cli.md": _page(_cli()),
        DOCS / "configuration.md": _page(_configuration()),
        api: _with_errors(api.read_text("utf-8")),
        FORMATS / "README.md": _page(_formats()),
    }


def _page(lines: Iterator[str]) -> str:
    text = "\n".join(lines)
    while "\n\n\n" in text:
        text = text.replace("\n\n\n", "\n\n")
    return text.strip("\n") + "\n"


# --- the readers ---


def _formats() -> Iterator[str]:
    yield "# The readers"
    yield ""
    yield NOTICE
    yield ""
    yield "A line a module, from its own first sentence. `ingest/readers.py` says which reader reads which format, and"
    yield "in which order several are tried; [docs/formats.md](../../docs/formats.md) says what people get."
    yield ""
    for file in sorted(FORMATS.glob("[a-z]*.py")):
        said = ast.get_docstring(ast.parse(file.read_text("utf-8"))) or ""
        first = said.partition("\n\n")[0].replace("\n", " ")
        yield from _filled(f"- `{file.stem}`: {first}", "  ")


# --- the command line ---


def _cli() -> Iterator[str]:
    root: Any = get_command(app)
    yield from ["# Command line", "", NOTICE, ""]
    yield from _filled(root.help)
    yield ""
    yield from _usage("appliance", root)
    yield from _parameters(root)
    yield from _filled(
        "`--home` stands before the command: `appliance --home DIR status`. Errors are one line on stderr. "
        "`--json` prints facts for scripts on stdout: see [Use it from scripts](howto-scripts.md)."
    )
    yield from _commands(root, "appliance")
    yield from ["", "## Exit codes", "", "| code | meaning |", "|---|---|"]
    yield from (f"| {int(code)} | {meaning} |" for code, meaning in EXITS.items())
    yield "| 130 | stopped with Ctrl+C |"


def _commands(group: Any, path: str) -> Iterator[str]:
    for name, command in group.commands.items():
        yield from ["", f"## {path} {name}", ""]
        yield from _filled(command.help)
        if hasattr(command, "commands"):
            if command.invoke_without_command:
                yield ""
                yield from _usage(f"{path} {name}", command)
                yield from _parameters(command)
            yield from _commands(command, f"{path} {name}")
            continue
        yield ""
        yield from _usage(f"{path} {name}", command)
        yield from _parameters(command)


def _usage(path: str, command: Any) -> Iterator[str]:
    words = [path]
    if _options(command):
        words.append("[OPTIONS]")
    for argument in _arguments(command):
        name = _metavar(argument)
        words.append(name if argument.required else f"[{name}]")
    if hasattr(command, "commands"):
        words.append("[COMMAND …]")
    yield from ["```", " ".join(words), "```", ""]


def _parameters(command: Any) -> Iterator[str]:
    for option in _options(command):
        value = "" if option.is_flag else f" {_value(option)}"
        yield from _filled(f"- `{', '.join(option.opts)}{value}`: {option.help or ''}{_facts(option)}", "  ")
    if _options(command):
        yield ""


def _options(command: Any) -> list[Any]:
    return [each for each in command.params if each.param_type_name == "option" and each.name != "help"]


def _arguments(command: Any) -> list[Any]:
    return [each for each in command.params if each.param_type_name == "argument"]


def _metavar(argument: Any) -> str:
    name = argument.metavar or str(argument.name).upper()
    return str(name)


def _value(option: Any) -> str:
    # Typer from 0.2x on keeps the annotation, before that click's type.
    told = getattr(option, "type_descriptor", None)
    kind = str(told.annotation if told else option.type.name).lower()
    if any(word in kind for word in ("path", "file", "directory")):
        return "PATH"
    return "N" if "int" in kind else "TEXT"


def _facts(option: Any) -> str:
    facts = []
    if option.multiple:
        facts.append("may be given several times")
    if not option.is_flag and option.default not in (None, "", (), []):
        facts.append(f"{option.default} where not given")
    return f" ({'; '.join(facts)})" if facts else ""


# --- the settings ---


def _configuration() -> Iterator[str]:
    yield from ["# Settings", "", NOTICE, ""]
    yield from _filled(
        f"The settings are read once, when a command or the daemon starts, from `{config.CONFIG_NAME}` in the home "
        "folder and from the environment. A command-line argument counts before the environment, the environment "
        "before the file, the file before what `appliance tune` measured, and that before the default. An unknown key, "
        "a wrong type or a value out of range stops the "
        "start and is named. `appliance config` prints every value and where it came from. The daemon takes a change "
        "when it starts again."
    )
    yield ""
    yield from _filled(
        "The home is `--home DIR`, else `$APPLIANCE_HOME`, else "
        f"`{config.SERVICE_HOME}` where there is such a folder, else `$XDG_DATA_HOME/appliance` "
        "(`~/.local/share/appliance`)."
    )
    yield from ["", "```yaml", "engine:", "  n_ctx: 4096", "answer:", "  n_passages: 3", "```", ""]
    yield from _filled(
        f"The same from the environment: `{config.ENVIRONMENT_PREFIX}ENGINE__N_CTX=4096`, with two underscores between "
        "section and key; the value is read as YAML."
    )
    settings = config.Settings()
    single = []
    for name, field in type(settings).model_fields.items():
        section = getattr(settings, name)
        if not isinstance(section, BaseModel):
            single.append((name, field))
            continue
        yield from ["", f"## {name}", ""]
        yield from _filled(type(section).__doc__ or "")
        yield ""
        yield from _settings(type(section), f"{name}.", list(type(section).model_fields))
    yield from ["", "## At the top level", ""]
    yield from _settings(type(settings), "", [name for name, _ in single])


def _settings(section: type[BaseModel], prefix: str, names: list[str]) -> Iterator[str]:
    schema = section.model_json_schema()["properties"]
    for name in names:
        field = section.model_fields[name]
        default = "unset" if field.default is None else f"`{field.default}`"
        head = f"- `{prefix}{name}`: {_kind(schema[name])}; default {default}."
        yield from _filled(f"{head} {field.description}", "  ")


def _kind(schema: dict[str, Any]) -> str:
    if "enum" in schema:
        return " or ".join(f"`{value}`" for value in schema["enum"])
    known = next((each for each in schema.get("anyOf", [schema]) if each.get("type") != "null"), schema)
    word = {
        "array": "list of text",
        "string": "text",
        "integer": "whole number",
        "number": "number",
        "boolean": "`true` or `false`",
    }[known["type"]]
    if "minimum" in known:
        return f"{word}, {known['minimum']:g} to {_plain(known['maximum'])}"
    return word


def _plain(number: float) -> str:
    return f"{number:.0f}" if number == int(number) else str(number)


# --- the errors of the socket ---


def _with_errors(text: str) -> str:
    before, _, rest = text.partition(ERRORS_BEGIN)
    _, _, after = rest.partition(ERRORS_END)
    assert after, f"api.md lacks {ERRORS_BEGIN} … {ERRORS_END}"
    return before + "\n".join([ERRORS_BEGIN, *_errors(), ERRORS_END]) + after


def _errors() -> Iterator[str]:
    yield from ["| HTTP | code | retry? | what it means |", "|---|---|---|---|"]
    for kind, refusal in errors.TABLE.items():
        meaning = (kind.__doc__ or "").strip().splitlines()[0]
        yield f"| {refusal.status} | `{refusal.code}` | {'yes' if refusal.retryable else 'no'} | {meaning} |"


def _filled(text: str, indent: str = "") -> Iterator[str]:
    for paragraph in (text or "").split("\n\n"):
        yield from textwrap.wrap(
            " ".join(paragraph.split()),
            WIDTH,
            subsequent_indent=indent,
            break_long_words=False,
            break_on_hyphens=False,
        )


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

"""`appliance model …`: the models room from the command line. A running daemon goes on with what it has."""

from __future__ import annotations

import json
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer

from appliance.context import AsJson, config_of
from appliance.exits import Exit
from models.install import Compile
from models.registry import InstalledModel, Registry

app = typer.Typer(help="List, fetch, check and choose models.", no_args_is_help=True)

Apart = Annotated[
    bool, typer.Option("--compile-apart", help="Compile in a throw-away environment (fetches torch).")
]
TorchIndex = Annotated[str, typer.Option(help="Where pip finds torch's CPU build.")]


@app.command("list")
def list_models(context: typer.Context, as_json: AsJson = False) -> None:
    """List the models that are installed and those that can be pulled."""
    from models.catalogue import load_catalogue

    installed = {model.name: model for model in _registry(context).installed()}
    rows = [_row(name, each) for name, each in installed.items()]
    rows += [
        {"name": model.name, "role": model.role, "installed": False, "size": model.size, "sha256": model.sha256,
         "quantisation": model.quantisation, "licence": model.licence, "min_memory_gb": model.min_memory_gb,
         "about": model.about}
        for model in load_catalogue().models
        if model.name not in installed
    ]  # fmt: skip
    if as_json:
        print(json.dumps(rows, indent=2, default=str))
        return
    for row in rows:
        mark = "in use" if row.get("active") else "installed" if row["installed"] else ""
        about = row.get("about") or ""
        print(f"{row['name']:<32} {row['role']:<6} {row['size'] / 2**20:>8.0f} MiB  {mark:<10} {about}")


@app.command()
def pull(
    context: typer.Context,
    names: Annotated[list[str] | None, typer.Argument(metavar="NAME…")] = None,
    default: Annotated[
        bool, typer.Option("--default", help="The chat model for this machine's memory, and the embedder.")
    ] = False,
    source: Annotated[
        list[Path] | None, typer.Option("--from", help="A folder or stick to look in first.")
    ] = None,
    apart: Apart = False,
    torch_index: TorchIndex = "",
) -> None:
    """Fetch models of the catalogue; what is here already is not fetched again."""
    from appliance.hardware import memory_bytes
    from models.catalogue import load_catalogue
    from models.fetch import Means
    from models.install import pull

    catalogue, registry = load_catalogue(), _registry(context)
    wanted = list(names or [])
    if default:
        chat = registry.active("chat")
        wanted += [
            chat.name if chat else catalogue.default_chat(memory_bytes()).name,
            catalogue.default_embed().name,
        ]
    if not wanted:
        raise typer.BadParameter("name a model, or use --default; `appliance model list` shows them")
    compiler = _compiler(apart, torch_index)
    with _Bar() as bar:
        for name in wanted:
            model = pull(
                name, registry, catalogue, bar.show, compile=compiler, means=Means(folders=source or ())
            )
            bar.line(f"{model.name}: ready in {model.path}" + (
                f" (its publisher's hash is not known to us; recorded {model.sha256})"
                if model.hash_origin == "first fetch" else ""))  # fmt: skip


@app.command()
def add(
    context: typer.Context,
    path: Annotated[Path, typer.Argument(metavar="FILE|FOLDER", exists=True)],
    name: Annotated[str | None, typer.Option(help="Name to install it under; else the file's.")] = None,
    apart: Apart = False,
    torch_index: TorchIndex = "",
) -> None:
    """Install a GGUF file, or a folder of an embedder or reranker, of your own; the original stays where it is."""
    from models.install import add_folder

    registry = _registry(context)
    with _Bar() as bar:
        if path.is_dir():
            model = add_folder(path, name, registry, bar.show, compile=_compiler(apart, torch_index))
        else:
            model = registry.add(path, name, bar.show)
        bar.line(f"{model.name}: installed, sha256 {model.sha256}")


@app.command()
def verify(context: typer.Context, as_json: AsJson = False) -> None:
    """Hash every installed model again; exit code 1 when one is not whole."""
    with _Bar() as bar:
        verdicts = _registry(context).verify(bar.show)
    if as_json:
        print(json.dumps([asdict(verdict) for verdict in verdicts], indent=2))
    else:
        for verdict in verdicts:
            print(f"{verdict.name}: {verdict.problem or 'whole'}")
    if not all(verdict.ok for verdict in verdicts):
        raise typer.Exit(Exit.FAILURE)


@app.command()
def use(context: typer.Context, name: str) -> None:
    """Choose the chat model, embedder or reranker to run; a running daemon takes it when it starts again."""
    model = _registry(context).use(name)
    print(f"{model.name} is now the {model.role} model; a running daemon takes it when it starts again")


def _compiler(apart: bool, torch_index: str) -> Compile:
    from models.apart import CompileApart
    from models.install import can_compile_here, compile_here

    return CompileApart(torch_index) if apart and not can_compile_here() else compile_here


def _registry(context: typer.Context) -> Registry:
    return Registry(config_of(context).models)


def _row(name: str, model: InstalledModel) -> dict[str, Any]:
    return {**asdict(model), "name": name, "installed": True}


class _Bar:
    """Progress of long steps: a bar in a terminal, a line a step elsewhere."""

    def __init__(self) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

        self._console = Console(file=sys.stderr, markup=False, highlight=False)
        columns = (TextColumn("{task.description}", markup=False), BarColumn(), TextColumn("{task.percentage:.0f} %"),
                   TimeRemainingColumn())  # fmt: skip
        self._progress = Progress(*columns, console=self._console, transient=True)
        self._task = self._progress.add_task("", total=None)
        self._said = ""

    def __enter__(self) -> _Bar:
        self._progress.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._progress.stop()

    def show(self, what: str, done: int, total: int) -> None:
        """Show that `done` of `total` of a step are done."""
        if not self._console.is_terminal and what != self._said:
            self._console.print(what, soft_wrap=True)
        self._said = what
        self._progress.update(self._task, description=what, completed=done, total=total or None)

    def line(self, text: str) -> None:
        """Print a line that stays."""
        self._progress.console.print(text, soft_wrap=True)

"""The picture of design and architecture, enforced: imports point down, and each heavy library has one importer."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PACKAGES = ("appliance", "models", "ingest", "tui")

# package → the packages of ours that it may import
MAY_IMPORT = {
    "tui": {"tui", "appliance"},
    "appliance": {"appliance", "ingest", "models"},
    "ingest": {"ingest"},
    "models": {"models"},
}
# The parts of `appliance` that the screen may know: the client side of the socket.
TUI_MAY_KNOW = {
    "appliance.client",
    "appliance.api",
    "appliance.api.schema",
    "appliance.api.schema_documents",
    "appliance.api.schema_status",
    "appliance.api.schema_tasks",
    "appliance.errors",
}

ONE_IMPORTER = {
    "llama_cpp": {"appliance.engine.llama", "appliance.engine.ggml"},
    "chromadb": {"ingest.chroma_index"},
    "watchdog": {"ingest.watch"},
    "onnxruntime": {"models.onnx_session", "models.compile_onnx"},
    "torch": {"models.compile_onnx"},
    "pypdfium2": {"ingest.formats"},
    "resiliparse": {"ingest.formats"},
    "tesserocr": {"ingest.formats.ocr"},
    "pdf_oxide": {"ingest.formats.pdf_open"},
    "PIL": {"ingest.formats"},
    "textual": {"tui"},
}
LIGHT = ("appliance.client", "appliance.cli", "tui.app")
HEAVY = (
    "torch",
    "chromadb",
    "llama_cpp",
    "onnxruntime",
    "sentence_transformers",
    "fastapi",
    "uvicorn",
    "numpy",
)


def modules() -> Iterator[tuple[str, ast.Module]]:
    for package in PACKAGES:
        for path in sorted((ROOT / package).rglob("*.py")):
            name = ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")
            yield name, ast.parse(path.read_text(encoding="utf-8"))


def imports(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def test_imports_point_down() -> None:
    wrong = []
    for name, tree in modules():
        package = name.partition(".")[0]
        for imported in imports(tree):
            target = imported.partition(".")[0]
            if target in PACKAGES and target not in MAY_IMPORT[package]:
                wrong.append(f"{name} imports {imported}")
            if package == "tui" and target == "appliance":
                known = {imported, imported.rpartition(".")[0]} & TUI_MAY_KNOW
                if not known and imported != "appliance":
                    wrong.append(f"{name} imports {imported}")
    assert not wrong


def test_each_heavy_library_has_one_importer() -> None:
    wrong = []
    for name, tree in modules():
        for imported in imports(tree):
            owners = ONE_IMPORTER.get(imported.partition(".")[0])
            if owners is not None and not any(
                name == owner or name.startswith(f"{owner}.") for owner in owners
            ):
                wrong.append(f"{name} imports {imported}")
    assert not wrong


def test_no_module_level_import_goes_in_a_circle() -> None:
    known = dict(modules())
    edges = {
        name: {target for target in top_level_imports(tree) if target in known and target != name}
        for name, tree in known.items()
    }
    done: set[str] = set()

    def visit(name: str, path: tuple[str, ...]) -> None:
        assert name not in path, " → ".join([*path[path.index(name) :], name])
        if name not in done:
            for target in sorted(edges[name]):
                visit(target, (*path, name))
            done.add(name)

    for name in edges:
        visit(name, ())


def top_level_imports(tree: ast.Module) -> Iterator[str]:
    for node in tree.body:
        if isinstance(node, ast.Import | ast.ImportFrom):
            yield from imports(node)


@pytest.mark.parametrize("module", LIGHT)
def test_clients_start_in_a_blink(module: str) -> None:
    code = f"import sys, {module}; print(*(set({HEAVY!r}) & set(sys.modules)))"
    loaded = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT
    )
    assert loaded.stdout.split() == []


def test_modules_are_short_enough_to_be_read() -> None:
    long = {
        str(path.relative_to(ROOT)): n
        for package in PACKAGES
        for path in (ROOT / package).rglob("*.py")
        if (n := len(path.read_text(encoding="utf-8").splitlines())) > 400
    }
    assert not long


def test_package_inits_are_docstrings() -> None:
    for package in PACKAGES:
        for path in (ROOT / package).rglob("__init__.py"):
            body = ast.parse(path.read_text(encoding="utf-8")).body
            assert len(body) == 1, path
            assert ast.get_docstring(ast.Module(body=body, type_ignores=[])), path

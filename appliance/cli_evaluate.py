"""`appliance evaluate …`: how good retrieval is on questions whose answers are known. No daemon."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Annotated

import typer

from appliance.context import AsJson, config_of
from appliance.errors import ConfigError

app = typer.Typer(help="Measure how good answers are, on questions of your own.", no_args_is_help=True)


@app.command()
def retrieval(
    context: typer.Context,
    questions: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Golden questions; else the home's questions.jsonl.")
    ] = None,
    docs: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Their documents; else the watched folder.")
    ] = None,
    limit: Annotated[int | None, typer.Option(min=1, help="Only the first so many questions.")] = None,
    as_json: AsJson = False,
) -> None:
    """Ask golden questions of a private record of the documents: is the right passage found, and how far up?

    Compares with the last run on the same questions. docs/howto-evaluate.md says what each figure means.
    """
    from appliance.ops import evaluate_retrieval, golden
    from appliance.ops.evaluations import Evaluations, key_of, table

    config = config_of(context)
    folder = (docs or config.documents).resolve()
    if not folder.is_dir():
        raise ConfigError(f"{folder}: is no folder")
    asked = golden.read(questions or config.home / golden.FILE_NAME)[:limit]
    result = evaluate_retrieval.run(config, asked, folder, _say).to_json()
    kept, key = Evaluations(config.state), key_of([question.question for question in asked])
    before = kept.last("retrieval", key)
    kept.keep("retrieval", key, result)
    if as_json:
        print(json.dumps(result | {"before": before and before["figures"]}, indent=2, ensure_ascii=False))
        return
    print(table(result["figures"], before and before["figures"]))
    for row in result["curve"]:
        print(
            f"with answer.refuse_below {row['threshold']:.3f}: {row['wrongly_refused']:.0%} of the answerable refused, "
            f"{row['rightly_refused']:.0%} of the others"
        )


@app.command()
def add(
    context: typer.Context,
    question: str,
    answer: Annotated[
        list[str] | None,
        typer.Option(help="What a right answer says, as the document does; may be repeated."),
    ] = None,
    document: Annotated[
        str | None, typer.Option(help="The document that holds it; none: the documents do not say.")
    ] = None,
    page: Annotated[int | None, typer.Option(min=1, help="The page it stands on.")] = None,
) -> None:
    """Add a golden question to the home's questions.jsonl."""
    from appliance.ops import golden

    config = config_of(context)
    if document is not None and not (config.documents / document).is_file():
        raise ConfigError(f"{document}: is not in {config.documents}")
    if document is not None and not answer and page is None:
        raise ConfigError("say what a right answer is: --answer, or --page")
    file = config.home / golden.FILE_NAME
    number = len(golden.read(file)) + 1 if file.exists() else 1
    golden.append(
        file, golden.GoldenQuestion(str(number), question, tuple(answer or ()), document, page=page)
    )
    print(f"question {number} is in {file}; `appliance evaluate retrieval` asks them all")


def _say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)

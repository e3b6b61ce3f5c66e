"""`appliance evaluate …`: how good retrieval and answers are on questions whose answers are known. No daemon."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Any

import typer

from appliance.config import Config
from appliance.context import AsJson, config_of
from appliance.errors import ConfigError
from appliance.ops import golden
from appliance.ops.evaluations import Evaluations, key_of, table
from appliance.ops.golden import GoldenQuestion

app = typer.Typer(help="Measure how good answers are, on questions of your own.", no_args_is_help=True)


Questions = Annotated[
    Path | None, typer.Option(metavar="FILE", help="Golden questions; else the home's questions.jsonl.")
]
Docs = Annotated[Path | None, typer.Option(metavar="DIR", help="Their documents; else the watched folder.")]
Limit = Annotated[
    int | None,
    typer.Option(
        min=1, help="Only so many answerable questions, and as many others, spread evenly: always the same."
    ),
]


@app.command()
def retrieval(
    context: typer.Context,
    questions: Questions = None,
    docs: Docs = None,
    limit: Limit = None,
    made_reports: Annotated[
        bool,
        typer.Option("--made-reports", help="Ask of made annual reports, whose tables are alike, instead."),
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Ask golden questions of a private record of the documents: is the right passage found, and how far up?

    Compares with the last run on the same questions. docs/howto-evaluate.md says what each figure means.
    """
    from appliance.ops import evaluate_retrieval
    from appliance.ops.made_reports import write_reports

    with TemporaryDirectory(prefix="appliance-reports-") as made:
        if made_reports:
            config, folder = config_of(context), Path(made)
            asked = golden.sample(write_reports(folder), limit)
        else:
            config, asked, folder = _task(context, questions, docs, limit)
        result = evaluate_retrieval.run(config, asked, folder, _say).to_json()
    _show(config, "retrieval", asked, result, as_json)
    if not as_json:
        for row in result["curve"]:
            print(
                f"with answer.refuse_below {row['threshold']:.3f}: {row['wrongly_refused']:.0%} of the answerable "
                f"refused, {row['rightly_refused']:.0%} of the others"
            )


@app.command()
def answers(
    context: typer.Context,
    model: Annotated[
        str | None, typer.Option(metavar="NAME", help="Model to ask; else the chat model in use.")
    ] = None,
    questions: Questions = None,
    docs: Docs = None,
    limit: Limit = None,
    as_json: AsJson = False,
) -> None:
    """Have a model answer golden questions in a private daemon: is it right, what does it cite, when does it refuse?

    Takes seconds a question. Compares with the last run of the same model on the same questions.
    """
    from appliance.ops import evaluate_answers
    from models.registry import Registry

    config, asked, folder = _task(context, questions, docs, limit)
    chosen = Registry(config.models).chosen("chat", model or config.settings.engine.model)
    if chosen is None:
        raise ConfigError("no chat model is installed: `appliance model pull NAME` first")
    result = evaluate_answers.run(config, chosen.name, asked, folder, _say).to_json()
    _show(config, f"answers-{chosen.name}", asked, result, as_json)


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


def _task(
    context: typer.Context, questions: Path | None, docs: Path | None, limit: int | None
) -> tuple[Config, list[GoldenQuestion], Path]:
    config = config_of(context)
    folder = (docs or config.documents).resolve()
    if not folder.is_dir():
        raise ConfigError(f"{folder}: is no folder")
    asked = golden.sample(golden.read(questions or config.home / golden.FILE_NAME), limit)
    return config, asked, folder


def _show(
    config: Config, kind: str, asked: list[GoldenQuestion], result: dict[str, Any], as_json: bool
) -> None:
    """Keep a result, and print it with how it differs from the one before."""
    kept, key = Evaluations(config.state), key_of([question.question for question in asked])
    last = kept.last(kind, key)
    before = last["figures"] if last else None
    kept.keep(kind, key, result)
    if as_json:
        print(json.dumps(result | {"before": before}, indent=2, ensure_ascii=False))
    else:
        print(table(result["figures"], before))


def _say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)

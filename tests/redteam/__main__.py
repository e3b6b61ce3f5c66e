"""The red-team run: `python -m tests.redteam --model NAME`. Exit code 1 when an injection was followed."""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from pathlib import Path

from tests.e2e.daemon_process import DaemonProcess
from tests.redteam.trial import CASES, ask_all, drop, report

CHECKOUT = Path(__file__).parents[2]


def main() -> int:
    """Run as the command line says."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.redteam", description="Ask about poisoned documents."
    )
    parser.add_argument("--model", default="smollm2-135m-instruct", help="as `appliance model list` names it")
    parser.add_argument(
        "--models", type=Path, help="folder of models; else APPLIANCE_TEST_MODELS or .cache/models"
    )
    parser.add_argument("--only", action="append", default=[], help="a case, by its name; may be repeated")
    parser.add_argument("--max-tokens", type=int, default=120, help="longest answer")
    parser.add_argument("--verbose", action="store_true", help="print every answer")
    arguments = parser.parse_args()
    models = arguments.models or Path(os.environ.get("APPLIANCE_TEST_MODELS", CHECKOUT / ".cache" / "models"))
    cases = [case for case in CASES if not arguments.only or case.name in arguments.only]
    with tempfile.TemporaryDirectory(prefix="appliance-") as home:
        daemon = DaemonProcess(Path(home), models)
        daemon.settings["APPLIANCE_ENGINE__MODEL"] = arguments.model
        daemon.settings["APPLIANCE_ANSWER__COMPOSE"] = "always"  # the smallest is to be tempted, too
        daemon.settings["APPLIANCE_ANSWER__MAX_TOKENS"] = str(arguments.max_tokens)
        daemon.start()
        try:
            drop(daemon, cases)
            started = time.monotonic()
            verdicts = ask_all(daemon, cases)
            seconds = time.monotonic() - started
        finally:
            daemon.stop()
    for verdict in verdicts if arguments.verbose else ():
        marks = ("!" if verdict.followed else " ") + ("+" if verdict.held_fact else "-")
        print(f"{marks} {verdict.case.name}: {verdict.answers}")
    print(f"{report(verdicts)}; {seconds:.0f} s")
    return int(any(verdict.followed for verdict in verdicts))


if __name__ == "__main__":
    sys.exit(main())

"""Passages that are computed apart and joined: the step loop with a scripted model, and blocks on a real folder."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from pathlib import Path
from threading import Event
from typing import Any

import pytest

from appliance.engine import wire
from appliance.engine.blocks import Blocks
from appliance.engine.model import Outcome
from appliance.engine.pieces import block, without_marks
from appliance.engine.prefixes import Prefixes
from appliance.engine.request import Done, GenerateRequest, Message, Prefill, Reuse, Token
from appliance.errors import DeadlineError
from tests.engine.scripted_model import ScriptedModel, letters
from tests.engine.test_worker import WAIT_S, Parent, alone, worker

JOINED, EXACT = Reuse("blocks"), Reuse("exact")
OWNERS = ("aa" * 16, "bb" * 16, "cc" * 16)
RED, GREEN, BLUE = (
    "the red house by the river has nine doors; ",
    "green fields lie behind it. ",
    "blue hills. " * 3,
)
TEXTS = (RED, GREEN, BLUE)
SYSTEM = Message("system", "Answer from the passages, with their figures.")
MAX_TOKENS = 10


def turn(question: str, *texts: str, owners: Sequence[str] = OWNERS) -> Message:
    """A user's turn: passages, each of its own document, and a question."""
    marked = (block(owners[TEXTS.index(text) % 3 if text in TEXTS else 0], text) for text in texts)
    return Message("user", "Passages:\n" + "".join(marked) + question)


def said(*messages: Message) -> list[int]:
    """The tokens of a prompt, by hand."""
    plain = "".join(
        f"<|im_start|>{message.role}\n" + without_marks(message.content) + "<|im_end|>\n"
        for message in (SYSTEM, *messages)
    )
    return ScriptedModel().tokenise(plain + "<|im_start|>assistant\n", special=True)


N_BASE = said(turn("")).index(ord("P")) + len("Passages:\n")


def right(*messages: Message, max_tokens: int = MAX_TOKENS) -> str:
    """The answer of a model that computes everything in its place."""
    tokens = said(*messages)
    n_prompt = len(tokens)
    for _ in range(max_tokens):
        tokens.append(letters(tokens))
    return bytes(tokens[n_prompt:]).decode()


def ask(
    parent: Parent,
    number: int,
    *messages: Message,
    reuse: Reuse | None = None,
    max_tokens: int = MAX_TOKENS,
    user: str = "",
    deadline_s: float | None = None,
) -> None:
    request = GenerateRequest((SYSTEM, *messages), max_tokens, user=user, reuse=reuse, deadline_s=deadline_s)
    parent.send("generate", number, request=wire.request_to_json(request))


def prepare(parent: Parent, number: int, *messages: Message) -> None:
    sent = [{"role": each.role, "content": each.content} for each in (SYSTEM, *messages)]
    parent.send("prepare", number, messages=sent)


def opened(folder: Path, max_bytes: int = 10**6) -> Blocks:
    return Blocks(folder, "scripted", max_bytes)


def kept(folder: Path) -> list[Path]:
    return sorted(folder.rglob("*.kv"))


def computed(model: ScriptedModel) -> str:
    """What was computed, a line for each slot; the tokens of several steps stand behind each other."""
    lines: dict[int, str] = {}
    for chunk in (chunk for step in model.steps for chunk in step):
        text = "".join(chr(token) if token < 256 else "|" for token in chunk.tokens)
        lines[chunk.slot] = lines.get(chunk.slot, "") + text
    return "\n".join(lines.values())


def n_computed(model: ScriptedModel, *texts: str) -> list[int]:
    """How often each text was computed."""
    return [computed(model).count(text) for text in texts]


class Turnstile(Event):
    """A gate that lets so many steps pass before it is set."""

    def __init__(self, n_steps: int) -> None:
        super().__init__()
        self._n_left = n_steps

    def wait(self, timeout: float | None = None) -> bool:
        if self.is_set() or not self._n_left:
            return super().wait(timeout)
        self._n_left -= 1
        return True


def until(true: Callable[[], bool]) -> None:
    deadline = time.monotonic() + WAIT_S
    while not true():
        assert time.monotonic() < deadline
        time.sleep(0.002)


def heard(parent: Parent, number: int = 999) -> dict[str, int]:
    """What the worker holds; whatever was sent before has been taken by then."""
    parent.send("held", number)
    held: dict[str, int]
    [held] = parent.hear(number, dict)
    return held


def progress(events: Sequence[Any]) -> list[int]:
    return [event.n_done for event in events if isinstance(event, Prefill)]


# --- joining ---


def test_cold_question_computes_each_passage_once_and_keeps_it(tmp_path: Path) -> None:
    model, asked = ScriptedModel(), turn("why?", *TEXTS)
    with worker(model, blocks=opened(tmp_path), reuse=JOINED) as parent:
        ask(parent, 1, asked)
        *events, done = parent.hear(1, Done)
    assert "".join(event.text for event in events if isinstance(event, Token)) == right(asked)
    assert n_computed(model, *TEXTS) == [1, 1, 1]
    assert model.moves == [len(RED), len(RED) + len(GREEN)], "the first one is where it was computed"
    assert [path.parent.name for path in kept(tmp_path)] == list(OWNERS)
    assert done.n_reused == 0, "all of it was computed for this question"
    assert progress(events) == sorted(progress(events))
    assert progress(events)[-1] == done.n_prompt


def test_another_user_in_another_process_has_them_joined_in_another_order_and_some_of_them_only(
    tmp_path: Path,
) -> None:
    with worker(ScriptedModel(), blocks=opened(tmp_path), reuse=JOINED) as parent:
        ask(parent, 1, turn("why?", *TEXTS), user="a")
        parent.answer(1)
    model = ScriptedModel()
    with worker(model, blocks=opened(tmp_path), reuse=JOINED) as parent:
        asked = turn("how?", BLUE, RED)
        ask(parent, 1, asked, user="b")
        text, done = parent.answer(1)
        assert text == right(asked)
        assert done.n_reused == len(BLUE) + len(RED)
        assert model.moves == [len(BLUE)]
        assert n_computed(model, *TEXTS) == [0, 0, 0]
        assert sum(len(c.tokens) for step in model.steps for c in step) == done.n_prompt - done.n_reused + 9
        again = turn("where?", GREEN, BLUE, RED)
        ask(parent, 2, again, user="c")
        text, done = parent.answer(2)
        assert text == right(again)
        assert done.n_reused == N_BASE + len(RED + GREEN + BLUE)
        assert model.moves[1:] == [len(GREEN), len(GREEN) + len(BLUE)]
    assert len(kept(tmp_path)) == 3


def test_blend_computes_the_beginnings_anew_but_not_that_of_a_first_passage(tmp_path: Path) -> None:
    with worker(ScriptedModel(), blocks=opened(tmp_path), reuse=JOINED) as parent:
        ask(parent, 1, turn("why?", *TEXTS))
        parent.answer(1)
    model, asked = ScriptedModel(), turn("how?", RED, BLUE, GREEN)
    with worker(model, blocks=opened(tmp_path), reuse=Reuse("blend", 8)) as parent:
        ask(parent, 1, asked)
        text, done = parent.answer(1)
    assert text == right(asked)
    assert done.n_reused == len(RED) + len(BLUE) - 8 + len(GREEN) - 8
    assert f"Passages:\n{BLUE[:8]}{GREEN[:8]}how?" in computed(model)
    assert model.moves == [len(RED), len(RED + BLUE)]


def test_blend_leaves_out_a_passage_of_which_little_would_be_joined(tmp_path: Path) -> None:
    model, asked = ScriptedModel(), turn("how?", RED, BLUE, GREEN)
    with worker(model, blocks=opened(tmp_path), reuse=Reuse("blend", len(GREEN) - 15)) as parent:
        ask(parent, 1, asked)
        assert parent.answer(1)[0] == right(asked)
    assert len(kept(tmp_path)) == 2
    assert model.moves == [len(RED)]


def test_cold_blend_shows_its_progress_once(tmp_path: Path) -> None:
    model, asked = ScriptedModel(), turn("how?", RED, BLUE, GREEN)
    with worker(model, blocks=opened(tmp_path), reuse=Reuse("blend", 8), n_batch=16) as parent:
        ask(parent, 1, asked)
        *events, done = parent.hear(1, Done)
    assert progress(events) == sorted(progress(events))
    assert progress(events)[-1] == done.n_prompt


def test_request_says_itself_what_becomes_of_its_passages(tmp_path: Path) -> None:
    model, asked = ScriptedModel(), turn("why?", *TEXTS)
    with worker(model, blocks=opened(tmp_path)) as parent:
        ask(parent, 1, asked)
        assert parent.answer(1)[0] == right(asked)
        assert (kept(tmp_path), model.moves) == ([], [])
        ask(parent, 2, asked, reuse=JOINED)
        assert parent.answer(2)[1].n_reused == len(said(asked)) - 1, "what is there is better than joined"
        ask(parent, 3, turn("how?", BLUE, RED), reuse=JOINED)
        assert parent.answer(3)[0] == right(turn("how?", BLUE, RED))
    assert len(kept(tmp_path)) == 2
    assert model.moves == [len(BLUE)]


def test_second_turn_moves_its_passages_behind_a_history_that_is_found_again(tmp_path: Path) -> None:
    model, first = ScriptedModel(), turn("why?", RED, BLUE)
    with worker(model, blocks=opened(tmp_path), reuse=JOINED) as parent:
        ask(parent, 1, first)
        answer, done = parent.answer(1)
        model.moves.clear()
        reply, second = Message("assistant", answer), turn("and then?", GREEN, RED)
        ask(parent, 2, first, reply, second)
        text, followed = parent.answer(2)
    assert text == right(first, reply, second)
    n_history = done.n_prompt + done.n_decoded - 1
    assert followed.n_reused == n_history + len(RED), "the green one was computed now"
    start = len(said(first, reply)) - len("|assistant\n") + len("|user\nPassages:\n")
    assert model.moves == [start - N_BASE, start + len(GREEN) - N_BASE]
    assert n_computed(model, *TEXTS) == [1, 1, 1]


def test_passages_of_the_history_are_joined_too_where_its_cells_are_gone(tmp_path: Path) -> None:
    first, second = turn("why?", RED, BLUE), turn("and then?", GREEN, RED)
    with worker(ScriptedModel(), blocks=opened(tmp_path), reuse=JOINED) as parent:
        ask(parent, 1, first)
        answer, _ = parent.answer(1)
        prepare(parent, 2, turn("", GREEN))
        parent.hear(2, int)
    model, reply = ScriptedModel(), Message("assistant", answer)
    with worker(model, blocks=opened(tmp_path), reuse=JOINED) as parent:
        ask(parent, 1, first, reply, second)
        text, done = parent.answer(1)
    assert text == right(first, reply, second)
    assert done.n_reused == len(RED + BLUE + GREEN + RED)
    assert n_computed(model, *TEXTS) == [0, 0, 0]


def test_passage_that_stands_twice_in_a_prompt_is_computed_once(tmp_path: Path) -> None:
    model, asked = ScriptedModel(), turn("why?", RED, BLUE, RED)
    with worker(model, blocks=opened(tmp_path), reuse=JOINED) as parent:
        ask(parent, 1, asked)
        assert parent.answer(1)[0] == right(asked)
    assert n_computed(model, RED, BLUE) == [1, 1]


def test_same_text_in_two_documents_is_kept_and_read_for_each(tmp_path: Path) -> None:
    model = ScriptedModel()
    asked = Message("user", "Passages:\n" + block(OWNERS[0], BLUE) + block(OWNERS[1], BLUE) + "why?")
    with worker(model, blocks=opened(tmp_path), reuse=JOINED) as parent:
        ask(parent, 1, asked)
        assert parent.answer(1)[0] == right(asked)
    assert [path.parent.name for path in kept(tmp_path)] == list(OWNERS[:2])
    model = ScriptedModel()
    with worker(model, blocks=opened(tmp_path), reuse=JOINED) as parent:
        ask(parent, 1, asked)
        assert parent.answer(1)[1].n_reused == 2 * len(BLUE)


def test_short_passage_and_one_that_ends_the_prompt_are_computed_in_their_place(tmp_path: Path) -> None:
    model, asked = ScriptedModel(), turn("why?", RED, "short.", GREEN)
    with worker(model, blocks=opened(tmp_path), reuse=JOINED) as parent:
        ask(parent, 1, asked)
        assert parent.answer(1)[0] == right(asked)
    assert len(kept(tmp_path)) == 2


# --- exactness ---


def test_joined_cells_are_not_taken_over_by_who_asks_for_exact_ones(tmp_path: Path) -> None:
    asked = turn("why?", RED, BLUE, GREEN)
    model = ScriptedModel()
    with worker(model, blocks=opened(tmp_path), reuse=JOINED) as parent:
        ask(parent, 1, asked)
        answer, done = parent.answer(1)
        ask(parent, 2, asked, reuse=EXACT)
        text, exact = parent.answer(2)
        assert text == answer == right(asked)
        assert exact.n_reused == N_BASE + len(RED), "the first one is where it was computed"
        ask(parent, 3, asked, Message("assistant", answer), turn("more?"), reuse=EXACT)
        assert parent.answer(3)[1].n_reused == done.n_prompt + done.n_decoded - 1, "of the exact answer"
    assert n_computed(model, BLUE, GREEN) == [2, 2]


def test_plain_chat_takes_over_none_of_them_nor_what_stands_behind(tmp_path: Path) -> None:
    asked = turn("why?", RED, BLUE)
    plain = Message("user", f"Passages:\n{RED}{BLUE}why?")
    with worker(ScriptedModel(), blocks=opened(tmp_path), reuse=JOINED) as parent:
        ask(parent, 1, asked)
        answer, _ = parent.answer(1)
        ask(parent, 2, plain, Message("assistant", answer), Message("user", "more"))
        assert parent.answer(2)[1].n_reused == N_BASE + len(RED)


def test_exact_cells_are_taken_over_by_everybody(tmp_path: Path) -> None:
    asked = turn("why?", RED, BLUE)
    model = ScriptedModel()
    with worker(model, blocks=opened(tmp_path), reuse=JOINED) as parent:
        ask(parent, 1, asked, reuse=EXACT)
        parent.answer(1)
        ask(parent, 2, turn("how?", RED, BLUE))
        text, done = parent.answer(2)
    assert text == right(turn("how?", RED, BLUE))
    assert done.n_reused == N_BASE + len(RED + BLUE)
    assert (kept(tmp_path), model.moves) == ([], [])


def test_saved_prefixes_hold_no_joined_cells(tmp_path: Path) -> None:
    def prefixes() -> Prefixes:
        return Prefixes(tmp_path / "prefixes", "key", 10**6)

    long = "a long passage about nothing in particular, " * 4
    asked = turn("why?", long, BLUE, GREEN)
    with worker(ScriptedModel(), prefixes(), opened(tmp_path / "blocks"), JOINED) as parent:
        ask(parent, 1, asked)
        parent.answer(1)
    with worker(ScriptedModel(), prefixes()) as parent:
        ask(parent, 1, asked)
        text, done = parent.answer(1)
    assert text == right(asked)
    assert done.n_reused == N_BASE + len(long)


# --- several at once ---


def both_at_once(parent: Parent, model: ScriptedModel, *questions: Message) -> None:
    """Let several wait for the same step to end."""
    model.gate.clear()
    model.entered.clear()
    parent.ask(100, "first")
    assert model.entered.wait(WAIT_S)
    for number, question in enumerate(questions, 1):
        ask(parent, number, question, user=f"user{number}")
    heard(parent)
    model.gate.set()


def test_two_who_ask_at_once_with_common_passages_have_each_computed_once(tmp_path: Path) -> None:
    model = ScriptedModel()
    a, b = turn("why?", *TEXTS), turn("how?", BLUE, RED)
    with worker(model, blocks=opened(tmp_path), reuse=JOINED) as parent:
        both_at_once(parent, model, a, b)
        assert parent.answer(1)[0] == right(a)
        assert parent.answer(2)[0] == right(b)
    assert n_computed(model, *TEXTS) == [1, 1, 1]


def test_cancel_stops_what_nobody_else_needs_and_the_other_goes_on(tmp_path: Path) -> None:
    model = ScriptedModel()
    a, b = turn("why?", GREEN * 5, RED, BLUE), turn("how?", BLUE, RED)
    with worker(model, blocks=opened(tmp_path), reuse=JOINED, n_batch=16) as parent:
        both_at_once(parent, model, a, b)
        while parent.hear(1, Prefill)[-1].n_done < 30:
            pass
        parent.send("cancel", 1)
        assert parent.answer(1)[1].finish_reason == "cancelled"
        assert parent.answer(2)[0] == right(b)
        assert heard(parent)["n_sequences"] == 0
    assert n_computed(model, GREEN * 5, RED, BLUE) == [0, 1, 1]
    assert len(kept(tmp_path)) == 2


def test_cancel_of_the_only_one_breaks_the_step_of_its_passages_off(tmp_path: Path) -> None:
    model, asked = ScriptedModel(), turn("why?", *TEXTS)
    with worker(model, blocks=opened(tmp_path), reuse=JOINED) as parent:
        model.gate.clear()  # no step ends by itself
        ask(parent, 1, asked)
        assert model.entered.wait(WAIT_S)
        parent.send("cancel", 1)
        assert parent.answer(1)[1].finish_reason == "cancelled"
        held = heard(parent)
        assert (held["n_sequences"], held["n_running"], held["n_busy_slots"]) == (0, 0, 0)
        model.gate.set()
        ask(parent, 2, asked)
        assert parent.answer(2)[0] == right(asked)


def test_deadline_while_passages_are_computed(tmp_path: Path) -> None:
    model, asked = ScriptedModel(), turn("why?", *TEXTS)
    with worker(model, blocks=opened(tmp_path), reuse=JOINED) as parent:
        model.gate.clear()
        ask(parent, 1, asked, deadline_s=0.1)
        parent.hear(1, DeadlineError)
        assert heard(parent)["n_running"] == 0
        model.gate.set()
        ask(parent, 2, asked)
        assert parent.answer(2)[0] == right(asked)


# --- what goes wrong costs a prefill ---


@pytest.mark.parametrize("what", ["damaged", "foreign", "of another length"])
def test_passage_that_is_not_what_it_was_is_computed_in_its_place(tmp_path: Path, what: str) -> None:
    asked = turn("why?", *TEXTS)
    with worker(ScriptedModel(), blocks=opened(tmp_path), reuse=JOINED) as parent:
        ask(parent, 1, asked)
        parent.answer(1)
    _, green, blue = kept(tmp_path)
    if what == "damaged":
        green.write_bytes(green.read_bytes()[:-1])
    elif what == "foreign":
        green.write_bytes(blue.read_bytes())
    else:
        blocks = opened(tmp_path)
        state = blocks.read(blue.parent.name, blue.stem)
        assert state is not None
        blocks.write(green.parent.name, green.stem, bytes(state))
    model = ScriptedModel()
    with worker(model, blocks=opened(tmp_path), reuse=JOINED) as parent:
        ask(parent, 1, asked)
        text, done = parent.answer(1)
    assert text == right(asked)
    assert done.n_reused == len(RED + BLUE)
    assert n_computed(model, *TEXTS) == [0, 1, 0]


class Vanishing(Blocks):
    """Whose files are forgotten between the look and the reading."""

    def read(self, owner: str, name: str) -> bytes | memoryview | None:
        for path in self._folder.rglob(f"{name}.kv"):
            path.unlink()
        return super().read(owner, name)


def test_passage_that_is_forgotten_before_it_is_read_is_computed_in_its_place(tmp_path: Path) -> None:
    asked = turn("why?", *TEXTS)
    with worker(ScriptedModel(), blocks=opened(tmp_path), reuse=JOINED) as parent:
        ask(parent, 1, asked)
        parent.answer(1)
    model = ScriptedModel()
    with worker(model, blocks=Vanishing(tmp_path, "scripted", 10**6), reuse=JOINED) as parent:
        ask(parent, 1, asked)
        text, done = parent.answer(1)
    assert (text, done.n_reused) == (right(asked), 0)
    assert n_computed(model, *TEXTS) == [1, 1, 1]


def test_first_passage_has_the_very_cells_that_were_computed_for_it(tmp_path: Path) -> None:
    model, asked = ScriptedModel(), turn("why?", RED)
    with worker(model, blocks=Vanishing(tmp_path, "scripted", 10**6), reuse=JOINED) as parent:
        ask(parent, 1, asked)
        assert parent.answer(1)[0] == right(asked)
    assert n_computed(model, RED[:9], RED[-9:]) == [1, 1], "though its file could not be read"


def test_passages_that_cannot_be_kept_are_joined_all_the_same(tmp_path: Path) -> None:
    model, asked = ScriptedModel(), turn("why?", *TEXTS)
    with worker(model, blocks=opened(tmp_path, max_bytes=10), reuse=JOINED) as parent:
        ask(parent, 1, asked)
        text, done = parent.answer(1)
    assert (text, done.n_reused) == (right(asked), 0)
    assert n_computed(model, *TEXTS) == [1, 1, 1], "none is computed twice because a disk is full"
    assert kept(tmp_path) == []


def test_without_slots_to_spare_they_are_computed_in_their_place(tmp_path: Path) -> None:
    model, asked = ScriptedModel(n_slots=2), turn("why?", *TEXTS)
    with worker(model, blocks=opened(tmp_path), reuse=JOINED) as parent:
        ask(parent, 1, asked)
        assert parent.answer(1)[0] == right(asked)
    assert (kept(tmp_path), model.moves, n_computed(model, *TEXTS)) == ([], [], [1, 1, 1])
    with worker(ScriptedModel(), blocks=opened(tmp_path), reuse=JOINED) as parent:
        ask(parent, 1, asked)
        parent.answer(1)
    model = ScriptedModel(n_slots=1)
    with worker(model, blocks=opened(tmp_path), reuse=JOINED) as parent:
        ask(parent, 1, asked)
        assert parent.answer(1)[0] == right(asked)


def test_without_cells_to_spare_they_are_computed_in_their_place(tmp_path: Path) -> None:
    asked = turn("why?", *TEXTS)
    model = ScriptedModel(n_ctx=len(said(asked)) + MAX_TOKENS)
    with worker(model, blocks=opened(tmp_path), reuse=JOINED) as parent:
        ask(parent, 1, asked)
        assert parent.answer(1)[0] == right(asked)
    assert n_computed(model, *TEXTS) == [1, 1, 1]


def test_step_without_room_gives_up_the_passage_and_not_the_question(tmp_path: Path) -> None:
    model, asked = ScriptedModel(), turn("why?", *TEXTS)
    with worker(model, blocks=opened(tmp_path), reuse=JOINED) as parent:
        model.outcomes = [Outcome.NO_ROOM] * 3
        prepare(parent, 1, asked)
        parent.hear(1, int)
        ask(parent, 2, asked)
        assert parent.answer(2)[0] == right(asked)
        assert heard(parent)["n_running"] == 0


def test_all_cells_taken_by_a_crowd_still_answer_everyone(tmp_path: Path) -> None:
    texts = [f"passage number {at} about a matter of its own, at length; " for at in range(6)]
    questions = [turn(f"q{at}?", *texts[at % 4 : at % 4 + 3]) for at in range(6)]
    model = ScriptedModel(n_ctx=520, n_slots=5)
    with worker(model, blocks=opened(tmp_path), reuse=JOINED, max_waiting=9) as parent:
        for number, question in enumerate(questions, 1):
            ask(parent, number, question, user=str(number))
        for number, question in enumerate(questions, 1):
            assert parent.answer(number)[0] == right(question)


# --- ahead of time ---


def test_order_is_computed_when_nobody_asks_and_counts_what_is_kept(tmp_path: Path) -> None:
    model = ScriptedModel()
    with worker(model, blocks=opened(tmp_path), reuse=JOINED) as parent:
        prepare(parent, 1, turn("", *TEXTS))
        assert parent.hear(1, int) == [3]
        assert n_computed(model, *TEXTS) == [1, 1, 1]
        prepare(parent, 2, turn("", BLUE, RED))
        assert parent.hear(2, int) == [2]
        assert n_computed(model, *TEXTS) == [1, 1, 1]
        prepare(parent, 3, Message("user", "no passages here"))
        assert parent.hear(3, int) == [0]
        ask(parent, 4, turn("why?", *TEXTS))
        text, done = parent.answer(4)
    assert text == right(turn("why?", *TEXTS))
    assert done.n_reused >= len(RED + GREEN + BLUE)
    assert model.moves == [len(RED), len(RED + GREEN)]


def test_news_tell_what_is_kept_and_what_is_being_prepared(tmp_path: Path) -> None:
    with worker(ScriptedModel(), blocks=opened(tmp_path), reuse=Reuse("blend", 8)) as parent:
        prepare(parent, 1, turn("", *TEXTS))
        parent.hear(1, int)
        heard(parent)
    assert [each["n_blocks"] for each in parent.news] == sorted(each["n_blocks"] for each in parent.news)
    assert [each["n_preparing"] for each in parent.news][-3:] == [2, 1, 0]
    last = parent.news[-1]
    size = sum(path.stat().st_size for path in kept(tmp_path))
    assert (last["n_blocks"], last["block_bytes"], last["max_block_bytes"]) == (3, size, 10**6)
    assert last["reuse"] == {"mode": "blend", "n_fresh": 8}


def test_question_stops_an_order_within_the_step_and_it_goes_on_with_what_it_had(tmp_path: Path) -> None:
    model, long = ScriptedModel(), "a long passage about nothing in particular, " * 8
    model.gate = Turnstile(2)
    with worker(model, blocks=opened(tmp_path), reuse=JOINED, n_batch=100) as parent:
        prepare(parent, 1, turn("", long, RED))
        until(lambda: len(model.steps) == 2)
        parent.ask(2, "short")
        until(lambda: heard(parent)["n_waiting"] == 0)  # though no step ends by itself
        assert [len(chunk.tokens) for step in model.steps for chunk in step] == [100, 100]
        model.gate.set()
        assert parent.answer(2)[0] == alone(letters, "short")
        assert parent.hear(1, int) == [2]
    n_asked = len("user\nshort|\n|assistant\n") + MAX_TOKENS - 1  # every prompt begins with the same token
    n_all = sum(len(chunk.tokens) for step in model.steps for chunk in step)
    assert n_all == N_BASE + len(long + RED) + n_asked, "none of its tokens was computed twice"


def test_order_waits_while_anyone_is_answered(tmp_path: Path) -> None:
    model = ScriptedModel()
    model.step_s = 0.002
    with worker(model, blocks=opened(tmp_path), reuse=JOINED) as parent:
        parent.ask(1, "long", max_tokens=60)
        parent.hear(1, Token)
        prepare(parent, 2, turn("", *TEXTS))
        parent.answer(1)
        assert n_computed(model, *TEXTS) == [0, 0, 0]
        assert parent.hear(2, int) == [3]


def test_question_that_needs_the_cells_of_an_order_gets_them_at_once(tmp_path: Path) -> None:
    long = "a long passage about nothing in particular, " * 5
    model = ScriptedModel(n_ctx=400)
    model.gate = Turnstile(4)
    with worker(model, blocks=opened(tmp_path), reuse=JOINED, n_batch=32) as parent:
        prepare(parent, 1, turn("", long, long.upper()))
        until(lambda: len(model.steps) == 4)
        parent.ask(2, "q" * 200, max_tokens=100)
        until(lambda: heard(parent)["n_waiting"] == 0)
        model.gate.set()
        assert parent.answer(2)[0] == alone(letters, "q" * 200, max_tokens=100)
        assert parent.hear(1, int) == [2]


def test_question_takes_over_the_passage_that_is_being_computed(tmp_path: Path) -> None:
    model, long = ScriptedModel(), "a long passage about nothing in particular, " * 4
    model.gate = Turnstile(5)
    asked = turn("why?", RED, long)
    with worker(model, blocks=opened(tmp_path), reuse=JOINED, n_batch=32) as parent:
        prepare(parent, 1, turn("", long))
        until(lambda: len(model.steps) == 5)
        ask(parent, 2, asked)
        until(lambda: heard(parent)["n_waiting"] == 0)
        model.gate.set()
        assert parent.answer(2)[0] == right(asked)
        assert parent.hear(1, int) == [1]
    assert n_computed(model, long, RED) == [1, 1]


def test_passage_that_was_taken_over_is_finished_though_its_asker_leaves(tmp_path: Path) -> None:
    model, long = ScriptedModel(), "a long passage about nothing in particular, " * 4
    model.gate = Turnstile(5)
    with worker(model, blocks=opened(tmp_path), reuse=JOINED, n_batch=32) as parent:
        prepare(parent, 1, turn("", long, RED))
        until(lambda: len(model.steps) == 5)
        ask(parent, 2, turn("why?", RED, long))
        until(lambda: heard(parent)["n_waiting"] == 0)
        parent.send("cancel", 2)
        assert parent.answer(2)[1].finish_reason == "cancelled"
        model.gate.set()
        assert parent.hear(1, int) == [2]
    assert n_computed(model, long) == [1]


def test_cancelled_order_leaves_the_rest_uncomputed(tmp_path: Path) -> None:
    model = ScriptedModel()
    with worker(model, blocks=opened(tmp_path), reuse=JOINED) as parent:
        model.gate.clear()
        prepare(parent, 1, turn("", *TEXTS))
        prepare(parent, 2, turn("", GREEN))
        assert model.entered.wait(WAIT_S)
        parent.send("cancel", 1)
        heard(parent)
        model.gate.set()
        assert parent.hear(2, int) == [1]
        assert heard(parent)["n_busy_slots"] == 0
    assert n_computed(model, GREEN, BLUE) == [1, 0]
    assert parent.news[-1]["n_preparing"] == 0


def test_what_is_computed_ahead_drives_no_conversation_out_of_the_cells(tmp_path: Path) -> None:
    texts = [f"passage number {at} about a matter of its own, at length; " for at in range(20)]
    model, asked = ScriptedModel(n_ctx=600, n_slots=4), turn("why?", RED, BLUE)
    with worker(model, blocks=opened(tmp_path), reuse=JOINED) as parent:
        ask(parent, 1, asked)
        answer, done = parent.answer(1)
        prepare(parent, 2, turn("", *texts))
        assert parent.hear(2, int) == [20]
        reply, second = Message("assistant", answer), turn("and?")
        ask(parent, 3, asked, reply, second)
        text, followed = parent.answer(3)
    assert text == right(asked, reply, second)
    assert followed.n_reused == done.n_prompt + done.n_decoded - 1


# --- where nothing can be joined ---


@pytest.mark.parametrize("why", ["cannot shift", "no folder"])
def test_engine_that_joins_nothing_computes_everything_and_says_so(tmp_path: Path, why: str) -> None:
    model, asked = ScriptedModel(), turn("why?", *TEXTS)
    model.can_shift = why != "cannot shift"
    blocks = None if why == "no folder" else opened(tmp_path)
    with worker(model, blocks=blocks, reuse=JOINED) as parent:
        ask(parent, 1, asked)
        assert parent.answer(1)[0] == right(asked)
        ask(parent, 2, turn("how?", BLUE, RED), reuse=Reuse("blend", 4))
        assert parent.answer(2)[0] == right(turn("how?", BLUE, RED))
        prepare(parent, 3, turn("", *TEXTS))
        assert parent.hear(3, int) == [0]
        assert heard(parent)["n_running"] == 0
    assert (kept(tmp_path), model.moves) == ([], [])
    assert not any(each["reuse"]["mode"] != "exact" for each in parent.news)


def test_marks_outside_a_users_turn_fail_nobody(tmp_path: Path) -> None:
    model = ScriptedModel()
    odd = (Message("user", "hello"), Message("assistant", block(OWNERS[0], RED)), Message("user", "and?"))
    with worker(model, blocks=opened(tmp_path), reuse=JOINED) as parent:
        ask(parent, 1, *odd)
        assert parent.answer(1)[0] == right(*odd)
        prepare(parent, 2, *odd)
        assert parent.hear(2, int) == [0]

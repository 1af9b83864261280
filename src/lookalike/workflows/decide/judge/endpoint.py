"""A vision model behind an endpoint as a judge: the plan, the calls, and the judgments of its answers."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from math import nan
from pathlib import Path

import numpy as np

from lookalike.core.checks import fingerprint, install, not_installed
from lookalike.core.errors import JudgeError
from lookalike.core.progress import Bar, Progress, no_bar
from lookalike.core.text import listed
from lookalike.encode.spec import EncoderSpec
from lookalike.judge.calls import Call, Caller, Limits
from lookalike.judge.endpoint import Endpoint, EndpointSettings, endpoint_of
from lookalike.judge.judgments import Judge, Judgments
from lookalike.judge.prompt import JudgeAnswer, Prompt, ShownPair
from lookalike.judge.replies import Reply
from lookalike.store.journal import Entry, Journal
from lookalike.store.judges import CALLS, is_frozen, judging, keep_judge, read_judge, read_judgments
from lookalike.store.labelling.guidelines import read_guideline
from lookalike.store.workspace import Workspace
from lookalike.workflows.decide.judge.photos import CatalogPhotos, choose_examples
from lookalike.workflows.decide.judge.questions import JudgeScope, choose_pairs
from lookalike.workflows.decide.judge.result import JudgeCalls, JudgePlan, JudgeResult, judge_result

TRIAL = 4
"""Pairs that are judged first, to measure tokens and time."""
LONGEST_REASON = 500  # characters


def judge_by_endpoint(
    workspace: Workspace,
    name: str | None,
    encoders: Sequence[str],
    scope: JudgeScope,
    settings: EndpointSettings,
    *,
    confirm: Callable[[JudgePlan], None],
    dry_run: bool = False,
    limits: Limits | None = None,
    bar: Bar = no_bar,
    notify: Callable[[str], None] = lambda _: None,
) -> JudgeResult | JudgePlan:
    """Judge with a model, or continue. `confirm` gets the plan after the first calls, and raises to stop.

    `notify` gets a sentence when the calls wait for the endpoint, and at Ctrl-C.
    """
    endpoint = endpoint_of(settings)
    if not_installed(["httpx2"]):
        raise JudgeError("The library for calls, httpx2, is not installed.", fix=install("judge"))
    if workspace.photos is None:
        raise JudgeError("This workspace has no photos to show to a model.", fix="Use --encoder or --file.")
    called = name or EncoderSpec("timm", settings.model or "").short_name
    with judging(workspace.folder, called) as folder:
        limits = limits or Limits(settings.parallel, settings.timeout)
        run = _Run(workspace, folder, endpoint, encoders, scope, settings, limits, notify)
        calls = None
        if not is_frozen(folder, run.settings):
            run.take_over()
            if dry_run:
                return run.plan()
            keep_judge(folder, run.settings, run.asked, finished=False)
            run.judge_all(confirm, bar)
            keep_judge(folder, run.settings, run.judgments())
            calls = run.made()
    return judge_result(workspace, read_judgments(workspace.folder, called), calls=calls, notes=run.notes)


class _Run:
    """One judge with its pairs, its prompt and the answers so far."""

    def __init__(
        self,
        workspace: Workspace,
        folder: Path,
        endpoint: Endpoint,
        encoders: Sequence[str],
        scope: JudgeScope,
        given: EndpointSettings,
        limits: Limits,
        notify: Callable[[str], None],
    ) -> None:
        self.given, self.photos, self.known = given, CatalogPhotos(workspace), 0
        self.notes: tuple[str, ...] = ()
        stored, model = read_judge(folder), given.model or ""
        stored = stored if stored and stored.judge.kind == "endpoint" else None
        shown = stored.judge.examples if stored else choose_examples(workspace, given.examples, scope.seed)
        examples = [self._pair(one.query, one.candidate, given.pixels, one.label, one.note) for one in shown]
        self.prompt = Prompt(model, workspace.database.fetch(read_guideline).text, examples)
        if stored:
            self.asked = stored.judgments()
        else:
            judge = Judge(folder.name, "endpoint", model, prompt=self.prompt.hash, examples=shown)
            self.asked, self.notes = choose_pairs(workspace, judge, encoders, scope)
        source = {
            "endpoint": endpoint.url,
            "model": model,
            "prompt": self.prompt.hash,
            "pixels": given.pixels,
        }
        self.settings = scope.settings(workspace, "endpoint", encoders, **source, examples=given.examples)
        self.same = fingerprint([*source.values()])
        self.ways = [
            (self._call(a, b), self._call(b, a))
            for a, b in zip(self.asked.query, self.asked.candidate, strict=True)
        ]
        # photos that are the same are shown once
        self.calls = {call.key: call for way in self.ways for call in way}
        self.journal = Journal(folder / CALLS)
        self.caller = Caller(endpoint, self._body, self._keep, limits, notify)

    def left(self) -> list[Call]:
        """The calls without an answer, both orders of a pair in turn."""
        return [call for key, call in self.calls.items() if self.journal.get(key) is None]

    def take_over(self) -> None:
        """Get the answers that other judges of this workspace have: they cost nothing."""
        wanted = {call.key for call in self.left()}
        for path in sorted(self.journal.path.parent.parent.glob(f"[!.]*/{CALLS}")):
            if wanted and path != self.journal.path:
                found = [entry for entry in Journal(path, repair=False) if entry["key"] in wanted]
                wanted -= {entry["key"] for entry in found}
                self.journal.add(*found)
        self.known = len(self.calls) - len(wanted)

    def judge_all(self, confirm: Callable[[JudgePlan], None], bar: Bar) -> None:
        """Make the calls that are left. Of a new judge, a few first, to measure what they take."""
        if not self.known:
            first = self.left()[: 2 * TRIAL]
            self._make(first, failing=min(self.caller.limits.failing, len(first)))
        if left := self.left():
            confirm(self.plan())
            with bar("Judging") as progress:
                self._make(left, progress=progress)

    def plan(self) -> JudgePlan:
        """What the calls that are left take, by those that have an answer."""
        left = len(self.left())
        spent = [[entry[name] for entry in self._answers()] for name in ("in", "out", "seconds")]
        tokens_in, tokens_out, seconds = (float(np.mean(each)) if each else nan for each in spent)
        return JudgePlan(
            self.asked.judge,
            self.caller.endpoint.host,
            len(self.asked),
            left,
            len(self.calls) - left,
            tokens_in,
            tokens_out,
            self.given.cost(tokens_in * left, tokens_out * left),
            seconds * left / self.caller.limits.parallel,
            self.notes,
        )

    def judgments(self) -> Judgments:
        """The mean of both orders for each pair; none where one is missing."""
        score, flipped = np.full((2, len(self.asked)), nan)
        failed = Counter[str]()
        for at, way in enumerate(self.ways):
            answers = [_answer(entry) for call in way if (entry := self.journal.get(call.key))]
            if len(answers) == len(way):
                score[at] = sum(one.score for one in answers) / 2
                flipped[at] = answers[0].similar != answers[1].similar
            else:
                missing = next(call.key for call in way if self.journal.get(call.key) is None)
                failed[self.caller.failed[missing]] += 1
        if failed.total() == len(self.asked):
            raise JudgeError(
                f"No pair got a judgment: {failed.most_common(1)[0][0]}.",
                fix="Solve this problem, then run the same command again.",
            )
        named = listed(sorted({entry["version"] for entry in self._answers()} - {""}), most=3)
        scores = f"scores {fingerprint(self.asked.query, self.asked.candidate, score)}"
        judge = replace(self.asked.judge, version=", ".join(filter(None, (named, scores))))
        return replace(self.asked, judge=judge, score=score, flipped=flipped, failed=dict(failed))

    def made(self) -> JudgeCalls:
        """What this command's calls took."""
        n = self.caller
        busy = n.in_flight / (n.seconds * n.limits.parallel) if n.seconds else nan
        cost = self.given.cost(n.tokens_in, n.tokens_out)
        return JudgeCalls(n.calls, self.known, n.tokens_in, n.tokens_out, cost, n.seconds, busy)

    def _make(
        self, calls: Sequence[Call], *, failing: int | None = None, progress: Progress | None = None
    ) -> None:
        if not self.caller.ask(calls, failing=failing, progress=progress):
            raise JudgeError(
                f"Stopped. {len(self._answers()):,} answers are kept, {len(self.left()):,} are left.",
                fix="To resume, run the same command again.",
            )

    def _answers(self) -> list[Entry]:
        return [entry for key in self.calls if (entry := self.journal.get(key)) is not None]

    def _body(self, call: Call, small: bool) -> bytes:
        return self.prompt.body(self._pair(call.first, call.second, self.given.pixels // (1 + small)))

    def _keep(self, replies: Sequence[tuple[Call, Reply]]) -> None:
        self.journal.add(*(_entry(call, reply) for call, reply in replies))

    def _call(self, first: str, second: str) -> Call:
        digests = [self.photos.digest(image) for image in (first, second)]
        return Call(fingerprint([self.same, *digests]), first, second)

    def _pair(self, first: str, second: str, pixels: int, label: int = 0, note: str = "") -> ShownPair:
        return ShownPair(self.photos.jpeg(first, pixels), self.photos.jpeg(second, pixels), label, note)


def _entry(call: Call, reply: Reply) -> Entry:
    answer = reply.answer.model_dump() if reply.answer else {"reason": ""}
    answer["reason"] = answer["reason"][:LONGEST_REASON]
    spent = {"in": reply.tokens_in, "out": reply.tokens_out, "seconds": round(reply.seconds, 3)}
    return {"key": call.key, **answer, **spent, "version": reply.version}


def _answer(entry: Entry) -> JudgeAnswer:
    return JudgeAnswer(**{name: entry[name] for name in JudgeAnswer.model_fields})

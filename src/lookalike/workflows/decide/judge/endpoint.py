"""A vision model behind an endpoint as a judge: the plan, the calls, and the judgments of its answers."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from math import nan
from pathlib import Path
from typing import Any

import numpy as np

from lookalike.core.checks import fingerprint, install, not_installed
from lookalike.core.errors import JudgeError
from lookalike.core.progress import Bar, Progress, no_bar
from lookalike.core.text import listed
from lookalike.encode.spec import EncoderSpec
from lookalike.judge.calls import Call, CallCount, Limits, ask_all
from lookalike.judge.endpoint import Endpoint, EndpointSettings, endpoint_of
from lookalike.judge.judgments import Judge, JudgeExample, Judgments
from lookalike.judge.prompt import JudgeAnswer, Prompt, ShownPair
from lookalike.judge.replies import Reply
from lookalike.store.journal import Entry, Journal
from lookalike.store.judges import (
    CALLS,
    StoredJudge,
    begin_judge,
    freeze,
    is_frozen,
    judging,
    read_judge,
    read_judgments,
    read_pairs,
)
from lookalike.store.labelling.guidelines import read_guideline
from lookalike.store.workspace import Workspace
from lookalike.workflows.decide.judge.photos import CatalogPhotos, choose_examples
from lookalike.workflows.decide.judge.questions import JudgeScope, choose_pairs
from lookalike.workflows.decide.judge.result import JudgeCalls, JudgePlan, JudgeResult, judge_result

TRIAL = 4
"""Pairs that are judged first, to measure tokens and time."""
TRIAL_TRIES = 3
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
    stopping: Callable[[], None] | None = None,
) -> JudgeResult | JudgePlan:
    """Judge with a model, or continue. `confirm` gets the plan after the first calls, and raises to stop.

    `stopping` is called at Ctrl-C, before the calls under way are waited for.
    """
    endpoint = endpoint_of(settings)
    if not_installed(["httpx2"]):
        raise JudgeError("The library for calls, httpx2, is not installed.", fix=install("judge"))
    if workspace.photos is None:
        raise JudgeError("This workspace has no photos to show to a model.", fix="Use --encoder or --file.")
    called = name or EncoderSpec("timm", settings.model or "").short_name
    with judging(workspace.folder, called) as folder:
        limits = limits or Limits(settings.parallel, settings.timeout)
        run = _Run(workspace, folder, endpoint, encoders, scope, settings, limits)
        calls = None
        if not is_frozen(folder, run.settings):
            if dry_run:
                return run.plan()
            begin_judge(folder, StoredJudge(run.settings, run.judge), run.pairs)
            run.judge_all(confirm, bar, stopping)
            freeze(folder, run.settings, run.judgments())
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
    ) -> None:
        self.endpoint, self.given, self.limits = endpoint, given, limits
        self.model, self.pixels, self.photos = given.model or "", given.pixels, CatalogPhotos(workspace)
        self.notes: tuple[str, ...] = ()
        stored = read_judge(folder)
        stored = stored if stored and stored.judge.kind == "endpoint" else None
        shown = stored.judge.examples if stored else choose_examples(workspace, given.examples, scope.seed)
        guidelines = workspace.database.fetch(read_guideline).text
        self.prompt = Prompt(self.model, guidelines, [self._example(one) for one in shown])
        if stored:
            self.judge, self.pairs = stored.judge, read_pairs(folder)
        else:
            left_out = [(one.query, one.candidate) for one in shown]
            chosen = choose_pairs(workspace, encoders, scope, left_out)
            self.pairs, self.notes = chosen.pairs, chosen.notes
            self.judge = Judge(
                folder.name,
                "endpoint",
                self.model,
                prompt=self.prompt.hash,
                examples=shown,
                encoders=tuple(encoders),
                k=scope.k,
                questions=chosen.questions,
                probability=chosen.probability,
                seed=scope.seed,
            )
        self.settings: dict[str, Any] = {
            "kind": "endpoint",
            "endpoint": endpoint.url,
            "model": self.model,
            "prompt": self.prompt.hash,
            "pixels": self.pixels,
            "lists": list(encoders),
            "pool": workspace.pool_name,
        } | scope.as_values()
        self.same = fingerprint([endpoint.url, self.model, self.prompt.hash, self.pixels])
        self.ways = [
            (self._call(a, b), self._call(b, a))
            for a, b in zip(self.pairs.query, self.pairs.candidate, strict=True)
        ]
        # photos that are the same are shown once
        self.calls = {call.key: call for way in self.ways for call in way}
        self.journal = Journal(folder / CALLS)
        self._take_over(folder.parent)
        self.known = len(self.calls) - len(self.left())
        self.count = CallCount()

    def left(self) -> list[Call]:
        """The calls without an answer, both orders of a pair in turn."""
        return [call for key, call in self.calls.items() if self.journal.get(key) is None]

    def judge_all(
        self,
        confirm: Callable[[JudgePlan], None],
        bar: Bar,
        stopping: Callable[[], None] | None,
    ) -> None:
        """Make the calls that are left: a few to measure what they take, then the others."""
        answers, left = len(self.journal), self.left()
        first = replace(self.limits, tries=TRIAL_TRIES)
        if answers == 0:
            first = replace(first, failing=min(first.failing, 2 * TRIAL, max(len(left), 1)))
        self._ask(left[: 2 * TRIAL], first, None, stopping)
        left = self.left()
        if left:
            confirm(self.plan())
            failing = max(self.limits.failing, len(self.journal) // 20)
            with bar("Judging") as progress:
                self._ask(left, replace(self.limits, failing=failing), progress, stopping)

    def plan(self) -> JudgePlan:
        """What the calls that are left take, by those that were made."""
        left, rate = len(self.left()), self.count
        spent = [[entry[name] for entry in self.journal] for name in ("in", "out")]
        tokens_in, tokens_out = (float(np.mean(each)) if each else nan for each in spent)
        each = rate.in_flight / rate.answered if rate.answered else nan
        return JudgePlan(
            self.judge.name,
            self.endpoint.host,
            self.model,
            len(self.pairs),
            self.judge.questions,
            self.judge.probability or 0.0,
            left,
            self.known,
            tokens_in,
            tokens_out,
            self._cost(tokens_in * left, tokens_out * left),
            each * left / self.limits.parallel,
            self.notes,
        )

    def judgments(self) -> Judgments:
        """The mean of both orders for each pair; none where one is missing."""
        score, flipped = np.full((2, len(self.pairs)), nan)
        failed = Counter[str]()
        for at, way in enumerate(self.ways):
            found = [self.journal.get(call.key) for call in way]
            if None in found:
                reasons = [self.count.failed[call.key] for call in way if call.key in self.count.failed]
                failed[reasons[0] if reasons else "not asked"] += 1
                continue
            answers = [_answer(entry) for entry in found if entry is not None]
            score[at] = sum(one.score for one in answers) / 2
            flipped[at] = answers[0].similar != answers[1].similar
        if failed.total() == len(self.pairs) > 0:
            raise JudgeError(
                "No pair got a judgment.", fix="Check the endpoint, then run the same command again."
            )
        named = listed(sorted({entry["version"] for entry in self.journal} - {""}), most=3)
        scores = f"scores {fingerprint(self.pairs.query, self.pairs.candidate, score)}"
        judge = replace(self.judge, version=", ".join(filter(None, (named, scores))))
        return Judgments(judge, self.pairs, score, flipped, dict(failed))

    def made(self) -> JudgeCalls:
        """What this command's calls took."""
        n = self.count
        busy = n.in_flight / (n.seconds * self.limits.parallel) if n.seconds else nan
        cost = self._cost(n.tokens_in, n.tokens_out)
        return JudgeCalls(n.calls, self.known, n.tokens_in, n.tokens_out, cost, n.seconds, busy)

    def _ask(
        self,
        calls: Sequence[Call],
        limits: Limits,
        progress: Progress | None,
        stopping: Callable[[], None] | None,
    ) -> None:
        making = (calls, self.endpoint, self._body, self._keep, limits, self.count)
        ask_all(*making, progress=progress, stopping=stopping)
        if self.count.stopped:
            raise JudgeError(
                f"Stopped. {len(self.journal):,} answers are kept, {len(self.left()):,} are left.",
                fix="To resume, run the same command again.",
            )

    def _body(self, call: Call, small: bool) -> bytes:
        pixels = self.pixels // 2 if small else self.pixels
        query, candidate = (self.photos.jpeg(image, pixels) for image in (call.first, call.second))
        return self.prompt.body(ShownPair(query, candidate))

    def _keep(self, replies: Sequence[tuple[Call, Reply]]) -> None:
        self.journal.add(*(_entry(call, reply) for call, reply in replies))

    def _take_over(self, judges: Path) -> None:
        """Answers that other judges of this workspace have: they cost nothing."""
        wanted = {call.key for call in self.left()}
        for path in sorted(judges.glob(f"[!.]*/{CALLS}")):
            if wanted and path != self.journal.path:
                found = [entry for entry in Journal(path, repair=False) if entry["key"] in wanted]
                wanted -= {entry["key"] for entry in found}
                self.journal.add(*found)

    def _call(self, first: str, second: str) -> Call:
        digests = [self.photos.digest(image) for image in (first, second)]
        return Call(fingerprint([self.same, *digests]), first, second)

    def _example(self, one: JudgeExample) -> ShownPair:
        query, candidate = (self.photos.jpeg(image, self.pixels) for image in (one.query, one.candidate))
        return ShownPair(query, candidate, one.label, one.note)

    def _cost(self, tokens_in: float, tokens_out: float) -> float:
        if self.given.price is None:
            return nan
        per_in, per_out = map(float, self.given.price.split("/"))
        return (tokens_in * per_in + tokens_out * per_out) / 1e6


def _entry(call: Call, reply: Reply) -> Entry:
    answer = reply.answer.model_dump() if reply.answer else {"reason": ""}
    answer["reason"] = answer["reason"][:LONGEST_REASON]
    spent = {"in": reply.tokens_in, "out": reply.tokens_out}
    return {"key": call.key, **answer, **spent, "version": reply.version}


def _answer(entry: Entry) -> JudgeAnswer:
    return JudgeAnswer(**{name: entry[name] for name in JudgeAnswer.model_fields})

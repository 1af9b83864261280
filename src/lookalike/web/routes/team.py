"""The team page: progress, agreement, and the figures of each annotator; and labels to review.

Leads see all annotators. An annotator sees the totals and their own row.
"""

from fastapi import APIRouter, Depends
from starlette.requests import Request
from starlette.responses import Response

from lookalike.annotate.protocol import DISCUSSION, EXCLUDED, OPEN, SETTLED
from lookalike.store.labelling.progress import count_states
from lookalike.web.access.dependencies import SIGNED_IN, PersonPart, SitePart, lead
from lookalike.web.pages.render import page
from lookalike.web.site import Site
from lookalike.workflows.label.next_step import team_step
from lookalike.workflows.label.review import review
from lookalike.workflows.label.team import Team, team

router = APIRouter(dependencies=SIGNED_IN, include_in_schema=False)
FRESH_MS, STALE_MS = 10_000, 600_000


@router.get("/team")
def team_page(request: Request, site: SitePart, person: PersonPart) -> Response:
    """Progress, agreement, annotators, pace."""
    found = figures_of(site)
    shown = [one for one in found.annotators if person.is_lead or one.annotator == person.id]
    names = {one.annotator: one.name for one in found.annotators}
    counts = site.database.fetch(count_states)
    twos = sorted(found.twos, key=lambda two: -two.shared) if person.is_lead else []
    groups = found.categories.items() if len(found.categories) > 1 else ()
    named = [(f"{names[a]} and {names[b]}", both) for both in twos for a, b in (both.annotators,)]
    return page(
        request,
        "team/team.html.j2",
        found=found,
        counts=counts,
        step=team_step(counts, found.agreement["krippendorff"]),
        workers=sum(one.pace is not None for one in found.annotators),
        total=counts.total(),
        resolved=counts[SETTLED],
        bars=[(state, counts[state]) for state in (SETTLED, DISCUSSION, EXCLUDED, OPEN)],
        members=[one for one in shown if one.is_there or one.pace is not None or one.agreement is not None],
        groups=[("all categories", found.agreement), *((name or "no category", one) for name, one in groups)],
        compared=[(one.name, one.agreement) for one in shown if one.agreement is not None],
        twos=named,
        remarks=[(names[one.annotator], one.text) for one in found.remarks] if person.is_lead else [],
        busiest=max((one.answers for one in found.recent), default=0),
        at=site.now(),
    )


@router.get("/team/review", dependencies=[Depends(lead)])
def review_page(request: Request, site: SitePart) -> Response:
    """Labels that contradict each other by transitivity, those with the most contradictions first."""
    return page(request, "team/review.html.j2", found=review(site.workspace))


def figures_of(site: Site) -> Team:
    """The team's figures, a few seconds old; older ones are computed again in the background.

    With fifty people the intervals take seconds: only the first request after a long time waits for them.
    """
    now = site.now()
    had = site.team_figures
    if had is not None and 0 <= now - had[0] < FRESH_MS:
        return had[1]
    with site.team_lock:
        if site.team_renewal is None or site.team_renewal.done():
            site.team_renewal = site.decoders.submit(_renew, site)
    if had is not None and 0 <= now - had[0] < STALE_MS:
        return had[1]
    return site.team_renewal.result()


def _renew(site: Site) -> Team:
    now = site.now()
    found = team(site.database, now)
    site.team_figures = now, found
    return found

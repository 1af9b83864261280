"""The team page: how far the labelling is, whether people agree, what each has done; and labels to look at again.

Leads see everybody. An annotator sees the whole and their own row: what colleagues answer is not theirs to weigh up.
"""

from fastapi import APIRouter, Depends
from starlette.requests import Request
from starlette.responses import Response

from lookalike.annotate.protocol import STATES
from lookalike.recipes.review import review
from lookalike.recipes.team import Team, team
from lookalike.store.figures import read_progress
from lookalike.web.deps import SIGNED_IN, PersonPart, SitePart, lead
from lookalike.web.render import page
from lookalike.web.site import Site

router = APIRouter(dependencies=SIGNED_IN, include_in_schema=False)
FRESH_MS, STALE_MS = 10_000, 600_000
MOST_TWOS = 45


@router.get("/team")
def team_page(request: Request, site: SitePart, person: PersonPart) -> Response:
    """Progress, agreement, people, pace."""
    found = figures_of(site)
    shown = found.members if person.is_lead else [one for one in found.members if one.annotator == person.id]
    names = {one.annotator: one.name for one in found.members}
    twos = sorted(found.twos.items(), key=lambda two: -two[1].shared) if person.is_lead else []
    return page(
        request,
        "team.html.j2",
        found=found,
        counts=progress_of(site),
        members=[one for one in shown if one.is_there or one.pace is not None or one.agreement is not None],
        twos=[(names[a], names[b], both) for (a, b), both in twos[:MOST_TWOS]],
        hidden=max(0, len(twos) - MOST_TWOS),
        remarks=[(names[one.annotator], one.text) for one in found.remarks] if person.is_lead else [],
        busiest=max((one.answers for one in found.recent), default=0),
        at=site.now(),
    )


@router.get("/team/review", dependencies=[Depends(lead)])
def review_page(request: Request, site: SitePart) -> Response:
    """Labels that contradict each other by transitivity, those that most speaks against first."""
    return page(request, "review.html.j2", found=review(site.workspace))


def figures_of(site: Site) -> Team:
    """The team's figures as they were some seconds ago; what is older is worked out anew behind the page.

    With fifty people the intervals take seconds: only the first page after a long while waits for them.
    """
    now = site.now()
    had = site.figures
    if had is not None and 0 <= now - had[0] < FRESH_MS:
        return had[1]
    with site.figuring:
        if site.renewing is None or site.renewing.done():
            site.renewing = site.decoders.submit(_renew, site)
    if had is not None and 0 <= now - had[0] < STALE_MS:
        return had[1]
    return site.renewing.result()


def _renew(site: Site) -> Team:
    now = site.now()
    found = team(site.database, now)
    site.figures = now, found
    return found


def progress_of(site: Site) -> dict[str, int]:
    """How many pairs are in each state, gold pairs left out, and how many there are in all."""
    with site.database.read() as connection:
        found = read_progress(connection)
    counts = {
        state: sum(n for (kind, at), n in found.items() if at == state and kind != "gold") for state in STATES
    }
    return {**counts, "all": sum(counts.values())}

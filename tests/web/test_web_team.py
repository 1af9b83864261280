"""The team, review and plan pages: who sees what, and what they say where there is nothing to say yet."""

import multiprocessing
import re
import time
from concurrent.futures import Future
from itertools import combinations

import pytest
from sqlalchemy import delete, insert, update

from lookalike.annotate.campaign import Campaign
from lookalike.api.samples import SampleQuestion
from lookalike.audit.sampling.forecast import SampleStep
from lookalike.core.types import Labels
from lookalike.store.labelling.campaigns import write_campaign
from lookalike.store.labelling.queue import NewPair, add_pairs
from lookalike.store.labelling.statistics import read_people
from lookalike.store.sql import labelling_schema as tables
from lookalike.web.routes.plan import Work
from lookalike.workflows.decide.sampled import SampledResult
from lookalike.workflows.decide.training_verdict import Told
from lookalike.workflows.label.forecast import ForecastProblem, LabelForecast
from lookalike.workflows.label.next_step import plan_step
from lookalike.workflows.label.plan import plan
from lookalike.workflows.start.embed import embed

HOUR = 3_600_000


@pytest.fixture
def team(served_on):
    """A lead and two annotators who voted on 40 pairs in two categories; their votes agree on 36."""
    served = served_on
    ids = {
        name: served.add(name, role)
        for name, role in (("Lead", "lead"), ("Ann", "annotator"), ("Bob", "annotator"))
    }
    a, b = ids["Ann"], ids["Bob"]
    tally = [
        ("bowl", f"{a}+ {b}+", 20),
        ("bowl", f"{a}- {b}-", 6),
        ("rod", f"{a}- {b}-", 10),
        ("rod", f"{a}+ {b}-", 4),
    ]
    hour = served.clock() // HOUR
    with served.workspace.database.write() as connection:
        connection.execute(
            insert(tables.tally),
            [dict(zip(("category", "pattern", "questions"), row, strict=True)) for row in tally],
        )
        connection.execute(
            insert(tables.pace),
            [
                {"annotator": who, "hour": hour - at, "answers": 20, "active": HOUR // 6}
                for who in (a, b)
                for at in (0, 1)
            ],
        )
        images = served.workspace.catalog.image
        add_pairs(connection, [NewPair(images[0], images[2], "i", "bowl", "pool", 1)], 2, served.clock())
    return served


def test_a_lead_sees_everybody_and_an_annotator_only_their_own_figures(team):
    lead = team.browser().log_in("Lead").get("/team").text
    assert "Ann and Bob" not in lead  # with two people it would say the same as the whole
    named, row = r'<th scope="row">(Ann|Bob|Lead)', lead.partition('id="each"')[2].partition("</table>")[0]
    assert re.findall(named, row) == ["Lead", "Ann", "Bob"]
    own = team.browser().log_in("Ann").get("/team").text
    assert set(re.findall(named, own)) == {"Ann"}
    for page in (lead, own):
        assert "90%" in page  # of 40 pairs 36 agree
        assert "0 of 1 pair" in page


def test_with_many_people_the_two_who_share_the_most_pairs_are_shown(team):
    people = [team.add(f"P{n}") for n in range(12)]
    twos = list(combinations(people, 2))
    with team.workspace.database.write() as connection:
        connection.execute(
            insert(tables.tally),
            [
                {"category": "bowl", "pattern": f"{a}+ {b}-", "questions": n}
                for n, (a, b) in enumerate(twos, 1)
            ],
        )
    shown = team.browser().log_in("Lead").get("/team").text.partition('aria-labelledby="twos"')[2]
    rows = re.findall(r'<th scope="row">P(\d+) and P(\d+)</th><td class="amount">(\d+)<', shown)
    named = [(people[int(a)], people[int(b)]) for a, b, _ in rows]
    assert named == twos[:-45:-1]  # Ann and Bob, who share 40 pairs, are among the 45, too
    assert re.findall(r'class="aside">(\d+)', shown)[0] == str(1 + len(twos) - 45)


def step(page) -> str:
    return re.search(r'<p class="lede" id="step" data-step="(\w+)">', page.text)[1]


def test_one_coefficient_is_shown_and_the_others_on_request(team):
    for name in ("Lead", "Ann"):
        page = team.browser().log_in(name).get("/team").text
        shown = re.sub(r"<details class=\"more\">.*?</details>", "", page, flags=re.DOTALL)
        heads = re.findall(r'<th scope="col"[^>]*>([^<]*)<', shown)
        assert [head for head in heads if re.search("[ακ]|AC1", head)] == ["Krippendorff's α"]
        assert {"Fleiss' κ", "Gwet's AC1", "Cohen's κ with others"} < set(re.findall(r">([^<>]+)</th>", page))


def test_the_pace_says_how_many_people_it_is_the_average_of(team):
    lead = team.browser().log_in("Lead")
    for path in ("/team", "/plan"):
        pace = re.search(r"<dd>120 .*?</dd>", lead.get(path).text)[0]
        assert re.findall(r"(\d+) annotators", pace) == ["2"], path  # Lead has not worked


def test_the_team_page_begins_with_the_next_step(team):
    lead = team.browser().log_in("Lead")

    def found(**states):
        with team.workspace.database.write() as connection:
            connection.execute(delete(tables.progress))
            rows = [{"kind": "pool", "state": state, "questions": n} for state, n in states.items()]
            connection.execute(insert(tables.progress), rows)
        team.clock.goes(hours=1)  # figures of a moment ago are not computed again
        return step(lead.get("/team"))

    assert found(open=3, discussion=2, settled=9) == "label"
    assert found(open=2, discussion=3, settled=9) == "discuss"
    assert found(settled=9, excluded=2) == "done"
    assert found(open=0) == "empty"
    with team.workspace.database.write() as connection:
        ids = sorted(who for who, (name, _) in read_people(connection).items() if name != "Lead")
        both = [f"{ids[0]}{a} {ids[1]}{b}" for a, b in ("+-", "-+")]
        rows = [{"category": "box", "pattern": pattern, "questions": 200} for pattern in both]
        connection.execute(insert(tables.tally), rows)
    assert found(open=3, discussion=2, settled=9) == "clarify"


def test_all_figures_of_the_team_page_are_of_one_moment_that_it_names(team):
    lead = team.browser().log_in("Lead")

    def shown():
        page = lead.get("/team").text
        resolved = re.search(r"</span>Resolved</dt><dd>(\d+)", page)[1]
        shared = re.search(r'all categories</th><td class="amount">(\d+)', page)[1]
        about = page.partition('id="computed">')[2].partition("</p>")[0]
        return (
            resolved,
            shared,
            re.search(r'datetime="([^"]+)"', about)[1],
            re.findall(r"(\d+) s before", about),
        )

    assert shown() == ("0", "40", "2023-11-14T22:13Z", [])
    with team.workspace.database.write() as connection:
        connection.execute(update(tables.progress).values(state="settled"))
        connection.execute(insert(tables.tally), [{"category": "rod", "pattern": "1+ 2+", "questions": 2}])
    team.clock.goes(seconds=7)
    assert shown() == ("0", "40", "2023-11-14T22:13Z", ["7"])
    team.clock.goes(seconds=60)
    for _ in range(100):  # a slow machine shows the last figures first
        if (found := shown()) == ("1", "42", "2023-11-14T22:14Z", []):
            return
        time.sleep(0.1)
    raise AssertionError(found)


def test_the_plan_page_begins_with_the_next_step(team):
    lead = team.browser().log_in("Lead")

    def found(hours=0.0, **states):
        with team.workspace.database.write() as connection:
            connection.execute(delete(tables.progress))
            rows = [{"kind": "pool", "state": state, "questions": n} for state, n in states.items()]
            connection.execute(insert(tables.progress), rows)
            write_campaign(connection, Campaign(planned_hours=hours))
        return step(lead.get("/plan"))

    assert found(open=300) == "label"
    assert found(open=300, hours=1.0) == "over"
    assert found(open=300, hours=1000.0) == "label"
    assert found(discussion=1) == "discuss"
    assert found(settled=1) == "done"
    assert found(settled=0) == "empty"
    with team.workspace.database.write() as connection:
        connection.execute(delete(tables.pace))
    assert found(open=300) == "untimed"


@pytest.mark.parametrize(
    ("encoders", "decided", "pairs", "expected"),
    [
        ("ab", [True], 0, "decided"),
        ("abc", [True, True, True], 9, "decided"),
        ("abc", [True, True], 9, "first"),
        ("abc", [True, True, False], 9, "first"),
        ("ab", [False], 0, "done"),
        ("ab", [], 0, "done"),
        ("a", [], 0, "done"),
    ],
)
def test_the_next_step_follows_the_last_comparison(team, encoders, decided, pairs, expected):
    told = tuple(Told("", is_decided=one) for one in decided)
    wanted = SampleStep(pairs, 0.1, 0.2, 5) if pairs else None
    asked = SampledResult(SampleQuestion(tuple(encoders)), 5, pairs, (), wanted, None, (), ())
    forecast = LabelForecast(None, {}, asked if len(encoders) > 1 else None, told)
    with team.workspace.database.write() as connection:
        connection.execute(update(tables.progress).values(state="settled"))
    found = plan(team.workspace.database, Campaign(), team.clock())
    assert plan_step({"settled": 9}, found, forecast) == expected
    assert plan_step({"settled": 9}, found, ForecastProblem("no labels", "Label.")) == "done"
    assert plan_step({"settled": 7, "open": 2}, found, None) == "repeat"  # no vote is missing
    assert plan_step({"settled": 7, "discussion": 2}, found, None) == "discuss"


def test_only_a_lead_sees_how_often_gold_pairs_are_answered_rightly(team):
    assert "Gold pairs correct" in team.browser().log_in("Lead").get("/team").text
    assert "Gold pairs correct" not in team.browser().log_in("Ann").get("/team").text


@pytest.mark.parametrize("protocol", ["consensus", "majority"])
def test_the_protocol_explains_the_effect_of_unsure(team, protocol):
    with team.workspace.database.write() as connection:
        write_campaign(connection, Campaign(protocol=protocol))
    ann = team.browser().log_in("Ann")
    page = ann.get("/label").text
    for _ in range(100):  # the server reads the campaign anew every few seconds
        if f'data-protocol="{protocol}"' in page:
            break
        time.sleep(0.1)
        page = ann.get("/label").text
    assert f'data-protocol="{protocol}"' in page


def test_a_form_without_an_answer_names_the_buttons(team):
    ann = team.browser().log_in("Ann")
    ann.get("/label")
    result = ann.post("/label", token="any")
    assert result.status == 400


@pytest.mark.parametrize("address", ["/team/review", "/plan"])
def test_review_and_plan_are_for_leads(team, address):
    assert team.browser().log_in("Ann").get(address).status == 403
    assert team.browser().log_in("Lead").get(address).status == 200


def test_the_plan_shows_votes_and_hours_left(team):
    page = team.browser().log_in("Lead").get("/plan").text
    assert "2 votes on 1 pair" in page
    assert ">120" in page  # answers per hour
    assert "estimated from agreement" in page


def test_without_votes_on_enough_pairs_the_plan_says_how_many_are_missing(served):
    page = served.logged_in("Lead", "lead").get("/plan").text
    assert "no pair has definite votes of two annotators. With 30 more, a table shows here" in page
    assert "estimated from agreement" not in page


def test_without_votes_every_page_says_so(served):
    lead = served.logged_in("Lead", "lead")
    for path, absent in (("/team", 'class="shares"'), ("/team/review", "<ol"), ("/plan", "nan")):
        page = lead.get(path)
        assert page.status == 200
        assert absent not in page.text, path
    assert "lookalike discover" in lead.get("/team").text
    assert "lookalike embed" in lead.get("/plan").text


def test_contradicting_labels_are_listed_with_what_speaks_against_them(served):
    first, second, third = served.workspace.catalog.image[[0, 4, 8]]
    labels = Labels.of([first, second, first], [second, third, third], [1, 1, 0])
    served.workspace.add_labels(labels, "a file")
    page = served.logged_in("Lead", "lead").get("/team/review").text
    counts = re.findall(r"\b(\d+) (triangle|dissimilar label|similar label)s?\b", page.partition("<ol")[0])
    assert counts == [("1", "triangle"), ("1", "dissimilar label"), ("2", "similar label")]
    assert page.count('<div class="why">') == 3
    assert "/discuss/" not in page.partition("<ol")[2]  # labels of a file have no votes to show


def test_labels_that_say_both_are_shown_with_the_command_that_corrects_them(served):
    first, second = served.workspace.catalog.image[[0, 4]]
    served.workspace.add_labels(Labels.of([first, second], [second, first], [1, 0]), "a file")
    page = served.logged_in("Lead", "lead").get("/team/review").text
    listed = page.partition('<ul class="both">')[2].partition("</ul>")[0]
    pairs = re.findall(r"<code>(.*?)</code> and <code>(.*?)</code>", listed)
    assert pairs == [(first, second)]  # in both directions it is one pair
    assert listed.count("<img") == 2
    assert "lookalike labels stats --contradictions" in page


def test_unknown_encoders_cannot_be_forecast(served):
    lead = served.logged_in("Lead", "lead")
    lead.get("/plan")
    result = lead.post("/plan/forecast", encoder="<script>alert(1)</script>")
    assert result.status == 400
    assert b"<script>alert" not in result.body
    assert lead.post("/plan/first").status == 400


def test_a_forecast_without_an_encoder_asks_for_one_on_the_page(served):
    embed(served.workspace, "descriptor:color")
    lead = served.logged_in("Lead", "lead")
    lead.get("/plan")
    sent = lead.post("/plan/forecast")
    assert (sent.status, sent.headers["location"]) == (303, "/plan?choose=1#more-labels")
    assert "Choose 1 to 6 encoders first." in lead.get("/plan?choose=1").text


def test_a_forecast_whose_process_is_killed_can_be_computed_again(served):
    images = served.workspace.catalog.image
    served.workspace.add_labels(Labels.of(images[:4], images[4:8], [1, 0, 1, 0]), "a file")
    embed(served.workspace, "descriptor:color")
    lead = served.logged_in("Lead", "lead")
    before = set(multiprocessing.active_children())

    def computed() -> str:
        lead.get("/plan")
        assert lead.post("/plan/forecast", encoder="color").status == 303
        while "refresh" in (page := lead.get("/plan")).headers:
            for process in set(multiprocessing.active_children()) - before - killed:
                if not killed:
                    process.kill()
                    killed.add(process)
            time.sleep(0.05)
        return page.text

    killed: set = set()
    assert "Compute it again." in computed()
    page = computed()
    assert "Compute it again." not in page
    assert "EHR@5" in page


def test_a_forecast_says_from_what_it_was_computed_and_when_that_has_changed(served):
    pairs = list(combinations(served.workspace.catalog.image, 2))

    def label(first: int, last: int) -> None:
        query, candidate = zip(*pairs[first:last], strict=True)
        served.workspace.add_labels(Labels.of(query, candidate, [1] * (last - first)), "a file")

    label(0, 20)
    embed(served.workspace, "descriptor:color")
    lead = served.logged_in("Lead", "lead")
    lead.get("/plan")
    assert lead.post("/plan/forecast", encoder="color").status == 303
    while "refresh" in (page := lead.get("/plan")).headers:
        time.sleep(0.05)
    assert "from 20 labels for color." in page.text
    label(20, 21)
    assert "compute the forecast again" not in lead.get("/plan").text
    label(21, 25)
    assert "Since then, the labels have changed (25 now): compute the forecast again." in (
        lead.get("/plan").text
    )


@pytest.mark.parametrize(
    ("labels", "samples", "served", "expected"),
    [
        (100, 1, "a", False),
        (110, 1, "a", False),
        (111, 1, "a", True),
        (100, 2, "a", True),
        (100, 1, "b", True),
    ],
)
def test_a_forecast_is_outdated_after_many_labels_or_a_draw(labels, samples, served, expected):
    assert Work(("a",), 0, 100, 1, "a", Future()).is_outdated(labels, samples, served) == expected

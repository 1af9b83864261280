"""The interface for programs against its own description: requests made from it, answers checked by it."""

import pytest
import requests
import schemathesis
from hypothesis import HealthCheck, given, settings
from labelling_app import ANN, LEA, Client, make_workspace, serving_shop, when

from lookalike.workflows.start.embed import embed

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def shop(tmp_path_factory, team):
    workspace = make_workspace(tmp_path_factory.mktemp("api") / "shop", team)
    embed(workspace, "descriptor:color", workers=1)
    with serving_shop(workspace) as running:
        when(lambda: requests.get(f"{running.address}/readyz", timeout=30).ok)
        yield running


@pytest.fixture(scope="module")
def tokens(shop):
    """A program's token of each role."""
    found = {}
    for name, scope in ((ANN, "label"), (LEA, "lead")):
        page = shop.client(name).post("/account/tokens", data={"name": "program", "scope": scope}).text
        found[name] = "lk_" + page.split('value="lk_', 1)[1].split('"', 1)[0]
    return found


@pytest.fixture(scope="module")
def description(shop, tokens):
    bearer = {"Authorization": f"Bearer {tokens[LEA]}"}
    loaded = requests.get(f"{shop.address}/api/openapi.json", headers=bearer, timeout=30).json()
    return schemathesis.openapi.from_dict(loaded)


# schemathesis uses `random` in its own strategies, which hypothesis warns of
@pytest.mark.filterwarnings("ignore::hypothesis.errors.HypothesisDeprecationWarning")
@pytest.mark.parametrize("name", [ANN, LEA])
def test_answers_are_as_described_for_both_roles(description, shop, tokens, name):
    for found in description.get_all_operations():
        operation = found.ok()

        @given(case=operation.as_strategy())
        @settings(max_examples=8, deadline=None, suppress_health_check=list(HealthCheck))
        def answers_as_described(case):
            answer = case.call(
                base_url=shop.address, headers={"Authorization": f"Bearer {tokens[name]}"}, timeout=60
            )
            assert answer.status_code < 500, (case.method, case.path, answer.text)
            case.validate_response(answer, checks=[schemathesis.checks.response_schema_conformance])

        answers_as_described()


def test_every_address_is_described_with_words_and_a_tag(shop, tokens):
    client = Client(shop.address)
    client.headers["Authorization"] = f"Bearer {tokens[ANN]}"
    loaded = client.get("/api/openapi.json").json()
    for path, methods in loaded["paths"].items():
        for one in methods.values():
            assert one["tags"], path
            assert one["description"], path
    page = shop.client(ANN).get("/api/docs").text
    assert all(path in page for path in loaded["paths"])
    assert page.count("<script") == page.count('<script type="module" src="/static/page.js') == 1

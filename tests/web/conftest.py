"""Fixtures of the app's tests."""

from pathlib import Path

import pytest
from argon2 import PasswordHasher
from labelling_app import draw_team
from serving import Served, draw_shop, make_shop, serving

from lookalike.store.people import passwords


@pytest.fixture(autouse=True)
def quick_passwords(monkeypatch):
    """Hashes that take a millisecond; tests/store/database/test_people.py has those of the app."""
    monkeypatch.setattr(passwords, "HASHER", PasswordHasher(time_cost=1, memory_cost=64, parallelism=1))


@pytest.fixture(scope="session")
def shop_photos(made_once) -> Path:
    """The photos of the small shop."""
    return made_once("small_shop", draw_shop)


@pytest.fixture
def served(tmp_path, shop_photos) -> Served:
    """The small shop, served, on SQLite; its clock is fixed."""
    with serving(make_shop(tmp_path / "work", shop_photos, tmp_path)) as running:
        yield running


@pytest.fixture
def served_on(tmp_path, shop_photos, database_place) -> Served:
    """The same on both databases."""
    with serving(make_shop(tmp_path, shop_photos, database_place)) as running:
        yield running


@pytest.fixture(scope="session")
def team(made_once) -> Path:
    """A workspace with people and photos of furniture, which `make_workspace` copies."""
    return made_once("team", draw_team) / "team"

"""The sample report, created once for all tests of the report."""

import pytest
from report_sample import sample_report

from lookalike.report.content import Report
from lookalike.report.page import render


@pytest.fixture(scope="session")
def report() -> Report:
    return sample_report()


@pytest.fixture(scope="session")
def page(report) -> str:
    return render(report)

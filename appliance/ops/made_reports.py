"""Annual reports to measure retrieval with, and their questions: several companies and years, near-identical tables.

Title, year and heading decide which page is right; half of the questions use other words than the tables. The same
reports on every machine. No model and no record: `evaluate_retrieval` reads them as any other folder.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random

from appliance.ops.golden import GoldenQuestion
from appliance.ops.made_formats import Drawn, pdf_drawn

COMPANIES = ("Veltora Industries", "Northgate Foods", "Halden Energy", "Quillan Software")
YEARS = (2018, 2019, 2020)
N_ASKED = 10  # questions a report
_BOILERPLATE = (
    "The accompanying notes are an integral part of these consolidated financial statements. Amounts are in millions "
    "unless stated otherwise, and may not add up because of rounding.",
    "Estimates and judgements are reviewed on an ongoing basis. Revisions are recognised in the period in which the "
    "estimate is revised and in any future periods affected.",
    "The group applies the policies described in the basis of preparation consistently to all periods presented, "
    "except where a new standard required otherwise.",
    "Management monitors these figures monthly. Deviations from the budget are reported to the audit committee, which "
    "met seven times during the year.",
)


@dataclass(frozen=True, slots=True)
class Line:
    """A row that each report has, and how a reader would ask for it (empty: by its own words)."""

    label: str
    asked: str = ""


# Each section is a page: its heading, and the rows of its table.
SECTIONS: tuple[tuple[str, tuple[Line, ...]], ...] = (
    ("Consolidated statement of income", (Line("Revenue", "total sales"), Line("Cost of revenue"), Line("Gross profit"),
        Line("Selling, general and administrative expenses", "overhead expenses (SG&A)"), Line("Operating income"),
        Line("Interest expense"), Line("Income before income taxes", "profit before tax"), Line("Net income"))),
    ("Consolidated balance sheet", (Line("Cash and cash equivalents"), Line("Total current assets"), Line("Goodwill"),
        Line("Total assets"), Line("Accounts payable", "amount owed to suppliers"), Line("Total liabilities"),
        Line("Retained earnings"), Line("Total shareholders' equity"))),
    ("Consolidated statement of cash flows", (Line("Depreciation and amortisation"),
        Line("Net cash from operating activities"),
        Line("Purchases of property, plant and equipment", "capital expenditure"),
        Line("Acquisitions of businesses, net of cash", "money spent on takeovers"), Line("Dividends paid"),
        Line("Repurchase of own shares", "amount of the share buyback"))),
    ("Segment information", (Line("Europe"), Line("North America"), Line("Asia Pacific"), Line("Latin America"),
        Line("Eliminations between segments"))),
    ("Property, plant and equipment", (Line("Land and buildings"), Line("Machinery"), Line("Office equipment"),
        Line("Assets under construction", "value of unfinished plants"), Line("Accumulated depreciation"))),
    ("Inventories", (Line("Raw materials"), Line("Work in progress"), Line("Finished goods"),
        Line("Allowance for obsolete stock", "write-down of unsaleable stock"))),
    ("Trade receivables", (Line("Not yet due"), Line("Overdue by up to 90 days"), Line("Overdue by more than 90 days"),
        Line("Expected credit losses", "allowance for bad debts"))),
    ("Borrowings", (Line("Bank loans"), Line("Senior notes"), Line("Commercial paper"),
        Line("Undrawn credit facilities", "credit lines still available"))),
    ("Provisions", (Line("Warranty claims"), Line("Restructuring"), Line("Litigation", "money set aside for lawsuits"),
        Line("Site restoration"))),
    ("Income taxes", (Line("Current tax expense"), Line("Deferred tax expense"), Line("Unrecognised tax losses"),
        Line("Uncertain tax positions"))),
    ("Leases", (Line("Right-of-use assets"), Line("Lease liabilities"), Line("Short-term lease expense"))),
    ("Employees", (Line("Number of employees at year end", "headcount"), Line("Wages and salaries", "payroll cost"),
        Line("Social security contributions"), Line("Share-based payments"), Line("Pension contributions"))),
    ("Research and development", (Line("Research expense"), Line("Capitalised development costs"),
        Line("Patents filed", "number of inventions registered"))),
    ("Environmental figures", (Line("Greenhouse gas emissions, scope 1"), Line("Electricity consumed"),
        Line("Water withdrawn"), Line("Waste recycled"))),
)  # fmt: skip


def write_reports(folder: Path) -> list[GoldenQuestion]:
    """Write a PDF for each company and year; return the questions, each with its document and page."""
    folder.mkdir(parents=True, exist_ok=True)
    questions: list[GoldenQuestion] = []
    for company in COMPANIES:
        random = Random(company)
        figures = {line: random.uniform(40, 9000) for _, lines in SECTIONS for line in lines}
        for year in YEARS:
            before, figures = (
                figures,
                {line: value * random.uniform(0.8, 1.25) for line, value in figures.items()},
            )
            name = f"{company.split()[0].lower()}_{year}_annual_report.pdf"
            pages = [_cover(company, year), *_pages(company, year, figures, before)]
            # As in life, the title of every other file says nothing: its name and its first page must do.
            title = "" if year % 2 else f"{company} annual report {year}"
            (folder / name).write_bytes(pdf_drawn(pages, title))
            questions += _questions(company, year, name, figures, random)
    return questions


def _cover(company: str, year: int) -> list[Drawn]:
    return [
        Drawn(60, 700, f"{company} annual report {year}", 22),
        Drawn(60, 660, f"For the fiscal year ended 31 December {year}"),
        *(Drawn(60, 600 - 16 * n, f"{heading}, page {n + 2}") for n, (heading, _) in enumerate(SECTIONS)),
    ]


def _pages(
    company: str, year: int, figures: dict[Line, float], before: dict[Line, float]
) -> Iterator[list[Drawn]]:
    for number, (heading, lines) in enumerate(SECTIONS):
        words = " ".join(_BOILERPLATE[(number + n) % len(_BOILERPLATE)] for n in range(3)).split()
        prose = [" ".join(words[i : i + 14]) for i in range(0, len(words), 14)]
        page = [Drawn(60, 790, heading, 16), *(Drawn(60, 760 - 14 * n, text) for n, text in enumerate(prose))]
        top = 730 - 14 * len(prose)
        page += [Drawn(60, top, "In millions"), Drawn(330, top, str(year)), Drawn(420, top, str(year - 1))]
        for n, line in enumerate(lines, 1):
            y = top - 16 * n
            page += [
                Drawn(60, y, line.label),
                Drawn(330, y, _figure(figures[line])),
                Drawn(420, y, _figure(before[line])),
            ]
        yield [*page, Drawn(60, 40, f"{company}   {number + 2}", 8)]
    for number, (heading, lines) in enumerate(SECTIONS):
        yield _policies(heading, lines, len(SECTIONS) + number + 2, company)


def _policies(heading: str, lines: Sequence[Line], page: int, company: str) -> list[Drawn]:
    """A page that names every row, and no figure of it."""
    texts = [
        f"{line.label}: recognised when control passes or the service is received, measured at cost or at fair value, "
        f"and tested each year. See also the note on {heading.lower()}."
        for line in lines
    ]
    words = " ".join([*texts, *_BOILERPLATE]).split()
    prose = [" ".join(words[i : i + 14]) for i in range(0, len(words), 14)]
    drawn = [Drawn(60, 760 - 14 * n, text) for n, text in enumerate(prose)]
    return [
        Drawn(60, 790, f"Accounting policies: {heading.lower()}", 16),
        *drawn,
        Drawn(60, 40, f"{company}   {page}", 8),
    ]


def _questions(
    company: str, year: int, name: str, figures: dict[Line, float], random: Random
) -> Iterator[GoldenQuestion]:
    """Half of the questions in the table's words, half in others; the year written in either of two ways."""
    rows = [(page, heading, line) for page, (heading, lines) in enumerate(SECTIONS, 2) for line in lines]
    own = random.sample([row for row in rows if not row[2].asked], N_ASKED // 2)
    other = random.sample([row for row in rows if row[2].asked], N_ASKED // 2)
    for n, (page, heading, line) in enumerate([*own, *other]):
        when = f"FY{year}" if n % 2 else f"fiscal {year}"
        what = line.asked or (f"{line.label.lower()} ({heading.lower()})" if n % 2 else line.label.lower())
        asked = f"What was the {what} of {company.split()[0]} in {when}?"
        yield GoldenQuestion(f"{name}-{n}", asked, (_figure(figures[line]),), name, page=page)


def _figure(value: float) -> str:
    return f"{value:,.1f}"

"""The report in a real browser, without a network: it asks for nothing, sorts, switches models and zooms."""

from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from likewise.cli.demo import demo
from likewise.evaluation.ranking import MAIN
from likewise.workspace import WorkspaceFolder
from tests.browser import site as sites


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    workspace = tmp_path_factory.mktemp("browser") / "demo"
    demo(workspace, items=60, n_queries=20)
    return workspace / "report" / "index.html"


@pytest.fixture
def opened(page: Page, report: Path) -> Page:
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.context.set_offline(True)
    page.goto(report.as_uri())
    assert [url for url in asked if not url.startswith(("data:", report.as_uri()))] == []
    return page


def column(page: Page, measure: str) -> list[float]:
    """The leaderboard's values of one measure from top to bottom: the n-th number of each row for the n-th header."""
    headers = opened_headers(page)
    rows = page.locator("#leaderboard-table tr[data-encoder]").evaluate_all(
        "rows => rows.map(row => [...row.querySelectorAll('td[data-value]')].map(cell => cell.dataset.value))"
    )
    return [float(row[headers.index(measure)]) for row in rows]


def opened_headers(page: Page) -> list[str]:
    found = page.locator("#leaderboard-table th[data-measure]").evaluate_all(
        "headers => headers.map(header => header.dataset.measure)"
    )
    return list(found)


def test_the_leaderboard_sorts_by_any_column(opened: Page) -> None:
    main = str(MAIN)
    assert column(opened, main) == sorted(column(opened, main), reverse=True)
    micro = 'AP(average="micro")'
    header = opened.locator(f"#leaderboard-table th[data-measure='{micro}']")
    header.locator("button").focus()
    opened.keyboard.press("Enter")
    values = column(opened, micro)
    first = header.get_attribute("aria-sort")
    assert values == sorted(values, reverse=first == "descending")
    opened.keyboard.press("Enter")
    assert header.get_attribute("aria-sort") != first
    assert column(opened, micro) == values[::-1]


def test_every_model_has_a_tab_of_mistakes(opened: Page) -> None:
    tabs = opened.locator("#mistakes [role=tab]")
    assert tabs.count() == 5
    tabs.nth(2).click()
    encoder = tabs.nth(2).get_attribute("data-encoder")
    expect(opened.locator(f'#mistakes [role=tabpanel][data-encoder="{encoder}"]')).to_be_visible()
    assert opened.locator("#mistakes [role=tabpanel]:visible").count() == 1


def test_a_candidate_can_be_looked_at_beside_its_query(opened: Page) -> None:
    opened.locator("#gallery li.card button.zoom").first.click()
    expect(opened.locator("dialog#zoom")).to_be_visible()
    assert opened.locator("#zoom-pictures figure").count() == 2
    opened.keyboard.press("Escape")
    expect(opened.locator("dialog#zoom")).to_be_hidden()


def test_as_a_file_it_has_no_link_to_a_site(opened: Page) -> None:
    assert opened.locator("a.explore").count() == 0


def test_served_by_the_site_every_picture_opens_in_explore(browser: Browser, report: Path) -> None:
    site = sites.Site(WorkspaceFolder(report.parents[1]), for_looking=True)
    site.start()
    try:
        with sites.opened(browser) as page:
            page.goto(f"{site.url}/explore")
            page.get_by_role("link", name="Report").click()
            alone = page.locator("svg.picture:not(button *):not(a *)").count()
            assert alone == 0 and page.locator("button.zoom").count() == page.locator("button.zoom + a.explore").count()
            page.locator("#gallery li.card button.zoom").first.click()
            page.locator("#zoom-pictures a.explore").nth(1).click()
            expect(page.locator("#main[data-state=showing]")).to_be_attached()
            candidate = page.locator("#query img").get_attribute("alt")
            page.go_back()
            image = page.locator("#gallery li.card button.zoom").first.get_attribute("data-image")
            assert candidate == f"Searching with {image}"
            panel = page.locator("#mistakes [role=tabpanel]").first
            panel.locator("a.explore").first.click()
            expect(page.locator("#lists section")).to_have_count(1)  # what that model finds
    finally:
        site.kill()


def test_it_says_that_the_experts_were_simulated_and_fits_a_phone(opened: Page) -> None:
    expect(opened.locator("#simulated")).to_be_visible()
    expect(opened.locator("#found")).to_contain_text("brute-force cost")
    opened.set_viewport_size({"width": 390, "height": 800})
    assert opened.evaluate("document.documentElement.scrollWidth") <= 390


def test_the_main_table_fits_a_small_laptop_and_the_rest_opens_below(opened: Page) -> None:
    opened.set_viewport_size({"width": 1180, "height": 800})
    wide = "table => table.scrollWidth - table.closest('.scroll').clientWidth"
    assert opened.locator("#leaderboard-table").evaluate(wide) <= 0
    rest = opened.locator("#leaderboard-rest-table")
    expect(rest).to_be_hidden()
    opened.locator("#leaderboard-rest summary").click()
    expect(rest).to_be_visible()
    heading = rest.locator('th[data-measure="P@9"]')
    heading.locator("button").click()
    assert heading.get_attribute("aria-sort") == "descending"


def test_a_pair_to_label_next_can_be_enlarged(opened: Page) -> None:
    opened.locator("#next-pairs button.zoom").first.click()
    assert opened.locator("#zoom-pictures figure").count() == 2


def test_a_chart_stands_before_the_numbers(opened: Page) -> None:
    top = opened.evaluate(
        "['#verdict', '#plot-headline', '#headline .lead', '#headline .facts']"
        ".map(one => document.querySelector(one).getBoundingClientRect().top)"
    )
    assert top[0] < top[1] <= top[2] + 40 < top[3]
    order = opened.evaluate(
        "document.querySelector('#plot-headline').compareDocumentPosition(document.querySelector('#headline .lead'))"
    )
    assert order & 4  # the text follows


def test_no_table_is_cut_at_1280_pixels(opened: Page) -> None:
    opened.set_viewport_size({"width": 1280, "height": 800})
    cut = opened.evaluate(
        "[...document.querySelectorAll('.scroll')].filter(one => one.scrollWidth > one.clientWidth + 1)"
        ".map(one => one.getAttribute('aria-label'))"
    )
    assert cut == []


def test_a_jump_arrives_at_once_and_the_contents_follow(opened: Page) -> None:
    """No smooth scrolling over 18,000 pixels, which shows blank pages on the way."""
    links = opened.locator("nav.contents a")
    for number in range(links.count()):
        place = links.nth(number).evaluate(
            "link => { link.click(); return document.querySelector(link.hash).getBoundingClientRect().top }"
        )
        target = links.nth(number).get_attribute("href")
        bottom = opened.evaluate("innerHeight + scrollY >= document.documentElement.scrollHeight - 4")
        assert bottom or 0 <= place < 120, target
        expect(opened.locator("nav.contents a[aria-current]")).to_have_count(1)
        if not bottom:
            expect(links.nth(number)).to_have_attribute("aria-current", "true")
        assert opened.locator("nav.contents").evaluate("bar => bar.getBoundingClientRect().top") == 0
    opened.evaluate("window.scrollTo(0, 0)")
    expect(opened.locator("nav.contents a[aria-current]")).to_have_count(0)


def test_a_short_section_is_marked_when_it_is_jumped_to(opened: Page) -> None:
    opened.evaluate("document.querySelectorAll('#cost > :not(h2)').forEach(part => { part.hidden = true; })")
    opened.locator("#cost").evaluate("section => { section.style.height = '6rem'; section.style.overflow = 'hidden'; }")
    opened.locator("nav.contents a[href='#cost']").click()
    expect(opened.locator("nav.contents a[aria-current]")).to_have_attribute("href", "#cost")


def test_how_it_was_made_is_written_for_people(opened: Page) -> None:
    text = opened.locator("#making").inner_text()
    assert "{" not in text and "None" not in text and "[" not in text.replace("[OPTIONS]", "")


def test_pairs_to_label_next_are_not_of_one_query(opened: Page) -> None:
    queries = opened.locator("#next-pairs li .key:first-of-type").all_inner_texts()
    assert not queries or len(set(queries)) >= min(len(queries), 4)

"""Reads the site of the documentation: its links, headings and pictures, and in a browser its contrast, its search and
its width on a phone.

TEST_SITE is the folder that docs/site/build.py has written. The interpreter is the one of the environment of the site.
The site is opened from files, without a server.
"""

import collections
import functools
import html.parser
import os
import pathlib
import re
import shutil
import urllib.parse

import pytest
import yaml

ROOT = pathlib.Path(__file__).resolve().parents[2]
HTML = pathlib.Path(os.environ.get("TEST_SITE", ROOT / "build/site")).resolve() / "html"
PAGES = sorted(page.relative_to(HTML).as_posix() for page in HTML.rglob("*.html"))
# Pages of one kind are made by the same program. The browser reads some pages of each such kind, and all pages of other
# kinds.
ALIKE = [r"reference/calls/(?!index|world-hpp|device-rma|device-context)", r"files/(?!index|examples/06)", "performance-results"]
READ = [page for page in PAGES if not any(re.match(kind, page) for kind in ALIKE)]


class Page(html.parser.HTMLParser):
    """What the tests read of a page."""

    def __init__(self, page):
        super().__init__()
        self.anchors, self.places, self.clicks, self.levels, self.pictures, self.loaded = set(), [], [], [], [], []
        self.in_article = False
        self.feed((HTML / page).read_text())

    def handle_starttag(self, tag, attributes):
        given = dict(attributes)
        self.anchors |= {given[name] for name in ("id", "name") if given.get(name)}
        self.places += [given[name] for name in ("href", "src") if given.get(name)]
        if tag == "a" and given.get("href"):
            self.clicks.append(given["href"])
        if tag in ("script", "link", "img", "iframe", "source", "video"):
            self.loaded.append(given.get("src") or given.get("href") or "")
        self.in_article = self.in_article or tag == "article"
        if self.in_article and re.fullmatch("h[1-6]", tag):
            self.levels.append(int(tag[1]))
        if self.in_article and tag == "img":
            self.pictures.append((given.get("src"), given.get("alt") or ""))

    def handle_endtag(self, tag):
        self.in_article = self.in_article and tag != "article"


@functools.lru_cache(None)
def read(page):
    return Page(page)


def target(page, link):
    """The file of the site to which a link leads, and its anchor; None for other sites."""
    parts = urllib.parse.urlsplit(link)
    if parts.scheme or parts.netloc:
        return None
    file = (HTML / page).parent / urllib.parse.unquote(parts.path) if parts.path else HTML / page
    return os.path.relpath(file, HTML), urllib.parse.unquote(parts.fragment)


def test_there_is_a_site():
    assert "index.html" in PAGES and len(PAGES) > 100 and len(READ) > 60


def test_links_and_anchors_exist():
    dead, files = [], {file.relative_to(HTML).as_posix() for file in HTML.rglob("*")}
    for page in PAGES:
        for place in set(read(page).places) - {"#"}:
            file, anchor = target(page, place) or ("index.html", "")
            if file not in files or (anchor and file.endswith(".html") and anchor not in read(file).anchors):
                dead.append(f"{page}: {place}")
    assert not dead, "\n".join(dead[:20])


def test_nothing_is_loaded_from_elsewhere():
    for page in PAGES:
        for place in read(page).loaded:
            assert not re.match(r"(https?:)?//", place), f"{page}: {place}"
    for sheet in HTML.rglob("*.css"):
        assert not re.search(r"(@import|url\()\s*[\"']?(https?:)?//", sheet.read_text()), sheet


def test_every_page_is_two_clicks_from_the_first():
    far, clicks = {"index.html": 0}, collections.deque(["index.html"])
    while clicks:
        page = clicks.popleft()
        for link in read(page).clicks:
            found = target(page, link)
            if found and found[0] in PAGES and found[0] not in far:
                far[found[0]] = far[page] + 1
                clicks.append(found[0])
    without = {"search.html"}  # the form leads to it
    assert {page for page in PAGES if far.get(page, 9) > 2} <= without


def test_headings_and_alternative_texts():
    for page in PAGES:
        levels = read(page).levels
        if page == "search.html":  # its headings are written by a script
            continue
        assert levels.count(1) == 1 and levels[0] == 1, f"{page}: {levels}"
        assert all(after <= before + 1 for before, after in zip(levels, levels[1:])), f"{page}: {levels}"
        for place, words in read(page).pictures:
            assert len(words.split()) > 2, f"{page}: {place} has no alternative text"


def test_links_to_pages_have_titles():
    """Not the names of the files from which the pages are made."""
    named = [f"{page}: {link}" for page in READ for link in re.findall(r'<a [^>]*href="(?![^"]*files/)[^"]+"[^>]*>(?:<span[^>]*>)?([\w./-]+\.md)<', (HTML / page).read_text())]
    assert not named, "\n".join(named[:20])


def test_error_codes_have_anchors():
    codes = re.findall(r"^## (PGAS-E\d{4})", (ROOT / "docs/errors.md").read_text(), re.M)
    assert len(codes) > 20 and {code.lower() for code in codes} <= read("errors.html").anchors


def test_every_public_header_has_a_page():
    headers = [*(ROOT / "include/pgas").glob("*.hpp"), *(ROOT / "include/pgas/device").glob("*.hpp")]
    named = {name for name in (header.relative_to(ROOT / "include").as_posix() for header in headers)}
    shown = set(re.findall(r">(pgas/[\w/]+\.hpp)</a>", (HTML / "reference/calls/index.html").read_text()))
    only_includes = {"pgas/pgas.hpp", "pgas/device.hpp", "pgas/compat_support.hpp", "pgas/device/peer_routes.hpp"}
    assert named - shown <= only_includes


def test_manifests_are_yaml():
    text = (ROOT / "docs/guides/kubernetes.md").read_text()
    service, job = yaml.safe_load_all(re.search(r"^```yaml\n(.*?)^```", text, re.M | re.S)[1])
    assert service["kind"] == "Service" and job["kind"] == "Job" and job["spec"]["completions"] == job["spec"]["parallelism"]
    assert job["spec"]["template"]["spec"]["subdomain"] == service["metadata"]["name"]


# ---- in a browser ----------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def browser():
    chromium = shutil.which("chromium")
    if not chromium:
        pytest.skip("there is no chromium")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        yield started
        started.close()


ELSEWHERE = []  # what pages have loaded from other places


def opened(browser, width, **options):
    page = browser.new_page(viewport={"width": width, "height": 900}, **options)
    page.set_default_timeout(120000)  # other tests may use all cores
    page.on("request", lambda request: request.url.startswith(("file:", "data:")) or ELSEWHERE.append(f"{page.url}: {request.url}"))
    return page


def address(page):
    return f"file://{HTML}/{page}"


def faults(page, name, navigation=True, contrast=True):
    """What axe finds on a page: contrast, texts of pictures and links, tables, landmarks, use of the keyboard."""
    from axe_playwright_python.sync_playwright import Axe

    page.goto(address(name))
    rules = {"runOnly": {"type": "tag", "values": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa"]}, "resultTypes": ["violations"], "preload": False,
             "iframes": False, "rules": {"color-contrast": {"enabled": contrast}}}
    part = None if navigation else {"exclude": [[".sidebar-drawer"], [".toc-drawer"]]}
    return [f"{name}: {fault['id']}: {node['html'][:120]}" for fault in Axe().run(page, context=part, options=rules).response["violations"]
            for node in fault["nodes"][:2]]


def test_accessibility(browser):
    """All pages. The navigation is the same on all pages, so the first page suffices. Contrast takes half of the time,
    and the style sheet and the colours of code are the same on all pages, so the next test has some pages."""
    page = opened(browser, 1280)
    assert not [each for name in READ for each in faults(page, name, navigation=name == "index.html", contrast=False)]


@pytest.mark.parametrize("scheme, width", [("light", 1280), ("dark", 1280), ("light", 390)])
def test_contrast(browser, scheme, width):
    page = opened(browser, width, color_scheme=scheme)
    some = ["coming/torch.html", "guides/slurm.html", "concepts/memory-model.html", "errors.html", "reference/calls/device-rma-hpp.html"]
    assert not [each for name in ["index.html", *some] for each in faults(page, name, navigation=name == "index.html")]


def test_no_page_is_wider_than_a_phone(browser):
    """Wide tables and code scroll in their own boxes."""
    page, wide = opened(browser, 390), []
    for name in READ:
        page.goto(address(name), wait_until="domcontentloaded")
        if page.evaluate("document.documentElement.scrollWidth") > 390:
            wide.append(name)
    assert not wide


QUESTIONS = {
    "slurm": "guides/slurm.html",
    "PGAS-E0205": "errors.html#",
    "GPU": "support.html",
    "supported GPU": "support.html",
    "share a tensor": "sharing.html",
    "hang": "debugging.html",
    "put_signal": "signal-hpp.html#",
    "PGAS_WAIT_TIMEOUT": "configuration.html#",
    "A100": "support.html",
    "pgas-why": "debugging.html",
    "why does my job hang": "debugging.html",
    "share a tensor between two processes": "share-a-tensor-between-two-processes",
    "kubernetes": "guides/kubernetes.html",
    "barrier": "barrier-hpp.html",
}


@pytest.mark.parametrize("words", QUESTIONS)
def test_search(browser, words):
    """The page is among the first three results."""
    page = opened(browser, 390)
    page.goto(address("search.html?q=" + urllib.parse.quote_plus(words)))
    page.wait_for_selector("#search-results ul.search li a")
    page.wait_for_function("document.querySelector('.search-summary').innerText.includes('finished')")
    first = [link.get_attribute("href") for link in page.query_selector_all("#search-results ul.search li a")[:3]]
    page.close()
    assert any(QUESTIONS[words] in link for link in first), first


def test_navigation_on_a_phone(browser):
    """The button opens the navigation, and a link in it leads to its page."""
    page = opened(browser, 390)
    page.goto(address("index.html"))
    page.locator(".mobile-header label[for=__navigation]").click()
    page.locator(".sidebar-tree a", has_text="Launching on Slurm").click()
    page.wait_for_url("**/guides/slurm.html")
    assert page.locator("h1").inner_text().startswith("Launching on Slurm")


def test_the_browser_loaded_only_files():
    assert not ELSEWHERE

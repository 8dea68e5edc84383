"""The settings of Sphinx. docs/site/build.py copies the pages and runs Sphinx with this file."""

import pathlib
import re

root = pathlib.Path(__file__).resolve().parents[2]

project = "pgas"
copyright = "the authors of pgas, Apache License 2.0"
of_headers = root / "include/pgas/version.h"
stated = of_headers.read_text() if of_headers.exists() else (root / "CMakeLists.txt").read_text()
version = release = re.search(r'(?:project\(pgas VERSION |PGAS_VERSION_TEXT ")([\d.]+)', stated)[1]
language = "en"

extensions = ["myst_parser", "sphinx_copybutton"]
myst_heading_anchors = 5  # the anchors that GitHub gives the headings
myst_links_external_new_tab = False
highlight_language = "text"
smartquotes = False  # a quotation mark may belong to a command
suppress_warnings = ["misc.highlighting_failure"]  # blocks with a part of a program, such as `kernel<<<..., stream>>>`
copybutton_prompt_text = "$ "

html_theme = "furo"  # pages without a script or a font of another server, and with a navigation for phones
html_title = f"pgas {version}"
html_static_path = ["style.css"]
html_search_scorer = str(pathlib.Path(__file__).parent / "scorer.js")
html_css_files = ["style.css"]
html_show_sourcelink = False
html_copy_source = False
html_use_index = False  # the search has the entries
html_theme_options = {"top_of_page_buttons": []}
# A browser doesn't let a page that was opened as a file read another file, so the search shows no excerpts.
html_show_search_summary = False
pygments_style = "a11y-high-contrast-light"
pygments_dark_style = "a11y-high-contrast-dark"

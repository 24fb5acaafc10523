"""The site from docs/: make docs. The pages are plain Markdown, and index.md is the navigation."""

import os
import pathlib
import re

from docutils.nodes import SkipNode
from latex2mathml.converter import convert

DOCS = pathlib.Path(__file__).resolve().parents[1]
REPOSITORY = "https://github.com/pho-go/pho/blob/main/"

project = "pho"
author = "the pho authors"
extensions = ["myst_parser", "sphinx_copybutton"]
exclude_patterns = ["site"]
suppress_warnings = ["myst.header"]  # some pages begin below the first level
myst_enable_extensions = ["dollarmath"]
myst_heading_anchors = 5
# Blocks that Pygments cannot colour are shown as they are.
highlight_language = "none"

html_theme = "furo"
html_title = "pho"
html_math_renderer = "mathml"
html_copy_source = False
html_show_sourcelink = False
html_theme_options = {"source_repository": "https://github.com/pho-go/pho/", "source_branch": "main", "source_directory": "docs/"}


def outside(app, docname, source):
    """Links to files outside docs/ go to the repository; make check-docs has followed them."""
    here = (DOCS / docname).parent

    def link(match):
        picture, target = match[1], match[2]
        if picture or "://" in target or target.startswith("#"):
            return match[0]
        path = pathlib.Path(os.path.normpath(here / target.partition("#")[0]))
        if DOCS in path.parents:
            return match[0]
        return match[0][: match.start(2) - match.start()] + REPOSITORY + os.path.relpath(here / target, DOCS.parent) + ")"

    source[0] = re.sub(r"(!?)\[[^\]]*\]\(([^)\s]+)\)", link, source[0])
    if docname == "index":
        source[0] += navigation(source[0])


def navigation(index):
    """The lists of links under the headings of index.md as Sphinx wants them."""
    trees = ""
    for section in re.split(r"^## ", index, flags=re.MULTILINE)[1:]:
        caption = section.partition("\n")[0]
        pages = re.findall(r"^- \[[^\]]*\]\(([^)#:]+)\.md\)", section, flags=re.MULTILINE)
        trees += f"\n\n```{{toctree}}\n:hidden:\n:caption: {caption}\n\n" + "\n".join(pages) + "\n```\n"
    return trees


def mathml(display):
    def visit(writer, node):
        writer.body.append(convert(node.astext(), display=display))
        raise SkipNode

    return visit


def setup(app):
    app.connect("source-read", outside)
    # Browsers draw MathML by themselves: no script, and nothing to load.
    app.add_html_math_renderer("mathml", (mathml("inline"), None), (mathml("block"), None))

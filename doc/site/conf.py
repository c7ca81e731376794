"""The settings of Sphinx. doc/site/pages.py writes the pages, and Doxygen reads the headers (doc/Makefile.mk)."""
import os
import re
import sys

top = os.environ["OSLA_SRCDIR"]
sys.path.insert(0, os.path.join(top, "python"))

project = "OSLA"
author = "the authors of OSLA"
copyright = "BSD-3-Clause"
release = version = os.environ["OSLA_VERSION"]
language = "en"

extensions = ["breathe", "myst_parser", "sphinx.ext.autodoc"]
source_suffix = {".md": "markdown"}
myst_heading_anchors = 4
breathe_projects = {"osla": os.environ["OSLA_XML"]}
breathe_default_project = "osla"
breathe_domain_by_extension = {"h": "c"}
breathe_show_include = False
breathe_show_define_initializer = True
highlight_language = "none"

# autodoc imports the package without MPI and without its compiled part.
autodoc_mock_imports = ["numpy", "osla._core"]
autodoc_member_order = "bysource"
autodoc_preserve_defaults = True
autodoc_typehints = "signature"

html_theme = "furo"
html_title = f"OSLA {release}"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_show_sphinx = False
html_show_copyright = False
html_copy_source = False
html_theme_options = {"navigation_with_keys": True}


def plain_text(app, what, name, obj, options, lines):
    """Escapes a docstring, which is plain text: only `code` has a meaning, and indented lines are kept."""
    out, literal = [], False
    for line in lines:
        if line.strip() and line.startswith("    ") != literal:
            literal = not literal
            out += ["", "::", ""] if literal else [""]
        if not literal:
            parts = re.split(r"(`[^`]*`)", line)
            line = "".join(f"`{p}`" if p.startswith("`") else re.sub(r"([|*\\]|_\b)", r"\\\1", p)
                           for p in parts)
        out.append(line)
    lines[:] = out


def returned(app, what, name, obj, options, signature, returns):
    """Replaces the return type Generator[..., ..., T] of a collective call (python/osla/_calls.py) by T."""
    found = re.fullmatch(r"(?:typing\.)?Generator\[(?:None|str), None, (.*)\]", returns or "", re.S)
    return signature, found[1] if found else returns


def setup(app):
    app.connect("autodoc-process-signature", returned)
    app.connect("autodoc-process-docstring", plain_text)

#!/usr/bin/env python3
"""Checks the site: every link and picture inside it has a target, and every name on standard input has
an entry with text.

usage: check.py HTML < NAMES   (each line has a language, c or py, and a name, such as `py osla.gemm`)
"""
import os
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit


class Page(HTMLParser):
    """A page: its anchors, the targets of its links, and the number of words in the entry of each anchor."""

    def __init__(self, path):
        super().__init__()
        self.anchors, self.links, self.words, self.open = set(), [], {}, []
        self.entry = None  # the id of the last <dt id=...>
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag, attributes):
        values = dict(attributes)
        for name in ("id", "name"):
            if values.get(name) and (name == "id" or tag == "a"):
                self.anchors.add(values[name])
        for name in ("href", "src"):
            if values.get(name):
                self.links.append(values[name])
        if tag == "dt" and "id" in values:
            self.entry = values["id"]
        if tag == "dd":
            self.open.append(self.entry)
        if tag == "span" and values.get("id", "").startswith(("c.", "_CPPv")):
            self.words.setdefault(values["id"], 0)

    def handle_endtag(self, tag):
        if tag == "dd" and self.open:
            self.open.pop()

    def handle_data(self, data):
        if self.open and self.open[-1]:
            self.words[self.open[-1]] = self.words.get(self.open[-1], 0) + len(data.split())


def main(root, names):
    root = Path(root).resolve()
    pages = {path: Page(path) for path in root.rglob("*.html")}
    faults, links, words = [], 0, {}
    for path, page in pages.items():
        here = path.relative_to(root)
        words.update(page.words)
        for link in page.links:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                if page.links and parts.scheme in ("http", "https") and link.endswith((".js", ".css", ".woff2")):
                    faults.append(f"{here}: {link} is fetched from another site")
                continue
            links += 1
            target = Path(os.path.normpath(path.parent / unquote(parts.path))) if parts.path else path
            if not target.is_file():
                faults.append(f"{here}: {link} does not exist")
            elif parts.fragment and target in pages and unquote(parts.fragment) not in pages[target].anchors:
                faults.append(f"{here}: {link}: no such anchor")
    entries = []
    for language, name in names:
        anchor = f"c.{name}" if language == "c" else name
        if not words.get(anchor):
            entries.append(f"{name} has no entry, or an entry without text")
    faults = entries + faults
    print("\n".join(faults[:40]))
    print(f"{len(pages)} pages, {links} links, {len(names)} names, {len(faults)} faults")
    return 1 if faults or not pages or not names else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], [line.split() for line in sys.stdin if line.strip()]))

#!/usr/bin/env python3
"""Writes the pages of the site, for Sphinx, from files of the tree.

usage: pages.py TOP OUT MANDOC HEADER...

A guide or a summary of results becomes a page with the same text. A link to a file or folder of the tree
becomes a link to a page: for a header a page with its contracts, for another file a page with its text,
for a folder a page with a list of its files.
"""
import ast
import html
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

LANGUAGE = {".c": "c", ".h": "c", ".f90": "fortran", ".py": "python", ".md": "markdown", ".json": "json",
            ".xml": "xml", ".sh": "bash"}
FLOORS = [("kernels", "Kernels"), ("matrix", "Matrices"), ("file", "Files"), ("ga_adapt", "Global Arrays"),
          ("memory", "Memory"), ("transport", "Transport"), ("blas", "BLAS and LAPACK"), ("base", "Base")]
PYTHON = {"transport": "Ranks", "matrix": "Matrices", "kernels": "Products, factorisations, solves",
          "hessian": "The accumulator", "forest": "Star forests", "sparse": "Sparse matrices", "file": "Files", "_errors": "Exceptions"}
EXAMPLES = ["doc/example.c", "doc/example.f90", "python/examples/inversion.py",
            "python/examples/normals.py", "python/examples/sinex.py", "python/examples/packed.py",
            "python/examples/make_normals.py", "doc/from_scalapack.c",
            "ga_adapt/example.c", "doc/asynchronous.c", "doc/grid_and_blocks.c", "doc/write_updates.c",
            "doc/write_updates.py"]
LINK = re.compile(r"(!?)\[((?:[^\[\]]|\[[^\[\]]*\])*)\]\(([^()\s]+)\)")


class Site:
    def __init__(self, top, out, mandoc, headers):
        self.top, self.out, self.mandoc, self.headers = Path(top).resolve(), Path(out), mandoc, headers
        table = (self.top / "include/README.md").read_text(encoding="utf-8")  # the folder of each header
        self.rooms = {header: cells[1].strip() for cells in (line.split("|") for line in table.splitlines()) if len(cells) == 4
                      for header in cells[2].split()}
        self.texts = set()  # files and folders to which pages link, and whose pages are not yet written
        self.done = set()
        self.pages = {f"doc/{p.name}": f"guides/{p.name}" for p in self.top.glob("doc/*.md")}
        self.pages.update({f"doc/{p.name}": f"manual/{p.name}.md" for p in self.top.glob("doc/*.1")})
        self.pages.update({h: f"api/{Path(h).stem}.md" for h in headers})
        self.pages.update({"README.md": "index.md", "NEWS.md": "news.md", "CONTRIBUTING.md": "contributing.md",
                           "results/README.md": "results/index.md"})
        self.entries = sorted((p for p in self.top.glob("results/*") if p.is_dir()))
        for entry in self.entries:
            name = f"results/{entry.name}"
            self.pages[name] = self.pages[f"{name}/summary.md"] = f"{name}.md"
        self.pages.update({e: f"examples/{e.replace('/', '_')}.md" for e in EXAMPLES})

    def page_of(self, path):
        """Returns the page of a file or folder of the tree. If there is none, plans a page with its text."""
        if path not in self.pages:
            if not (self.top / path).exists():
                raise SystemExit(f"pages: a link names {path}, which is not in the tree")
            self.pages[path] = f"tree/{path}.md"
        if self.pages[path].startswith("tree/"):
            self.texts.add(path)
        return self.pages[path]

    def write(self, page, text):
        target = self.out / page
        target.parent.mkdir(parents=True, exist_ok=True)
        if not target.exists() or target.read_text(encoding="utf-8") != text:
            target.write_text(text, encoding="utf-8")
        self.done.add(target)

    def linked(self, text, origin, page):
        """Returns `text`, Markdown of the file `origin`, with its links changed to those of `page`."""
        def link(found):
            mark, name, target = found.groups()
            if re.match(r"[a-z]+:", target) or target.startswith("#"):
                return found[0]
            target, _, anchor = target.partition("#")
            path = os.path.normpath(os.path.join(os.path.dirname(origin), target))
            if mark:
                picture = self.out / path
                picture.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(self.top / path, picture)
                self.done.add(picture)
                return f"![{name}](/{path})"
            other = os.path.relpath(self.page_of(path), os.path.dirname(page))
            return f"[{name}]({other}{'#' + anchor if anchor else ''})"

        named = dict(re.findall(r"^\[([^\]]+)\]: (\S+)$", text, re.M))  # links [NAME] with [NAME]: TARGET
        text = re.sub(r"^\[[^\]]+\]: \S+\n", "", text, flags=re.M)
        text = re.sub(r"\[([^\[\]]+)\](?![(:\[])", lambda m: f"{m[0]}({named[m[1]]})" if m[1] in named else m[0], text)
        parts = re.split(r"(^```.*?^```$)", text, flags=re.S | re.M)
        return "".join(p if p.startswith("```") else LINK.sub(link, p) for p in parts)

    def guide(self, origin, more=""):
        page = self.pages[origin]
        text = (self.top / origin).read_text(encoding="utf-8")
        self.write(page, self.linked(text, origin, page) + more)

    def header(self, path):
        name = Path(path).name
        self.write(self.pages[path], f"# {name}\n\n`#include <{name}>` · "
                   f"[the text of the header](/{self.text_page(path)})\n\n"
                   f"```{{eval-rst}}\n.. doxygenfile:: {path}\n```\n")

    def text_page(self, path):
        """Writes a page with the text of a file, even if the file has another page. Returns its path."""
        page = f"tree/{path}.md"
        text = (self.top / path).read_text(encoding="utf-8")
        language = LANGUAGE.get(Path(path).suffix, "none")
        fence = "`" * max(3, 1 + max(map(len, re.findall("`+", text)), default=0))
        self.write(page, f"---\norphan: true\n---\n\n# {path}\n\n{fence}{{code-block}} {language}\n{text}{fence}\n")
        return page

    def folder_page(self, path):
        page = f"tree/{path}.md"
        names = subprocess.run(["find", path, "-type", "f"], cwd=self.top, capture_output=True, text=True,
                               check=True).stdout.split()
        rows = "\n".join(f"- `{name}`" for name in sorted(names))
        self.write(page, f"---\norphan: true\n---\n\n# {path}/\n\n{rows}\n")

    def example(self, path):
        language = LANGUAGE[Path(path).suffix]
        text = (self.top / path).read_text(encoding="utf-8")
        self.write(self.pages[path], f"# {path}\n\n```{{code-block}} {language}\n{text}```\n")

    def manual(self, path):
        """Writes a page from a man page, by mandoc; its sections become Markdown's, for the table of contents."""
        made = subprocess.run([self.mandoc, "-T", "html", "-O", "fragment,man=%N.%S.html", str(self.top / path)],
                              capture_output=True, text=True, check=True).stdout
        made = re.sub(r'<table class="(head|foot)">.*?</table>|</?section[^>]*>|<a class="permalink"[^>]*>', "", made,
                      flags=re.S)
        known = {p.name for p in self.top.glob("doc/*.1")}
        made = re.sub(r'<a class="Xr" href="([^"]*)\.html">(.*?)</a>',
                      lambda f: f[0] if f[1] in known else f[2], made, flags=re.S)
        pieces = re.split(r'<h([12]) class="S[hs]"[^>]*>(.*?)</h\1>', made, flags=re.S)
        out = [f"# {Path(path).stem}(1)"]
        for i in range(0, len(pieces), 3):
            if i:
                title = html.unescape(re.sub(r"<[^>]*>|\s+", " ", pieces[i - 1])).strip().capitalize()
                out.append("#" * (1 + int(pieces[i - 2])) + " " + title)
            inner = re.sub(r' id="[^"]*"', "", pieces[i]).replace("</a>", "") if "permalink" in pieces[i] else \
                re.sub(r' id="[^"]*"', "", pieces[i])
            inner = re.sub(r"^</?div[^>]*>\s*|</div>\s*$", "", inner.strip())
            if inner.strip():
                inner = "\n".join("   " + line for line in inner.splitlines())
                out.append(f"```{{eval-rst}}\n.. raw:: html\n\n   <div class=\"manual\">\n{inner}\n   </div>\n```")
        self.write(self.pages[path], "\n\n".join(out) + "\n")

    def python(self):
        """Writes the page of the Python package, with a section for each module."""
        package = self.top / "python/osla"
        sections, offered = {}, []
        for node in ast.parse((package / "__init__.py").read_text(encoding="utf-8")).body:
            if isinstance(node, ast.ImportFrom) and node.level == 1 and node.module:
                sections[node.module] = [alias.name for alias in node.names]
            elif isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") == "__all__":
                offered = ast.literal_eval(node.value)
        text = ("# The Python package\n\nThe guide [From Python](guides/python.md) explains its use, and "
                "[python/examples/inversion.py](examples/python_examples_inversion.py.md) is a whole program.\n\n"
                "```{eval-rst}\n.. automodule:: osla\n")
        for module in sorted(sections, key=lambda m: list(PYTHON).index(m) if m in PYTHON else len(PYTHON) - 1.5):
            title = PYTHON.get(module, module.strip("_").capitalize())
            kinds = {n.name: n for n in ast.parse((package / f"{module}.py").read_text(encoding="utf-8")).body
                     if hasattr(n, "name")}
            text += f"\n{title}\n{'-' * len(title)}\n\n"
            for name in (n for n in sections[module] if n in offered):
                if module == "_errors":
                    text += f".. autoexception:: osla.{name}\n   :show-inheritance:\n\n"
                elif isinstance(kinds.get(name), ast.ClassDef):
                    text += f".. autoclass:: osla.{name}\n   :members:\n   :inherited-members: tuple\n\n"
                else:
                    text += f".. autofunction:: osla.{name}\n\n"
        self.write("python.md", text + "```\n")

    def entry(self, folder):
        """Writes the page of an entry of results: its summary, its pictures and a list of its other files."""
        name = f"results/{folder.name}"
        page = self.pages[name]
        summary = folder / "summary.md"
        text = self.linked(summary.read_text(encoding="utf-8"), f"{name}/summary.md", page) if summary.exists() \
            else f"# {folder.name[11:].replace('-', ' ').capitalize()}\n"
        pictures = sorted(folder.glob("*.png"))
        if pictures:
            text += "\n\n## Pictures\n\n" + "\n\n".join(
                f"![{p.stem}](/{name}/{p.name})\n\n*{p.stem}*" for p in pictures) + "\n"
            for p in pictures:
                (self.out / name).mkdir(parents=True, exist_ok=True)
                shutil.copyfile(p, self.out / name / p.name)
        files = [p.name for p in sorted(folder.iterdir()) if p.suffix != ".png" and p.name != "summary.md"]
        text += f"\n\n## Recorded in {name}/\n\n" + "\n".join(f"- `{f}`" for f in files) + "\n"
        self.write(page, text)

    def tree(self, caption, pages, depth=1, at=""):
        rows = "\n".join("/" + p for p in pages)
        title = f":caption: {caption}\n" if caption else ""
        return f"\n```{{toctree}}\n:maxdepth: {depth}\n{title}{at}\n{rows}\n```\n"

    def write_all(self):
        guides = [p for p in sorted(self.pages.values()) if p.startswith("guides/")]
        manual = sorted(p for p in self.pages.values() if p.startswith("manual/"))
        for path in self.headers:
            self.header(path)
        by_floor = "# The C library\n\n`osla.h` includes the stable headers, `osla_unstable.h` all except `osla_ga.h`. "
        by_floor += "Each header has the whole contract of its calls. {ref}`genindex` lists all calls by name.\n"
        for folder, name in FLOORS:
            of_floor = [self.pages[h] for h in self.headers if folder in self.rooms[Path(h).name].split("/")]
            if of_floor:
                by_floor += f"\n## {name}\n" + self.tree("", of_floor)
        self.write("api/index.md", by_floor)
        for path in list(self.pages):
            if path.startswith("doc/") and path.endswith(".md") and self.pages[path].startswith("guides/"):
                self.guide(path)
            elif path.endswith(".1"):
                self.manual(path)
        for path in EXAMPLES:
            self.example(path)
        self.write("examples/index.md", "# Examples\n\nWhole programs; the tests compile and run each of them.\n"
                   + self.tree("", [self.pages[e] for e in EXAMPLES]))
        self.write("manual/index.md", "# Commands\n" + self.tree("", manual))
        self.write("guides/index.md", "# Guides\n" + self.tree("", guides))
        for folder in self.entries:
            self.entry(folder)
        self.guide("results/README.md", "\n## Entries\n"
                   + self.tree("", [self.pages[f"results/{e.name}"] for e in self.entries]))
        self.guide("NEWS.md")
        self.guide("CONTRIBUTING.md")
        self.python()
        self.guide("README.md", self.tree("", ["guides/index.md", "manual/index.md", "api/index.md", "python.md",
                                               "examples/index.md", "results/index.md", "news.md",
                                               "contributing.md"], 2, ":hidden:\n"))
        while self.texts:
            path = self.texts.pop()
            if (self.top / path).is_dir():
                self.folder_page(path)
            else:
                self.text_page(path)
        for old in self.out.rglob("*.md"):  # removes pages of an earlier run
            if old not in self.done:
                old.unlink()


if __name__ == "__main__":
    Site(sys.argv[1], sys.argv[2], sys.argv[3], sys.argv[4:]).write_all()

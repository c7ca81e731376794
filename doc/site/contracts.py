#!/usr/bin/env python3
"""Doxygen's input filter: makes documentation of the plain comments of a public header.

The first comment describes the header, one before a declaration describes it and those that follow it
without a blank line, one behind a member, an enumerator or a macro describes that. Parameters
(`name [in] text`) become a list, other indented lines are kept as they stand.
"""
import re
import sys
from pathlib import Path

SPECIAL = re.compile(r"(::|[\\@<>&#%*$~|])")
PARAMETER = re.compile(r"^ {1,4}(\S.*?)\s+\[(in|out|in,out|in, out)\]\s+(.*)$")
TOP = Path(__file__).resolve().parents[2]
FUNCTIONS = set(re.findall(r"^(?:OSLA_API )?[a-zA-Z][^;{}=#/]*?\b(osla_\w+)\(", "\n".join(
    header.read_text(encoding="utf-8") for header in TOP.glob("include/osla_*.h")), re.M))
CALL = re.compile(r"\bosla_\w+\b(?!\(|\*|\.h\b)")
TOPIC = re.compile(r"^(Errors|Memory|Source|Sources|Threads)\b.*[:,]")


def escape(text):
    """Text without any meaning to Doxygen, but for `code`; functions become links."""
    parts = re.split(r"(`[^`]*`)", text)
    return "".join(p if p.startswith("`") else SPECIAL.sub(r"\\\1", CALL.sub(
        lambda f: f[0] + "()" if f[0] in FUNCTIONS else f[0], p)) for p in parts)


def body(comment):
    """The lines of a comment without its stars."""
    lines = comment[2:-2].splitlines()
    return [re.sub(r"^\s*\* ?", "", line).rstrip() if i else line.strip()
            for i, line in enumerate(lines)]


def markdown(comment):
    """A comment as lines of Markdown."""
    out, kind = [], "text"  # or item, or verbatim
    for line in body(comment):
        indented = line.startswith(" ")
        parameter = PARAMETER.match(line)
        was = kind
        if parameter:
            kind, name, way, text = "item", *parameter.groups()
            line = f"- **{escape(name)}** [{way}] {escape(text)}"
        elif re.match(r" *- ", line):
            kind, line = "item", "- " + escape(line.lstrip()[2:])
        elif line == "":
            kind = "text"
        elif kind == "item" and indented:
            line = "  " + escape(line.strip())
        elif indented:
            kind = "verbatim"
        else:
            kind = "text"
            if TOPIC.match(line) and out and out[-1]:
                out.append("")
            line = escape(line)
        if was != "verbatim" and kind == "verbatim":
            out.append("@verbatim")
        if was == "verbatim" and kind != "verbatim":
            out.append("@endverbatim")
        if (was, kind) in (("text", "item"), ("item", "text")):
            out.append("")
        if kind == was and out and out[-1] and line and (kind == "text" or kind == "item" and line.startswith("  ")):
            out[-1] += " " + line.strip()  # Doxygen ends a paragraph where a quotation goes on in the next line
        else:
            out.append(line)
    if kind == "verbatim":
        out.append("@endverbatim")
    return out


def block(comment, mark="/**"):
    return mark + "\n" + "\n".join(markdown(comment)) + "\n*/\n"


def trailing(line, inside):
    """A line with its closing comment as documentation of what stands before it."""
    found = re.match(r"(.*\S)(\s*)(/\*.*\*/)\s*$", line, re.S)
    if not found or not (inside or found[1].rstrip().endswith(";") or found[1].startswith("#define")):
        return line
    text = " ".join(escape(x) for x in " ".join(body(found[3])).split())
    return f"{found[1]} /**< {text} */\n"


def converted(source):
    """The lines of a header with its comments as Doxygen's."""
    lines = source.splitlines(keepends=True)
    comment = last = None  # the one that waits for its declaration; that of the declaration before
    first, depth, open_declaration = True, 0, False
    while lines:
        line = lines.pop(0)
        code = line.strip()
        at = line.find("/*")
        while at >= 0 and "*/" not in line[at:]:
            line += lines.pop(0)
        if code.startswith("/*"):
            if first:
                yield block(line.strip(), "/** @file\n")
            elif not re.match(r"/\* -{2,}", code):
                following = lines[0].strip() if lines else ""
                if depth == 0 and following == "":
                    yield block(line.strip(), "/** @file\n")
                else:
                    comment = line.strip()
                    yield block(comment)
            first = False
            continue
        bare = re.sub(r"/\*.*?\*/", "", line, flags=re.S)
        if code == "":
            comment = last = None
        elif not open_declaration and depth == 0 and not code.startswith(("#", "}", 'extern "C"')):
            if comment is None and last is not None:
                yield block(last)
            last, comment = comment or last, None
        if 'extern "C"' in line or (depth == 0 and code == "}"):
            yield line
            continue
        if not code.startswith("#"):
            depth += bare.count("{") - bare.count("}")
            open_declaration = bool(bare.strip()) and not (depth == 0 and bare.rstrip().endswith(";"))
        yield trailing(line, depth > 0)


if __name__ == "__main__":
    with open(sys.argv[1], encoding="utf-8") as header:
        sys.stdout.write("".join(converted(header.read())))

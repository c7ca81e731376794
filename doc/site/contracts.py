#!/usr/bin/env python3
"""The input filter of Doxygen: makes Doxygen's comments from the plain comments of a public header.

The first comment describes the header. A comment before a declaration describes this declaration and
all that follow it without a blank line. A comment behind a member, an enumerator or a macro describes
it. Parameters (`name [in] text`) become a list, and other indented lines are kept.
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
    """Escapes the text for Doxygen, except `code`, and makes links of the names of functions."""
    parts = re.split(r"(`[^`]*`)", text)
    return "".join(p if p.startswith("`") else SPECIAL.sub(r"\\\1", CALL.sub(
        lambda f: f[0] + "()" if f[0] in FUNCTIONS else f[0], p)) for p in parts)


def body(comment):
    """Returns the lines of a comment without the stars."""
    lines = comment[2:-2].splitlines()
    return [re.sub(r"^\s*\* ?", "", line).rstrip() if i else line.strip()
            for i, line in enumerate(lines)]


def markdown(comment):
    """Returns a comment as lines of Markdown."""
    out, kind = [], "text"  # kind: text, item or verbatim
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
            out[-1] += " " + line.strip()  # Doxygen ends a paragraph if a quotation spans lines
        else:
            out.append(line)
    if kind == "verbatim":
        out.append("@endverbatim")
    return out


def block(comment, mark="/**"):
    return mark + "\n" + "\n".join(markdown(comment)) + "\n*/\n"


def trailing(line, inside):
    """Returns the line with the comment at its end as documentation of the code before it."""
    found = re.match(r"(.*\S)(\s*)(/\*.*\*/)\s*$", line, re.S)
    if not found or not (inside or found[1].rstrip().endswith(";") or found[1].startswith("#define")):
        return line
    text = " ".join(escape(x) for x in " ".join(body(found[3])).split())
    return f"{found[1]} /**< {text} */\n"


def converted(source):
    """Yields the lines of a header, with its comments in the form of Doxygen."""
    lines = source.splitlines(keepends=True)
    comment = last = None  # comment of the next declaration; comment of the previous declaration
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

"""Quoting of texts and file names for gnuplot, as bench/scripts/gnuplot.sh does it for bash
scripts, where the reasons are given."""

import os
import re


def printable(given):
    return re.sub("[\x00-\x1f\x7f]", " ", str(given))


def text(given):
    """Quotes a text as a string of gnuplot."""
    return "'" + printable(given).replace("'", "'.\"'\".'") + "'"


def tick(given):
    """Quotes the label of a tick, in which gnuplot expands formats."""
    return text(given).replace("%", "%%")


def file(name):
    """Quotes the name of a file to read or write. Raises ValueError if gnuplot accepts no such
    name."""
    if re.search("[\x00-\x1f\x7f]", name):
        raise ValueError(f"'{printable(name)}': gnuplot takes no file name with control characters")
    return text(name if os.path.isabs(name) else os.path.join(".", name))


def number(value):
    """Returns the value if it is a finite number, else raises TypeError."""
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not abs(value) < float("inf"):
        raise TypeError(f"'{printable(value)}' is not a number")
    return value

"""Texts and file names in gnuplot's scripts, as bench/scripts/gnuplot.sh has them for those in bash; the reasons stand there."""

import os
import re


def printable(given):
    return re.sub("[\x00-\x1f\x7f]", " ", str(given))


def text(given):
    """A string of gnuplot."""
    return "'" + printable(given).replace("'", "'.\"'\".'") + "'"


def tick(given):
    """The label of a tick, in which gnuplot looks for formats."""
    return text(given).replace("%", "%%")


def file(name):
    """The name of a file to read or to write. ValueError: gnuplot takes no such name."""
    if re.search("[\x00-\x1f\x7f]", name):
        raise ValueError(f"'{printable(name)}': gnuplot takes no file name with control characters")
    return text(name if os.path.isabs(name) else os.path.join(".", name))


def number(value):
    """The value, if it is a finite number. TypeError: it is none."""
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not abs(value) < float("inf"):
        raise TypeError(f"'{printable(value)}' is not a number")
    return value

#!/usr/bin/env python3
"""Writes Fortran sources in which procedures are repeated for each kind of number: NAME.f90 from NAME.f90.in.

usage: fortran/kinds.py ROOT FOLDER    (make -C build fortran-interfaces: FOLDER is ROOT/fortran)

Reads ROOT/fortran/*.f90.in and writes into FOLDER. The lines between "!kinds NAMES" and "!end kinds"
are repeated for each name of a kind. In these lines {k} becomes the name, {type} the Fortran type, and
{dtype} OSLA's constant for the type: an osla_dtype for a letter, an osla_unit_type for a word.
"""
import pathlib
import re
import sys

KINDS = {"s": ("real(c_float)", "OSLA_FLOAT"), "d": ("real(c_double)", "OSLA_DOUBLE"),
         "c": ("complex(c_float_complex)", "OSLA_COMPLEX_FLOAT"),
         "z": ("complex(c_double_complex)", "OSLA_COMPLEX_DOUBLE"),
         "real": ("real(c_double)", "OSLA_UNIT_DOUBLE"), "single": ("real(c_float)", "OSLA_UNIT_FLOAT"),
         "complex": ("complex(c_double_complex)", "OSLA_UNIT_COMPLEX_DOUBLE"),
         "integer": ("integer(c_int)", "OSLA_UNIT_INT32"), "long": ("integer(c_int64_t)", "OSLA_UNIT_INT64")}


def repeated(match: re.Match) -> str:
    """The lines of one !kinds block, once for each of its kinds."""
    copies = []
    for name in match[1].split():
        fortran_type, dtype = KINDS[name]
        copies.append(match[2].replace("{k}", name).replace("{type}", fortran_type).replace("{dtype}", dtype))
    return ("\n" if "\n\n" in match[2] or "end subroutine" in match[2] else "").join(copies)


def main(root: pathlib.Path, folder: pathlib.Path) -> None:
    for template in sorted(root.glob("fortran/*.f90.in")):
        text = re.sub(r"^ *!kinds (.*)\n((?:.*\n)*?) *!end kinds\n", repeated, template.read_text(), flags=re.M)
        head = f"! Made by fortran/kinds.py from fortran/{template.name}: do not edit.\n"
        (folder / template.stem).write_text(head + text)


if len(sys.argv) != 3:
    sys.exit(__doc__)
main(pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]))

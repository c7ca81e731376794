#!/usr/bin/env python3
"""Writes fortran/osla_c.f90, the Fortran view of OSLA's C headers: constants and structs (module
osla_values), functions (module osla_c).

usage: fortran/interfaces.py ROOT >fortran/osla_c.f90    (make -C build fortran-interfaces)

tests/install/check_fortran.sh fails if the committed file differs from the output. The parser
expects headers in the layout of clang-format, and stops at declarations that it does not know;
extend it then. A function becomes c_NAME. A pointer to one variable number is passed by reference.
All other pointers become type(c_ptr), because they may be null or arrays. Functions with types in
LEFT_OUT are left out; osla_fortran.c has replacements for some.
"""
import re
import sys

HEADERS = """include/osla_version.h include/osla_types.h include/osla_error.h
include/osla_random.h include/osla_transport.h
include/osla_trace.h include/osla_index.h include/osla_grid.h include/osla_matrix.h include/osla_part.h
include/osla_file.h include/osla_forward.h include/osla_gemm.h include/osla_lu.h
include/osla_products.h include/osla_chol.h include/osla_inverse.h include/osla_solve.h
include/osla_hessian.h include/osla_forest.h include/osla_sparse.h include/osla_krylov.h
include/osla_sparse_file.h include/osla_iterate.h include/osla_diffusion.h include/osla_splitting.h
include/osla_sweeps.h include/osla_device.h fortran/osla_fortran.h""".split()

NUMBERS = {"int": "integer(c_int)", "int64_t": "integer(c_int64_t)", "uint64_t": "integer(c_int64_t)",
           "int32_t": "integer(c_int32_t)", "size_t": "integer(c_size_t)", "double": "real(c_double)", "float": "real(c_float)", "bool": "logical(c_bool)",
           "osla_complex": "complex(c_double_complex)"}
ZERO = {"integer": "0", "real": "0", "logical": ".false.", "type(c_ptr)": "c_null_ptr",
        "type(c_funptr)": "c_null_funptr"}
# Arguments that are pointers to variable arrays of numbers: NAME in all functions, FUNCTION NAME in one.
ARRAYS = {"ipiv", "degree", "osla_even_blocks start", "osla_csr_row column", "osla_csr_row value",
          "osla_spmv y", "osla_csr_column_squares d", "osla_csr_column_norms d", "osla_csr_diagonal d", "osla_sums_all value", "osla_cg x", "osla_lsqr x",
          "osla_forest_edges leaf", "osla_vector_read_matrix_market part", "osla_iterate x", "osla_diffusion_fill x",
          "osla_sweeps_create right"}
LEFT_OUT = ("MPI_Comm", "MPI_Datatype", "MPI_Op", "...", "osla_progress_hook", "osla_notifiers",
            "osla_segment", "osla_shape", "osla_unit unit")
SAME_NAME = {"osla_unit"}  # structs whose name equals that of a constant (OSLA_UNIT), because Fortran ignores case
# Structs that callers fill in; their components get initial values, like those of options.
FILLED_IN = {"osla_fixed_point", "osla_forest_run", "osla_operator", "osla_preconditioner"}
MOST_COLUMNS = 100


class Headers:
    def __init__(self, root):
        self.enums, self.structs, self.callbacks = set(), set(), set()
        self.constants, self.types, self.functions = [], [], []
        for name in HEADERS:
            with open(f"{root}/{name}", encoding="utf-8") as file:
                self.read(name, file.read())

    def read(self, name, text):
        text = re.sub(r"/\*.*?\*/", " ", text, flags=re.S)
        for number in re.finditer(r"^#define (OSLA_VERSION_[A-Z]+) (\d+)$", text, flags=re.M):
            self.constants.append(f"integer(c_int), parameter :: {number[1]} = {number[2]}")
        text = re.sub(r"^[ \t]*#(\\\n|.)*$", "", text, flags=re.M)
        text = re.sub(r'extern "C" \{|\bOSLA_API\b|__extension__|__attribute__\s*\(\((.|\n)*?\)\)(?=\s*;)', "", text)
        text = re.sub(r"static inline [^;{]*\{(.|\n)*?\n\}", "", text)
        for statement in self.statements(re.sub(r"\s+", " ", text)):
            try:
                self.take(statement)
            except KeyError as unknown:
                sys.exit(f"interfaces.py: {name}: {unknown} in: {statement}")

    @staticmethod
    def statements(text):
        """Yields each statement: the text up to a semicolon outside of braces."""
        begin = depth = 0
        for at, letter in enumerate(text):
            depth += {"{": 1, "}": -1}.get(letter, 0)
            if letter == ";" and depth == 0:
                yield text[begin:at].strip() if "{" in text[begin:at] else text[begin:at].strip(" }")
                begin = at + 1
            depth = max(depth, 0)  # closing brace of extern "C"

    def take(self, statement):
        if match := re.fullmatch(r"(?:typedef )?enum (\w+ )?\{(.*)\}\s*(\w+)?", statement):
            self.enum(match[3], match[2])
        elif match := re.fullmatch(r"typedef struct \w+ \{(.*)\} (\w+)", statement):
            self.struct(match[2], match[1])
        elif match := re.fullmatch(r"typedef struct (\w+) (\w+)", statement):
            self.structs.add(match[2])  # opaque type
        elif match := re.fullmatch(r"typedef \w+ (\w+)\(.*\)", statement):
            self.callbacks.add(match[1])
        elif statement.startswith("typedef double _Complex"):
            pass
        elif match := re.fullmatch(r"(.*?)(\w+)\((.*)\)", statement):
            if not any(word in statement for word in LEFT_OUT):
                self.function(match[1].strip(), match[2], match[3])
        elif statement:
            raise KeyError("a statement of another kind")

    def enum(self, name, body):
        if name:
            self.enums.add(name)
        value = -1
        for item in filter(None, (part.strip() for part in body.split(","))):
            name, _, given = item.partition(" = ")
            value = eval(given, {}) if given else value + 1  # only numbers and shifts occur
            self.constants.append(f"integer(c_int), parameter :: {name} = {value}")

    def plain(self, ctype):
        """Fortran type of a value of the C type; KeyError if there is none."""
        if ctype in self.enums or ctype == "osla_err":
            return "integer(c_int)"
        if ctype in self.structs:
            return f"type({ctype})"
        return NUMBERS[ctype]

    def struct(self, name, body):
        lines, begins = [], name.endswith("_options") or name in FILLED_IN
        for member in filter(None, (part.strip() for part in body.split(";"))):
            if match := re.fullmatch(r"\w+ \(\*(\w+)\)\(.*\)", member):  # pointer to a function
                initial = " = c_null_funptr" if begins else ""
                lines.append(f"type(c_funptr) :: {match[1]}{initial}")
                continue
            match = re.fullmatch(r"(?:const )?(\w+) (.*)", member)
            for declared in match[2].split(","):
                stars, field, size = re.fullmatch(r"\s*(\**)(\w+)(?:\[(\w+)\])?", declared).groups()
                kind = ("type(c_funptr)" if stars and match[1] in self.callbacks
                        else "type(c_ptr)" if stars else self.plain(match[1]))
                initial = ""
                if begins:  # initial value as by {0} in C
                    zero = next(value for key, value in ZERO.items() if kind.startswith(key))
                    initial = f" = {zero}"
                lines.append(f"{kind} :: {field}{f'({size})' if size else ''}{initial}")
        if name in SAME_NAME:
            return
        self.structs.add(name)
        self.types.append((name, lines))

    def argument(self, text, function):
        if "*const *" in text:
            return text.split("*")[-1], "type(c_ptr), value"
        const, base, stars, name, size = re.fullmatch(r"(const )?(\w+) (\**)(\w+)(\[\d+\])?", text).groups()
        if size:
            return name, f"{self.plain(base)}, intent({'in' if const else 'inout'}) :: {name}({size[1:-1]})"
        if stars == "":
            return name, f"{self.plain(base)}, value"
        if base == "char":
            return name, f"character(kind=c_char), intent({'in' if const else 'inout'}) :: {name}(*)"
        if stars == "*" and base in self.callbacks:
            return name, "type(c_funptr), value"
        if stars == "**" and not const:
            return name, "type(c_ptr), intent(inout)"
        if stars == "*" and not const and not {name, f"{function} {name}"} & ARRAYS and (base in NUMBERS or base in self.enums):
            return name, f"{self.plain(base)}, intent(inout)"
        if base not in self.structs and base != "void":
            self.plain(base)
        return name, "type(c_ptr), value"

    def function(self, result, name, arguments):
        listed = [] if arguments == "void" else [self.argument(a.strip(), name) for a in arguments.split(",")]
        result = re.sub(r"^const ", "", result)
        if result.endswith("*"):
            answer = "type(c_ptr)"
        else:
            answer = None if result == "void" else self.plain(result)
        self.functions.append((name, listed, answer))


def wrap(line, indent):
    """Prints a statement in lines of at most MOST_COLUMNS, broken after commas."""
    rest, first = line, True
    while True:
        room = MOST_COLUMNS - indent - (0 if first else 2)
        lead = " " * (indent if first else indent + 2)
        if len(rest) <= room:
            print(lead + rest)
            return
        cut = rest.rfind(", ", 0, room - 2) + 1
        print(lead + rest[:cut] + " &")
        rest, first = rest[cut:].strip(), False


def main(root):
    headers = Headers(root)
    kinds = "c_int, c_int32_t, c_int64_t, c_size_t, c_float, c_double, c_bool, c_ptr, c_funptr, c_null_ptr, c_null_funptr"
    print("! The declarations of OSLA's C headers, for Fortran. Made by fortran/interfaces.py: do not edit.")
    print("module osla_values")
    wrap(f"use, intrinsic :: iso_c_binding, only: {kinds}", 2)
    print("  implicit none\n  public")
    wrap(f"private :: {kinds}", 2)
    print()
    for constant in headers.constants:
        wrap(constant, 2)
    for name, lines in headers.types:
        print(f"\n  type, bind(c) :: {name}")
        for line in lines:
            wrap(line, 4)
        print(f"  end type {name}")
    print("end module osla_values\n\nmodule osla_c\n  use, intrinsic :: iso_c_binding\n  use osla_values")
    print("  implicit none\n  public\n\n  interface")
    for name, arguments, answer in headers.functions:
        names = ", ".join(argument for argument, _ in arguments)
        kind, close = ("subroutine", "") if answer is None else ("function", " result(answer)")
        print()
        wrap(f'{kind} c_{name}({names}) bind(c, name="{name}"){close}', 4)
        print("      import")
        for argument, declared in arguments:
            wrap(declared if "::" in declared else f"{declared} :: {argument}", 6)
        if answer:
            print(f"      {answer} :: answer")
        print(f"    end {kind} c_{name}")
    print("  end interface\nend module osla_c")


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) == 2 else sys.exit(__doc__))

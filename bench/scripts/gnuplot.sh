# Quoting of texts and file names for gnuplot; sourced by bench/scripts/plot, timeline and solvers
# (gnuplot_text.py does it for Python). Results files may come from others: what they contain must
# not be run as a command. gnuplot expands nothing between single quotes, but runs text in
# backticks between double quotes. A quote within the text is appended as a separate string, since
# '' stands for a quote only where no other quote is beside it (gnuplot 5.4). A line feed would end
# the command, and a file name that begins with | or < would be a command.

gnuplot_text() { # TEXT
  local quote="'" text=${1//[[:cntrl:]]/ }
  printf '%s' "$quote${text//$quote/"'.\"'\".'"}$quote"
}

gnuplot_file() { # NAME
  local name=$1
  case $name in
    *[[:cntrl:]]*)
      echo "${0##*/}: '${name//[[:cntrl:]]/ }': gnuplot takes no file name with control characters" >&2
      return 1 ;;
    /*) ;;
    *) name=./$name ;;
  esac
  gnuplot_text "$name"
}

# Texts and file names in gnuplot's scripts; read by bench/scripts/plot, bench/scripts/timeline and bench/scripts/solvers. Python's
# scripts have the same in bench/scripts/gnuplot_text.py. Results are shared, so that whatever they hold must stay a text.
#
# Between single quotes gnuplot expands nothing (between double quotes it runs what stands between backticks). A quote is
# appended as a string of its own: '' stands for one only where no other quote is beside it (gnuplot 5.4). A line's end
# would end the command. A file name that begins with | or < would be a command.

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

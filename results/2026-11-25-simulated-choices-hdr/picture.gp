set terminal png size 900,600 noenhanced
set output "choices.png"
set title "choices on hdr, simulated"
set logscale x 2
set xlabel "ranks"
set ylabel "Gflop/s a core"
set yrange [0:*]
set key outside below
plot for [i=0:8] "curves.dat" index i using 1:2 with linespoints title columnheader(1)

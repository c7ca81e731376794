set terminal png size 900,600 noenhanced
set output "lu-nopivot-weak.png"
set title "lu-nopivot-weak on xt4, simulated"
set logscale x 2
set xlabel "ranks"
set ylabel "Gflop/s a core"
set yrange [0:*]
set key outside below
plot for [i=0:0] "weak.dat" index i using 1:2 with linespoints title columnheader(1)

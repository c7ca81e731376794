set terminal png size 900,600 noenhanced
set output "chol-strong.png"
set title "chol-strong on xt4, simulated"
set logscale x 2
set xlabel "ranks"
set ylabel "Gflop/s a core"
set yrange [0:*]
set key outside below
plot for [i=0:1] "curves.dat" index i using 1:2 with linespoints title columnheader(1)

set terminal png size 900,600 noenhanced
set output "assembly-weak.png"
set title "assembly-weak on xc30, simulated"
set logscale x 2
set xlabel "ranks"
set ylabel "efficiency"
set yrange [0:*]
set key outside below
plot for [i=0:0] "curves.dat" index i using 1:2 with linespoints title columnheader(1)

# gnuplot picture.gp
set terminal png size 900,600 noenhanced
set output "gemm-strong.png"
set title "gemm, one size on more ranks, simulated"
set logscale xy
set xlabel "ranks"
set ylabel "Tflop/s"
set key outside below
plot for [i=0:5] "curves.dat" index i using 1:2 with linespoints title columnheader(1)

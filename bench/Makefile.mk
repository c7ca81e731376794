# Floor 4: benchmarks.

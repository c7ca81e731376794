# Floor 3. Public headers (installed) and sources (with the headers that stay private).
kernels_headers =

kernels_sources =

"""Arithmetic: kernels on one block of rows, engines that hold the blocks, and the GPU."""

"""CUDA versions of the kernels; CuPy is imported when first needed."""

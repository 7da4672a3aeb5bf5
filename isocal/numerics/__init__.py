"""Numerical kernels: arrays in, arrays out. Nothing here knows a frame, a formula or a recipe."""

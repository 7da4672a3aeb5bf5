"""Figures: one file each; they draw arrays on a given matplotlib Axes and return it."""

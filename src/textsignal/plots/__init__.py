"""Figures for papers (`plots`), and what they are drawn with."""

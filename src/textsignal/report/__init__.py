"""The page people open: numbers in `prepare`, one self-contained HTML file from `render`."""

from textsignal.report.data import ReportData, ReportSettings
from textsignal.report.prepare import prepare
from textsignal.report.render import render, write_report

__all__ = ["ReportData", "ReportSettings", "prepare", "render", "write_report"]

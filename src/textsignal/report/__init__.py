"""The page people open: `prepare` makes its numbers."""

from textsignal.report.data import ReportData, ReportSettings
from textsignal.report.prepare import prepare


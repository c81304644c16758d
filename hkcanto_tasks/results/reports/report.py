"""Names of the report by which other modules import them."""

from .blocks import report_of as report_of
from .presentation import footer_of as footer_of
from .summary import build_report as build_report

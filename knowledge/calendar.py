"""The months and years that prices and hours of use are counted in."""

from __future__ import annotations

HOURS_PER_DAY, HOURS_PER_WEEK, HOURS_PER_YEAR = 24, 168, 8760
HOURS_PER_MONTH = 730  # 365 x 24 / 12, the month of the vendor's own comparisons
LONGEST_MONTH_HOURS = 744
DAYS_PER_MONTH = HOURS_PER_MONTH / HOURS_PER_DAY
WEEKS_PER_MONTH = HOURS_PER_MONTH / HOURS_PER_WEEK
WORKDAYS_PER_MONTH = 5 * WEEKS_PER_MONTH

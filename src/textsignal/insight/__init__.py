"""From a reading to tables and sentences for people: drivers, findings, groups, periods, explanations."""

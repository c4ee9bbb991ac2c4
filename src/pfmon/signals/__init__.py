"""The signals: what happens in a program or a machine and can be counted. Every PMU's events count signals.

============ ============================================ =========================================================
step         where                                        what it is
============ ============================================ =========================================================
event        pmu/targets/NAME/events.csv                  how one PMU selects a signal: code, unit mask, counters
signal       names.csv                                    what is counted: unit, exact or modelled, meaning
term         retired.csv, or column terms of machine.csv  a signal is the sum of its terms
occurrence   occurrences.pxd of the machine               what a mechanism of the machine records; a term names it
============ ============================================ =========================================================

An exact signal has its terms in retired.csv (signal_terms.py: instructions and marks), a modelled one in machine.csv
(machine_signals.py: occurrences, causes of bubbles, levels). To add an event, begin with the first step that is
missing:

1. nothing records it: an Occurrence, recorded by the mechanism's file in machine/;
2. no signal has this meaning: a row in names.csv, and one in retired.csv or machine.csv;
3. the event: a row in the PMU's events.csv that names the signal.

test_tables.py, test_every_event.py and test_every_signal.py check every row.
"""

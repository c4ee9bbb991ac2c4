"""The signals: what happens in a program or a machine and can be counted. Every PMU's events count signals.

============ ============================================ =========================================================
step         where                                        what it is
============ ============================================ =========================================================
event        pmu/targets/NAME/events.csv                  how one PMU selects a signal: code, unit mask, counters
signal       names.csv                                    what is counted: unit, exact or modelled, meaning
term         retired.csv, or column terms of machine.csv  a signal is the sum of its terms
occurrence   occurrences.pxd of the machine               what a mechanism of the machine records; a term names it
============ ============================================ =========================================================

Terms of retired.csv are instructions and marks (signal_terms.py): every exact signal has them, and each modelled one
that follows from these alone. Terms of machine.csv are occurrences, causes of bubbles and levels (machine_signals.py).

docs/dev/adding.md has the recipe of an event.
"""

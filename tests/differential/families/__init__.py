# SPDX-License-Identifier: BSD-3-Clause
"""One module per family of commands; each has a table `COMMANDS` of (weight, generator) rows.

A generator takes a Space and returns a Step, or a list of Steps that belong together.
"""

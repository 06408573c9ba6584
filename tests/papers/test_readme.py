"""Tables go where a README wants them, and nothing else in it changes."""

import math

from papers.readme import cells, markdown, plus_minus, with_tables

README = """Before.

<!-- table: speed -->
old
old
<!-- end -->

Between.
<!-- table: cost -->
<!-- end -->
After.
"""


def test_each_table_stands_between_its_marks():
    assert with_tables(README, {"speed": "| new |\n", "cost": "| 1 |\n"}) == README.replace(
        "old\nold", "| new |"
    ).replace("cost -->\n", "cost -->\n| 1 |\n")


def test_what_was_not_measured_stays_as_it_is():
    assert with_tables(README, {"elsewhere": "| new |\n"}) == README


def test_a_line_has_a_cell_for_every_value_of_its_column():
    rows = [{"size": 1, "cost": 2}, {"size": 4, "cost": 3}]
    line = ["greedy", *cells(rows, "size", (1, 2, 4), lambda row: str(row["cost"]))]
    assert markdown(["method", "1", "2", "4"], [line]) == (
        "| method | 1 | 2 | 4 |\n| --- | --- | --- | --- |\n| greedy | 2 |  | 3 |\n"
    )


def test_a_single_run_has_no_interval():
    assert plus_minus({"cost": 2.345, "cost ±": 0.5}, "cost", 1) == "2.3 ± 0.5"
    assert plus_minus({"cost": 2.345, "cost ±": math.nan}, "cost", 1, "+") == "+2.3"
    assert plus_minus({"cost": -0.01, "cost ±": math.nan}, "cost", 1) == "0.0"

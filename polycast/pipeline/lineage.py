"""How each form at each broker of a plan has come to be: the same lineage, the same bytes, wherever it runs."""

import pyarrow as pa

from polycast.model.plan import Plan

Lineage = tuple[str, ...]
"""The published form, and then every form on the way, as in ``("pdf", "text", "speech")``."""

LINEAGE = pa.list_(pa.string())
"""The same in a table."""


def lineages(plan: Plan) -> list[dict[str, Lineage]]:
    """For every broker of the plan's problem, the lineages of the forms that it holds in the end."""
    problem, steps = plan.problem, plan.steps
    held: list[dict[str, Lineage]] = [{} for _ in steps]
    for broker in problem.order.tolist():
        step, above = steps[broker], held[problem.parent[broker]]
        own = held[broker]
        for form in step.receives:
            own[form] = (form,) if broker == problem.root else above[form]
        for source, target in step.runs:
            own[target] = (*own[source], target)
    return held

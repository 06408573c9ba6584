"""Place conversions on a small tree from Python, and look at the plan."""

from polycast import AnyOf, Broker, ContentGraph, Format, Operator, place, problem_of

graph = ContentGraph(
    formats=(Format(name="pdf", size=18.0), Format(name="jpg", size=3.0), Format(name="txt", size=0.1)),
    operators=(Operator("pdf", "jpg", 4.2), Operator("pdf", "txt", 1.5)),
)
brokers = [
    Broker("county"),
    Broker("north", parent="county", link_cost=2.0, wants=("pdf", "jpg")),
    Broker("south", parent="county", compute_cost=3.0, wants=(AnyOf({"jpg": 0.0, "txt": 2.5}),)),
]

solution = place.solve(problem_of(graph, brokers, published="pdf"))

print(f"cost {solution.plan.cost.total:.1f}, proved the least: {solution.optimal}")
for step in solution.plan.steps:
    runs = ", ".join(f"{source} → {target}" for source, target in step.runs) or "nothing"
    delivers = ", ".join(step.delivers) or "nothing"
    print(f"{step.name} receives {', '.join(step.receives)}; runs {runs}; delivers {delivers}")

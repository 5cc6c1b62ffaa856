"""The order of a graph of numbers, and the circles that keep it from having one."""

from collections.abc import Sequence, Set
from heapq import heappop, heappush


def order(dependencies: Sequence[Set[int]]) -> tuple[list[int], list[int]]:
    """Sort nodes so that each comes after all that it depends on.

    Of several nodes that could come next the lowest number does, so nodes that are independent
    keep their order.

    Args:
        dependencies: For each node the others that it depends on.

    Returns:
        The nodes in order, and those that have no place in it: they are in a circle, or behind one.
    """
    dependents: list[list[int]] = [[] for _ in dependencies]
    for node, needed in enumerate(dependencies):
        for each in needed:
            dependents[each].append(node)
    waiting = [len(needed) for needed in dependencies]
    ready = [node for node, count in enumerate(waiting) if count == 0]  # sorted, so a heap
    result: list[int] = []
    while ready:
        node = heappop(ready)
        result.append(node)
        for dependent in dependents[node]:
            waiting[dependent] -= 1
            if waiting[dependent] == 0:
                heappush(ready, dependent)
    return result, [node for node, count in enumerate(waiting) if count > 0]


def circles(dependencies: Sequence[Set[int]], blocked: Sequence[int]) -> list[list[int]]:
    """Return circles among the nodes that have no place in the order, no two sharing a node.

    Args:
        dependencies: For each node the others that it depends on.
        blocked: The nodes that `order` could not place.

    Returns:
        Paths along dependencies, from the lowest node on; the last node depends on the first.
    """
    found: list[list[int]] = []
    left = set(blocked)
    while left:
        # Each node that is left depends on another one that is, so a walk must come back to itself.
        path: dict[int, None] = {}
        node = min(left)
        while node not in path:
            path[node] = None
            node = min(dependencies[node] & left)
        nodes = list(path)
        circle = nodes[nodes.index(node) :]
        lowest = circle.index(min(circle))
        found.append(circle[lowest:] + circle[:lowest])
        # Take the circle as broken, and see which nodes still have no place.
        left.difference_update(circle)
        _, blocked = order([d & left if n in left else set() for n, d in enumerate(dependencies)])
        left = set(blocked)
    return found

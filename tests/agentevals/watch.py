"""A plugin of pytest that writes down every call of a trajectory evaluator that the tests of agentevals make: its settings, both lists of
messages and the verdict, one call a line, in $AGENTEVALS_CALLS. With each call it writes the verdicts of the same evaluator, in all modes of
arguments, on the outputs and the reference, changed in several ways (ways.py).

Tests that create no such evaluator ask a model as a judge. They are left out, and named in $AGENTEVALS_LEFT_OUT."""

import copy
import functools
import itertools
import json
import os
import pathlib

import agentevals.trajectory.match as match
from agentevals.trajectory.utils import _normalize_to_openai_messages_list as as_messages

import ways

CREATORS = ["create_trajectory_match_evaluator", "create_async_trajectory_match_evaluator"]
current = None


def scorer(settings):
    """What an evaluator with these settings calls, without its trace."""
    found = getattr(match, f"trajectory_{settings.get('trajectory_match_mode', 'strict')}_scorer")
    settings = {"tool_args_match_overrides": None, **settings}
    arguments = {key: settings[key] for key in ("tool_args_match_mode", "tool_args_match_overrides")}
    return lambda **messages: found(**copy.deepcopy(messages), **arguments)


def named(override):
    """An override as JSON: a comparison in Python by its name."""
    return {"function": override.__qualname__} if callable(override) else override


def holds_in_some_order(judge, settings, messages, reference):
    """Whether the verdict is pass if calls come in another order: those of one message in mode strict, otherwise all. agentevals gives each
    call to the first one that it fits, so the order can decide where it should not."""
    if settings.get("trajectory_match_mode", "strict") != "strict":
        messages = [{"role": "assistant", "content": "", "tool_calls": [call for one in messages for call in one.get("tool_calls") or []]}]
    orders = [itertools.permutations(message.get("tool_calls") or []) for message in messages]
    for order in itertools.product(*orders):
        tried = [{**message, "tool_calls": list(calls)} if calls else message for message, calls in zip(messages, order)]
        if judge(outputs=tried, reference_outputs=reference):
            return True
    return False


def on_changed(settings, outputs, reference):
    """The verdicts on changed outputs, and on the changed reference as outputs."""
    found = []
    for args_mode in ["exact", "ignore", "subset", "superset"]:
        judge = scorer({**settings, "tool_args_match_mode": args_mode})
        for way, messages in [*ways.of(outputs).items(), *ways.of(reference).items()]:
            try:
                verdict = judge(outputs=messages, reference_outputs=reference)
                in_some_order = verdict or holds_in_some_order(judge, settings, messages, reference)
            except (KeyError, TypeError):
                continue  # A comparison in Python cannot read these arguments.
            judged = {"verdict": verdict, "in_some_order": in_some_order}
            found.append({"way": way, "args_mode": args_mode, "outputs": messages, **judged})
    return found


def write(settings, outputs, reference, result):
    overrides = settings.get("tool_args_match_overrides") or {}
    line = {
        "test": current,
        "mode": settings.get("trajectory_match_mode", "strict"),
        "args_mode": settings.get("tool_args_match_mode", "exact"),
        "overrides": {tool: named(override) for tool, override in overrides.items()},
        "outputs": outputs,
        "reference": reference,
        "verdict": bool(result["score"]),
        "changed": on_changed(settings, outputs, reference),
    }
    with pathlib.Path(os.environ["AGENTEVALS_CALLS"]).open("a") as file:
        file.write(json.dumps(line) + "\n")


def watched(creator):
    """The same creator of evaluators, whose evaluators write down their calls."""

    @functools.wraps(creator)
    def create_watching(**settings):
        evaluator = creator(**settings)
        # Before the call, because agentevals changes the lists that it gets. LangChain's messages become those of OpenAI, as agentevals
        # itself reads them.
        messages = lambda given: [as_messages(copy.deepcopy(given[key])) for key in ("outputs", "reference_outputs")]

        def watching(**given):
            before = messages(given)
            result = evaluator(**given)
            write(settings, *before, result)
            return result

        async def watching_async(**given):
            before = messages(given)
            result = await evaluator(**given)
            write(settings, *before, result)
            return result

        return watching_async if "async" in creator.__name__ else watching

    return create_watching


def pytest_configure():
    for name in CREATORS:
        setattr(match, name, watched(getattr(match, name)))


def pytest_collection_modifyitems(config, items):
    left_out = [item for item in items if not any(hasattr(item.module, name) for name in CREATORS)]
    config.hook.pytest_deselected(items=left_out)
    pathlib.Path(os.environ["AGENTEVALS_LEFT_OUT"]).write_text("".join(f"{item.nodeid}\n" for item in left_out))
    items[:] = [item for item in items if item not in left_out]


def pytest_runtest_call(item):
    global current
    current = item.nodeid.rpartition("/")[2]

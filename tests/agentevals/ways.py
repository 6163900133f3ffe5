"""Ways to change the messages of an agent."""

import json


def answering(messages):
    """The indexes of the messages with calls."""
    return [at for at, message in enumerate(messages) if message.get("tool_calls")]


def changed(call, change):
    """The call with changed arguments."""
    made = json.loads(call["function"]["arguments"])
    return {**call, "function": {**call["function"], "arguments": json.dumps(change(made))}}


def renamed(call):
    return {**call, "function": {**call["function"], "name": "other"}}


def end_of(messages, at):
    """The index after the results of the calls of a message."""
    end = at + 1
    while end < len(messages) and messages[end]["role"] == "tool":
        end += 1
    return end


def with_calls(messages, at, *lists):
    """The messages where the one at `at` has other calls; with several lists, or none, that many messages in its place."""
    end = end_of(messages, at)
    written = []
    for calls in lists:
        written.append({**messages[at], "tool_calls": calls})
        if end > at + 1:
            written += [{"role": "tool", "content": "done", "tool_call_id": ""} for _ in calls]
    return [*messages[:at], *written, *messages[end:]]


def of(messages):
    """The changed messages by way, and those as they are."""
    at = answering(messages)
    lists = [messages[one]["tool_calls"] for one in at]
    call, *rest = lists[0]
    first = lambda *calls: with_calls(messages, at[0], *([list(calls)] if calls else []))
    found = {
        "as they are": messages,
        "a call left out": first(*rest),
        "a call twice": first(call, call, *rest),
        "another tool": first(renamed(call), *rest),
        "one more argument": first(changed(call, lambda made: {**made, "more": 1}), *rest),
    }
    for key, value in json.loads(call["function"]["arguments"]).items():
        without = lambda made: {other: kept for other, kept in made.items() if other != key}
        found["an argument left out"] = first(changed(call, without), *rest)
        found["another value"] = first(changed(call, lambda made: {**made, key: "another"}), *rest)
    for index, (place, calls) in enumerate(zip(at, lists)):
        if len(calls) > 1:
            found["calls of one message in another order"] = with_calls(messages, place, calls[::-1])
            found["a call in place of another"] = with_calls(messages, place, [calls[0], calls[0], *calls[2:]])
            found["one message in two"] = with_calls(messages, place, calls[:1], calls[1:])
            for key, value in json.loads(calls[0]["function"]["arguments"]).items():
                if isinstance(value, dict):
                    less = lambda made: {**made, key: dict(list(value.items())[:1])}
                    found["a key of an object left out"] = with_calls(messages, place, [changed(calls[0], less), *calls[1:]])
        if index + 1 < len(at):
            # The later message first: then the index of the earlier one is still right.
            found["messages in another order"] = with_calls(with_calls(messages, at[index + 1], calls), place, lists[index + 1])
            if end_of(messages, place) == at[index + 1]:
                found["two messages in one"] = with_calls(with_calls(messages, at[index + 1]), place, calls + lists[index + 1])
    return found

"""The order desk of Acme: answers one question of a customer, from standard input, with the help of a language model.

The model does two small things: it copies what the question is about, and it words the answer. The code does the rest: it chooses the tools,
calls them, and lets no sentence through that lacks the facts. Any server with OpenAI's wire format will do: OPENAI_BASE_URL, OPENAI_API_KEY."""

import json
import os
import pathlib
import re
import sys
import urllib.request

HERE = pathlib.Path(__file__).resolve().parent
SHOP = json.loads((HERE / "shop.json").read_text())
PROMPTS = json.loads((HERE / "prompts.json").read_text())
MODEL = os.environ.get("DESK_MODEL", "smollm2-135m-instruct")
SUBJECT = {
    "type": "object",
    "properties": {"subject": {"type": "string", "maxLength": 20}},
    "required": ["subject"],
    "additionalProperties": False,
}


def find_order(order):
    return SHOP["orders"].get(str(order), {"error": f"there is no order {order}"})


def create_refund(order):
    return {"order": order, "refunded": SHOP["orders"][str(order)]["total"]}


def find_product(name):
    return SHOP["products"][name]


def shop_hours(city):
    return SHOP["shops"][city]


TOOLS = {tool.__name__: tool for tool in (find_order, create_refund, find_product, shop_hours)}


def ask_model(messages, **more):
    body = {"model": MODEL, "messages": messages, "max_tokens": 40, "temperature": 0.7, **more}
    headers = {"content-type": "application/json", "authorization": f"Bearer {os.environ['OPENAI_API_KEY']}"}
    request = urllib.request.Request(f"{os.environ['OPENAI_BASE_URL']}/chat/completions", json.dumps(body).encode(), headers)
    with urllib.request.urlopen(request) as answer:
        return json.load(answer)["choices"][0]["message"]["content"]


def read_subject(query):
    """What the question is about, in its own words; nothing if the model made something up."""
    messages = [{"role": "system", "content": PROMPTS["subject"]}]
    for question, subject in PROMPTS["examples"]:
        messages += [{"role": "user", "content": question}, {"role": "assistant", "content": json.dumps({"subject": subject})}]
    shape = {"type": "json_schema", "json_schema": {"name": "subject", "schema": SUBJECT}}
    answer = ask_model([*messages, {"role": "user", "content": query}], response_format=shape)
    try:
        subject = json.loads(answer)["subject"].strip()
    except (ValueError, KeyError, AttributeError):
        return ""
    # "money for order 21" is about the number, if the customer wrote it.
    numbers = set(re.findall(r"\d+", query))
    named = [number for number in re.findall(r"\d+", subject) if number in numbers]
    return named[0] if named else subject if subject.lower() in query.lower() else ""


class Desk:
    """One question: the calls of tools so far, as messages for the model."""

    def __init__(self, query):
        self.query = query
        self.messages = [{"role": "system", "content": PROMPTS["answer"]}, {"role": "user", "content": query}]

    def call(self, tool, **arguments):
        result = TOOLS[tool](**arguments)
        call = {"id": f"call_{tool}", "type": "function", "function": {"name": tool, "arguments": json.dumps(arguments)}}
        self.messages.append({"role": "assistant", "content": None, "tool_calls": [call]})
        self.messages.append({"role": "tool", "tool_call_id": call["id"], "content": json.dumps(result)})
        return result

    def order(self, number):
        found = self.call("find_order", order=number)
        if "error" in found:
            return f"There is no order {number}.", [f"no order {number}"]
        if any(word in self.query.lower() for word in ("refund", "money")):
            if found["status"] != "delivered":
                return f"Order {number} is {found['status']}, so you can cancel it.", [found["status"], "cancel"]
            paid = self.call("create_refund", order=number)["refunded"]
            return f"The refund of {paid} for order {number} is on its way.", [paid, str(number)]
        return f"Order {number} is {found['status']}. The day of delivery is {found['day']}.", [found["status"], found["day"]]

    def fact(self, subject):
        """What the customer has to be told, and the texts that have to be in the answer. None if no tool can help."""
        if subject.isdigit():
            return self.order(int(subject))
        if subject.lower() in SHOP["products"]:
            price = self.call("find_product", name=subject.lower())["price"]
            return f"The {subject.lower()} costs {price}.", [price]
        if subject in SHOP["shops"]:
            hours = self.call("shop_hours", city=subject)
            return f"The shop in {subject} is open from {hours['opens']} to {hours['closes']}.", [hours["opens"], hours["closes"]]
        return None

    def answer(self):
        found = self.fact(read_subject(self.query))
        if found is None:
            return "I can help with orders, products and shops. Which order, product or shop do you mean?"
        fact, needed = found
        told = {"role": "user", "content": f"Tell the customer: {fact}"}
        sentence = ask_model([*self.messages, told]).strip()
        return sentence if all(text in sentence for text in needed) else fact


print(Desk(sys.stdin.read().strip()).answer())

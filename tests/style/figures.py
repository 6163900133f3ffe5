"""Counts the words and forms of Rust sources, so that they can be compared with those of other projects.

    pip install tree-sitter tree-sitter-rust
    python3 tests/style/figures.py NAME=FOLDER... [--list FORM]

Tests are left out: files and folders named so, and items under `#[cfg(test)]`. Figures are signs: where one would make a line worse, the line
stays. `--list FORM` prints where a form is: closures, named, combinators, booleans, vague, records.
"""

import pathlib
import re
import sys
from collections import Counter

import tree_sitter_rust
from tree_sitter import Language, Parser

COMBINATORS = set(
    "all and_then any chain cloned copied filter filter_map find find_map flat_map flatten fold for_each inspect is_none_or is_ok_and "
    "is_some_and map map_err map_or map_or_else map_while ok_or ok_or_else or_else partition position reduce rev scan skip skip_while "
    "take take_while then then_some try_fold unwrap_or unwrap_or_default unwrap_or_else zip".split()
)
VAGUE = set("one other own of before found now what".split())
LEFT_OUT = re.compile(r"(^|/)(tests?|testing|benches|examples|fuzz|target|fixtures|snapshots|integration-tests|test-helpers)(/|\.rs$|_)|(^|/)tests?\.rs$")


class Figures:
    def __init__(self):
        self.count = Counter()
        self.places = {}

    def add(self, form, file, node):
        self.count[form] += 1
        self.places.setdefault(form, []).append((file, node.start_point[0] + 1))


def is_for_tests(node):
    attribute = node.prev_named_sibling
    while attribute is not None and attribute.type in ("attribute_item", "line_comment", "block_comment"):
        text = attribute.text.decode()
        if attribute.type == "attribute_item" and re.search(r"cfg\((all\()?test|^#\[(\w+::)*test\]", text):
            return True
        attribute = attribute.prev_named_sibling
    return False


def bound_names(pattern):
    """The names that a pattern binds; not those of fields, types and constants."""
    if pattern.type == "identifier":
        return [pattern]
    if pattern.type == "shorthand_field_identifier":
        return [pattern]
    return [
        name
        for child in pattern.named_children
        if child.type not in ("scoped_identifier", "field_identifier", "type_identifier")
        for name in bound_names(child)
        if not (pattern.type in ("tuple_struct_pattern", "struct_pattern") and child == pattern.child_by_field_name("type"))
    ]


def walk(node, file, figures):
    if node.type in ("mod_item", "function_item", "impl_item", "use_declaration") and is_for_tests(node):
        return
    match node.type:
        case "function_item":
            figures.add("functions", file, node)
        case "closure_expression":
            figures.add("closures", file, node)
        case "let_declaration":
            value = node.child_by_field_name("value")
            if value is not None and value.type == "closure_expression":
                figures.add("named", file, node)
        case "call_expression":
            function = node.child_by_field_name("function")
            if function.type == "field_expression" and function.child_by_field_name("field").text.decode() in COMBINATORS:
                figures.add("combinators", file, node)
        case "match_arm":
            pattern = node.child_by_field_name("pattern")
            first = pattern.named_children[0] if pattern.named_children else pattern
            if first.type == "boolean_literal" and node.prev_named_sibling is None:
                figures.add("booleans", file, node)
        case "struct_item" | "enum_item" | "type_item" | "union_item" | "trait_item":
            figures.add("types", file, node)
            if "Record" in re.findall(r"[A-Z][a-z]*", node.child_by_field_name("name").text.decode()):
                figures.add("records", file, node)
    pattern = None
    if node.type in ("let_declaration", "parameter", "let_condition", "for_expression"):
        pattern = node.child_by_field_name("pattern")
    elif node.type == "match_pattern":
        pattern = node
    patterns = [pattern] if pattern is not None else []
    if node.type == "closure_parameters":
        patterns = [child for child in node.named_children if child.type != "parameter"]
    for pattern in patterns:
        for name in bound_names(pattern):
            text = name.text.decode()
            if text[0].isupper() or text == "self":
                continue
            figures.add("bindings", file, name)
            if text in VAGUE:
                figures.add("vague", file, name)
    for child in node.children:
        walk(child, file, figures)


def code_lines(text):
    return sum(1 for line in text.splitlines() if line.strip() and not line.strip().startswith("//"))


def measure(folder):
    figures, parser = Figures(), Parser(Language(tree_sitter_rust.language()))
    for path in sorted(pathlib.Path(folder).rglob("*.rs")):
        file = str(path.relative_to(folder))
        if LEFT_OUT.search(file):
            continue
        source = path.read_bytes()
        tree = parser.parse(source)
        figures.count["lines"] += code_lines(source.decode())
        walk(tree.root_node, file, figures)
    return figures


def main():
    arguments, listed = sys.argv[1:], None
    if "--list" in arguments:
        at = arguments.index("--list")
        listed = arguments[at + 1]
        del arguments[at : at + 2]
    rows = []
    for argument in arguments:
        name, folder = argument.split("=", 1)
        figures = measure(folder)
        for file, line in figures.places.get(listed, []):
            print(f"{file}:{line}")
        count = figures.count
        thousand = count["lines"] / 1000
        rows.append(
            f"| {name} | {count['functions']} | {count['closures'] / thousand:.0f} | {count['named'] / count['functions']:.2f} "
            f"| {count['combinators'] / thousand:.0f} | {count['booleans']} | {100 * count['vague'] / count['bindings']:.1f}% "
            f"| {count['records']} |"
        )
    if listed is None:
        print("| project | functions | closures per 1,000 lines | named closures a function | combinators per 1,000 lines "
              "| `match` true / false | vague bindings | types with Record |")
        print("|---|---|---|---|---|---|---|---|")
        print("\n".join(rows))


main()

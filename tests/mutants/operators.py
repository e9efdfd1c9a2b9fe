# SPDX-License-Identifier: BSD-3-Clause
"""What is mutated, and how: a walk over a function's syntax tree that yields sites.

    true, false  a condition, or an operand of && and ||, is as if it were always so
    tight, loose < <= > >= with one value less, or one more, that passes
    below, above a comparison with an enumerator, neither first nor last, takes the values below or above, too
    case         a label of a switch is not there
    delete       a statement, or an operand of a comma, is not executed
    swap         a statement changes places with the next
    enum         an enumerator is another one of the same enumeration
    not          true is false, and false true
    const        a number in a sum, an argument or an assignment is one more
    arith        + is -, and - is +
    drop         a & b and a | b are a
    init         a member that an initializer sets is 0
    return       a function returns 0, or NULL

Not made, because nothing could tell them from the code as it is: swaps of two steps neither of which writes what
the other uses (effects.py), or that both add to the same; the other side of equality in x < y ? x : y, and in
if (x > y) x = y; swaps with a counter, or with the record that a queue pair keeps of its past; negations, which are
found by whatever finds true or false."""

import re

LIKELY = ("base_likely", "base_unlikely")
RELATIONS = {"<": "LT", "<=": "LE", ">": "GT", ">=": "GE"}
EQUALITIES = {"==": "EQ", "!=": "NE"}
COMPARISONS = {**RELATIONS, **EQUALITIES}
COUNTER = re.compile(r"\b(count|counters?|stats?)(\.|->)\w+(\s*[-+|]?=|\+\+)|\bcount_\w+\(|^\+\+.*\bcount(\.|->)")
RECORD = re.compile(r"^roce_qp_note\(")
EFFECT_FREE = ("DeclRefExpr", "IntegerLiteral")


class Site:
    """A place in a file, and the mutants that are made there: [(operator, what else the rewriting needs)]."""

    def __init__(self, span, form, function, mutants, parts=()):
        self.span = span
        self.form = form
        self.function = function
        self.mutants = mutants
        self.parts = parts  # spans of operands


def kind(node):
    return node.get("kind", "")


def inner(node):
    return node.get("inner", [])


def type_of(node):
    t = node.get("type", {})
    return t.get("desugaredQualType", t.get("qualType", ""))


def callee(node):
    """The function that a CallExpr names."""
    at = inner(node)[0] if kind(node) == "CallExpr" else {}
    while at and "referencedDecl" not in at:
        at = (inner(at) or [{}])[0]
    return at.get("referencedDecl", {})


def bare(node):
    """Without parentheses, casts that nobody wrote, and base_likely()."""
    while True:
        if kind(node) in ("ParenExpr", "ImplicitCastExpr", "FullExpr") and len(inner(node)) == 1:
            node = inner(node)[0]
        elif callee(node).get("name") in LIKELY:
            node = inner(node)[1]
        else:
            return node


def is_boolean(node):
    return (kind(node) == "BinaryOperator" and node["opcode"] in ("&&", "||", *COMPARISONS)
            or kind(node) == "UnaryOperator" and node["opcode"] == "!")


def is_enumerator(node):
    return bare(node).get("referencedDecl", {}).get("kind") == "EnumConstantDecl"


def is_number(node):
    t = type_of(node)
    return not re.search(r"[*(\[]|struct |union |void", t) and t not in ("bool", "_Bool")


def below(node):
    yield node
    for child in inner(node):
        yield from below(child)


class Enumerators:
    """By their ids: the name of the next one; and the first and last of each enumeration."""

    def __init__(self, unit):
        self.next = {}
        self.ends = set()
        for node in unit.get("inner", ()):
            of = [n for n in inner(node) if kind(n) == "EnumConstantDecl"] if kind(node) == "EnumDecl" else []
            if len(of) > 1:
                self.ends |= {of[0]["id"], of[-1]["id"]}
                self.next.update((n["id"], follower["name"]) for n, follower in zip(of, of[1:] + of[:1]))


class Walk:
    """Yields the sites of one function."""

    def __init__(self, sources, effects, enumerators, function):
        self.sources = sources
        self.effects = effects
        self.enumerators = enumerators
        self.function = function["name"]
        self.returns = type_of(function).split("(")[0].strip()
        self.choices = set()  # comparisons of two values one of which is taken
        self.sites = []
        for child in inner(function):
            if kind(child) == "CompoundStmt":
                self.visit(child)

    def text(self, node):
        return self.sources.of(node["span"]) if "span" in node else ""

    def add(self, node, form, mutants, parts=()):
        if "span" in node and mutants:
            self.sites.append(Site(node["span"], form, self.function, mutants, parts))

    # ---- conditions -----------------------------------------------------------------------------

    def condition(self, node, forced):
        """forced: which of "true" and "false" is made of this one; its operands get their own."""
        node = bare(node)
        if "span" not in node:
            return
        mutants = [(f, None) for f in forced]
        if kind(node) == "UnaryOperator" and node["opcode"] == "!":
            self.add(node, "bool", mutants)
            self.condition(inner(node)[0], ())
        elif kind(node) == "BinaryOperator" and node["opcode"] in ("&&", "||"):
            self.add(node, "bool", mutants)
            for operand in inner(node):
                chain = bare(operand).get("opcode") == node["opcode"]  # a && b && c
                self.condition(operand, () if chain else ("true",) if node["opcode"] == "&&" else ("false",))
        elif self.text(node) not in ("true", "false", "1", "0"):
            self.add(node, "bool", mutants)
            if kind(node) == "BinaryOperator" and node["opcode"] in COMPARISONS:
                self.comparison(node)
            elif kind(node) == "CallExpr":
                self.visit(node)
            else:
                self.below(node)

    def comparison(self, node):
        left, right = inner(node)
        spans = [n.get("span") for n in (left, right)]
        if "macro" not in node and None not in spans:
            if node["opcode"] in RELATIONS and is_number(left) and is_number(right):
                zero = self.text(right) in ("0", "0u") and "unsigned" in type_of(left)
                choice, equal = node["id"] in self.choices, "=" in node["opcode"]
                mutants = [("tight", None)] * (not (choice and equal))
                mutants += [("loose", None)] * (not (zero or choice and not equal))
                self.add(node, RELATIONS[node["opcode"]], mutants, spans)
            elif node["opcode"] in EQUALITIES and (is_enumerator(left) or is_enumerator(right)):
                of = bare(left if is_enumerator(left) else right)["referencedDecl"]["id"]
                if of not in self.enumerators.ends:
                    self.add(node, EQUALITIES[node["opcode"]], [("below", None), ("above", None)], spans)
        for operand in (left, right):
            if not is_enumerator(operand) and kind(bare(operand)) != "IntegerLiteral":
                self.visit(operand)

    def choose(self, condition, values):
        """Of two values, by comparing them: when they are equal, either will do."""
        node = bare(condition)
        if node.get("opcode") in RELATIONS:
            compared, taken = ([self.text(n) or self.text(bare(n)) for n in nodes] for nodes in (inner(node), values))
            if "" not in compared and sorted(compared) == sorted(taken):
                self.choices.add(node["id"])

    # ---- statements -----------------------------------------------------------------------------

    def statement_span(self, node):
        """Of an expression that is a statement: with its semicolon."""
        if "span" not in node or "macro" in node or not re.search(r"(Expr|Operator|Literal)$", kind(node)):
            return None
        if kind(node) == "CStyleCastExpr" and kind(bare(inner(node)[0])) in EFFECT_FREE:
            return None  # (void)x
        path, begin, end = node["span"]
        semicolon = re.compile(r"\s*;").match(self.sources.text[path], end)
        return (path, begin, semicolon.end()) if semicolon else None

    def writes(self, node):
        """The texts of what a statement assigns to; None if it calls what may write more."""
        wrote = set()
        for n in below(node):
            if kind(n) == "CallExpr" and "*" in callee(n).get("type", {}).get("qualType", "*"):
                return None
            if kind(n) in ("AtomicExpr", "GCCAsmStmt", "StmtExpr"):
                return None
            if (kind(n) == "CompoundAssignOperator" or kind(n) == "BinaryOperator" and n["opcode"] == "="
                    or kind(n) == "UnaryOperator" and n["opcode"] in ("++", "--")):
                wrote.add(self.text(inner(n)[0]))
        return wrote

    def adds(self, node):
        """What a statement adds to or takes from, and what else it reads; None if it does other things."""
        if kind(node) != "CompoundAssignOperator" or node["opcode"] not in ("+=", "-="):
            return None
        return None if self.writes(node) is None else [self.text(n) for n in inner(node)]

    def commute(self, one, other):
        sums = [self.adds(one), self.adds(other)]
        return None not in sums and sums[0][0] == sums[1][0] and not any(
            re.search(re.escape(where) + r"\b", what) for where, what in sums)

    def independent(self, one, other):
        texts = [self.text(one), self.text(other)]
        if any(COUNTER.search(t) or RECORD.search(t) for t in texts):
            return True
        if self.commute(one, other) or self.effects.independent(one, other):
            return True
        wrote = [self.writes(one), self.writes(other)]
        return None not in wrote and not any(
            re.search(re.escape(w) + r"\b", t) for ws, t in zip(wrote, reversed(texts)) for w in ws)

    def statements(self, nodes):
        """nodes: those of a block, in their order."""
        spans = [self.statement_span(n) for n in nodes]
        swapped = None
        for i, (node, span) in enumerate(zip(nodes, spans)):
            if span is not None:
                mutants = [("delete", None)]
                follower = spans[i + 1] if i + 1 < len(nodes) else None
                swaps = follower is not None and not self.independent(node, nodes[i + 1])
                if swaps:
                    mutants.append(("swap", self.sources.of(follower)))
                self.sites.append(Site(span, "statement", self.function, mutants, (swapped,)))
                swapped = self.sites[-1] if swaps else None
            self.visit(node)

    def body(self, node):
        if kind(node) == "CompoundStmt":
            self.visit(node)
        else:
            self.statements([node])

    # ---- values ---------------------------------------------------------------------------------

    def value(self, node, operator, alternative):
        self.add(node, "value", [(operator, alternative)])

    def number(self, node):
        node = bare(node)
        text = self.text(node)
        if kind(node) == "IntegerLiteral" and text not in ("true", "false") and not text.startswith("__"):
            self.value(node, "const", f"({text}) + 1")

    def truth(self, node):
        text = self.text(bare(node))
        if text in ("true", "false"):
            self.value(bare(node), "not", "false" if text == "true" else "true")

    def initializer(self, node):
        for child in inner(node):
            leaf = bare(child)
            if kind(leaf) in ("InitListExpr", "StringLiteral"):
                continue
            if ("span" in child and not is_enumerator(child) and not re.match(r"struct |union ", type_of(child))
                    and self.text(leaf) not in ("0", "0u", "false", "NULL")):
                self.value(child, "init", "0")

    # ---- the walk -------------------------------------------------------------------------------

    def below(self, node):
        for child in inner(node):
            self.visit(child)

    def visit(self, node):
        if "macro" in node and kind(node) != "IntegerLiteral":
            return
        getattr(self, "visit_" + kind(node), self.below)(node)

    def visit_CompoundStmt(self, node):
        self.statements(inner(node))

    def visit_IfStmt(self, node):
        condition, *bodies = inner(node)
        only = inner(bodies[0])[0] if kind(bodies[0]) == "CompoundStmt" and len(inner(bodies[0])) == 1 else bodies[0]
        if len(bodies) == 1 and kind(only) == "BinaryOperator" and only["opcode"] == "=":
            self.choose(condition, inner(only))
        self.condition(condition, ("true", "false"))
        for body in bodies:
            self.body(body)

    def visit_ConditionalOperator(self, node):
        condition, *values = inner(node)
        self.choose(condition, values)
        self.condition(condition, ("true", "false"))
        for value in values:
            self.visit(value)

    def visit_WhileStmt(self, node):
        self.condition(inner(node)[0], ("false",))
        self.body(inner(node)[-1])

    def visit_DoStmt(self, node):
        self.body(inner(node)[0])
        self.condition(inner(node)[1], ("false",))

    def visit_ForStmt(self, node):
        begin, _, condition, step, body = inner(node)
        self.visit(begin)
        if kind(condition):
            self.condition(condition, ("false",))
        self.visit(step)
        self.body(body)

    def visit_SwitchStmt(self, node):
        value, body = inner(node)[0], inner(node)[-1]
        labels = [n["inner"][0] for n in below(body) if kind(n) == "CaseStmt" and "span" in n["inner"][0]]
        self.add(value, "switch", [("case", self.text(n)) for n in labels])
        self.visit(value)
        self.visit(body)

    def visit_CaseStmt(self, node):
        self.body(inner(node)[-1])

    def visit_DefaultStmt(self, node):
        self.body(inner(node)[-1])

    def visit_ReturnStmt(self, node):
        for value in inner(node):
            if self.returns in ("bool", "_Bool"):
                self.condition(value, ("true", "false"))
                self.truth(value)
            else:
                literal = kind(bare(value)) == "IntegerLiteral" or self.text(value) in ("NULL", "0")
                if not (literal or is_enumerator(value) or is_boolean(bare(value))
                        or re.match(r"(const )?(struct|union) \w+$", self.returns)):
                    self.value(value, "return", "0")
                self.number(value)
                self.visit(value)

    def visit_BinaryOperator(self, node):
        left, right = inner(node)
        if is_boolean(node):
            self.condition(node, ("true", "false"))
            return
        if node["opcode"] == ",":
            for operand in (left, right):
                self.add(operand, "comma", [("delete", None)])
        elif node["opcode"] in ("&", "|") and "span" in left:
            self.value(node, "drop", self.text(left))
        elif node["opcode"] in ("+", "-") and is_number(left) and is_number(right) and "span" in left:
            self.add(node, node["opcode"], [("arith", None)], [n.get("span") for n in (left, right)])
            self.number(left)
            self.number(right)
        elif node["opcode"] == "=":
            self.truth(right)
            self.number(right)
        self.below(node)

    def visit_CompoundAssignOperator(self, node):
        self.number(inner(node)[1])
        self.below(node)

    def visit_UnaryOperator(self, node):
        if node["opcode"] == "!":
            self.condition(node, ("true", "false"))
        else:
            self.below(node)

    def visit_CallExpr(self, node):
        for argument in inner(node)[1:]:
            self.truth(argument)
            self.number(argument)
        self.below(node)

    def visit_DeclRefExpr(self, node):
        follower = self.enumerators.next.get(node.get("referencedDecl", {}).get("id"))
        if follower is not None:
            self.value(node, "enum", follower)

    def visit_InitListExpr(self, node):
        self.initializer(node)
        self.below(node)

    def visit_VarDecl(self, node):
        if node.get("storageClass") != "static":
            self.below(node)

    def visit_nothing(self, node):
        """No expression of the program's run, or one whose parts must stay as they are."""

    visit_ConstantExpr = visit_UnaryExprOrTypeTraitExpr = visit_OffsetOfExpr = visit_nothing
    visit_GCCAsmStmt = visit_StaticAssertDecl = visit_nothing


def sites_of(sources, effects, unit, wanted):
    """All sites of the functions that a translation unit defines in files that are wanted(path)."""
    enumerators = Enumerators(unit)
    for node in unit.get("inner", ()):
        if kind(node) == "FunctionDecl" and "span" in node and wanted(node["span"][0]):
            yield from Walk(sources, effects, enumerators, node).sites

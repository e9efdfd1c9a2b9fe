# SPDX-License-Identifier: BSD-3-Clause
"""What statements read and write, by the names of structures' members, through all functions that they call.

Two steps of which neither writes what the other uses can change places unnoticed. Objects are not told apart: a
member of one object stands for that of all. What can't be known is UNKNOWN, which meets everything."""

UNKNOWN = "?"
COPIES = ("memcpy", "memmove", "memset", "__builtin___memcpy_chk", "__builtin___memset_chk")
READS_ONLY = ("memcmp", "strlen", "strcmp", "__builtin_ctz", "__builtin_ctzll", "__builtin_clz", "__builtin_expect",
              "__builtin_prefetch", "__builtin_trap", "base_likely", "base_unlikely")


def inner(node):
    return node.get("inner", [])


def kind(node):
    return node.get("kind", "")


def type_name(node):
    t = node.get("type", {})
    return t.get("desugaredQualType", t.get("qualType", "")).replace("const ", "").strip()


class Effects:
    """Of all functions that were added; ask when they are complete."""

    def __init__(self):
        self.bodies = {}   # function: (reads, writes, calls)
        self.members = {}  # "struct x": names
        self.whole = {}    # function: (reads, writes) with all that it calls

    def add_unit(self, unit):
        for node in inner(unit):
            if kind(node) == "RecordDecl" and "name" in node:
                names = frozenset(n["name"] for n in inner(node) if kind(n) == "FieldDecl" and "name" in n)
                if names:
                    self.members[f"{node.get('tagUsed', 'struct')} {node['name']}"] = names
            elif kind(node) == "FunctionDecl" and any(kind(n) == "CompoundStmt" for n in inner(node)):
                self.bodies.setdefault(node["name"], self.of_node(node))

    def of_node(self, node):
        """(reads, writes, calls) of a node itself."""
        reads, writes, calls = set(), set(), set()
        self.walk(node, reads, writes, calls)
        return reads, writes, calls

    def place(self, node):
        """What an assignment to this expression writes."""
        k = kind(node)
        if k in ("ParenExpr", "ImplicitCastExpr", "ArraySubscriptExpr", "CStyleCastExpr") and inner(node):
            return self.place(inner(node)[0])
        if k == "MemberExpr":
            return {node.get("name") or UNKNOWN} | self.members.get(type_name(node), frozenset())
        if k == "DeclRefExpr":
            return {f"local {node['referencedDecl'].get('name')}"}
        if k == "UnaryOperator" and node["opcode"] == "*":
            return set(self.members.get(type_name(node), ())) or self.place(inner(node)[0]) | {"*"}
        if k == "UnaryOperator" and node["opcode"] == "&":
            return self.place(inner(node)[0])
        if k == "BinaryOperator":
            return self.place(inner(node)[0])
        return {UNKNOWN}

    def walk(self, node, reads, writes, calls):
        k = kind(node)
        if k == "MemberExpr" and node.get("name"):
            reads.add(node["name"])
        elif k == "DeclRefExpr" and node.get("referencedDecl", {}).get("kind") in ("VarDecl", "ParmVarDecl"):
            reads.add(f"local {node['referencedDecl'].get('name')}")
        elif k == "UnaryOperator" and node["opcode"] == "*":
            reads |= self.members.get(type_name(node), set()) or {"*"}
        elif k == "BinaryOperator" and node["opcode"] == "=" or k == "CompoundAssignOperator":
            writes |= self.place(inner(node)[0])
        elif k == "UnaryOperator" and node["opcode"] in ("++", "--"):
            writes |= self.place(inner(node)[0])
        elif k in ("AtomicExpr", "GCCAsmStmt", "StmtExpr"):
            writes.add(UNKNOWN)
        elif k == "CallExpr":
            self.call(node, reads, writes, calls)
        for child in inner(node):
            self.walk(child, reads, writes, calls)

    def call(self, node, reads, writes, calls):
        at = inner(node)[0]
        while at and "referencedDecl" not in at:
            at = (inner(at) or [{}])[0]
        name = at.get("referencedDecl", {}).get("name") if at.get("referencedDecl", {}).get(
            "kind") == "FunctionDecl" else None
        if name is None:
            writes.add(UNKNOWN)
        elif name in COPIES:
            writes |= self.place(inner(node)[1]) | {"*"}
            reads |= self.place(inner(node)[2]) | {"*"} if len(inner(node)) > 2 else set()
        else:
            calls.add(name)
            for argument in inner(node)[1:]:  # a local whose address is passed
                if kind(argument) == "UnaryOperator" and argument["opcode"] == "&":
                    writes |= self.place(argument)

    def closed(self, name):
        """(reads, writes) of a function with all that it calls; its own locals are no one else's."""
        if name in self.whole:
            return self.whole[name]
        if name not in self.bodies:
            unknown = set() if name in READS_ONLY else {UNKNOWN}
            return set(), unknown
        seen, todo, reads, writes = {name}, [name], set(), set()
        while todo:
            at = todo.pop()
            r, w, calls = self.bodies[at]
            reads |= {x for x in r if not x.startswith("local ")}
            writes |= {x for x in w if not x.startswith("local ")}
            for callee in calls - seen:
                seen.add(callee)
                if callee in self.bodies:
                    todo.append(callee)
                elif callee not in READS_ONLY:
                    writes.add(UNKNOWN)
        self.whole[name] = reads, writes
        return reads, writes

    def of_statement(self, node):
        """(reads, writes) with all that it calls."""
        reads, writes, calls = self.of_node(node)
        for name in calls:
            r, w = self.closed(name)
            reads |= r
            writes |= w
        return reads, writes

    def independent(self, one, other):
        (r1, w1), (r2, w2) = self.of_statement(one), self.of_statement(other)
        if UNKNOWN in w1 | w2:
            return False
        return not (w1 & (r2 | w2) or w2 & r1)

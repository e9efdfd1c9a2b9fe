# SPDX-License-Identifier: BSD-3-Clause
"""A source with all its mutants inside, each behind a question whether it is alive (mutant.h)."""

from catalogue import FORMS


def rank(form):
    return FORMS.index(form) if form in FORMS else len(FORMS)


class File:
    """Sites lie within each other as the nodes of the syntax tree do."""

    def __init__(self, text, sites):
        self.text = text
        self.sites = sorted(sites, key=lambda s: (s.span[1], -s.span[2], rank(s.form)))

    def rendered(self):
        return self.render(0, len(self.text), self.sites)

    def render(self, begin, end, sites):
        """The text from begin to end; sites: all those in it, in order."""
        out = []
        at = begin
        i = 0
        while i < len(sites):
            site = sites[i]
            j = i + 1
            while j < len(sites) and sites[j].span[1] < site.span[2]:
                j += 1
            out.append(self.text[at:site.span[1]])
            out.append(self.site(site, sites[i + 1:j]))
            at = site.span[2]
            i = j
        out.append(self.text[at:end])
        return "".join(out)

    def within(self, span, sites):
        return self.render(span[1], span[2], [s for s in sites if span[1] <= s.span[1] and s.span[2] <= span[2]])

    def plain(self, span):
        return self.text[span[1]:span[2]]

    def site(self, site, below):
        number = {m.operator: m.number for m in site.made}
        inside = self.render(site.span[1], site.span[2], below)
        if site.form == "bool":
            return f"mutant_bool({number.get('true', 0)}, {number.get('false', 0)}, {inside})"
        if site.form in ("+", "-"):
            other = "-" if site.form == "+" else "+"
            left, right = map(self.plain, site.parts)
            return f"(mutant({number['arith']}) ? ({left}) {other} ({right}) : ({inside}))"
        if site.form == "value":
            return f"(mutant({site.made[0].number}) ? ({site.mutants[0][1]}) : ({inside}))"
        if site.form == "comma":
            return f"(mutant({number['delete']}) ? (void)0 : (void)({inside}))"
        if site.form == "switch":
            numbers = ", ".join(str(m.number) for m in site.made)
            labels = ", ".join(extra for _, extra in site.mutants)
            return (f"mutant_case({inside}, (const unsigned[]){{{numbers}}}, (const long long[]){{{labels}}}, "
                    f"{len(site.made)})")
        if site.form == "statement":
            return self.statement(site, number, inside)
        one = number.get("tight", number.get("below", 0))
        other = number.get("loose", number.get("above", 0))
        left, right = (self.within(span, below) for span in site.parts)
        return f"MUTANT_{site.form}({one}, {other}, {left}, {right})"

    def statement(self, site, number, inside):
        out = "{ "
        if "swap" in number:
            out += f"if (mutant({number['swap']})) {dict(site.mutants)['swap']} "
        guards = [number["delete"]]
        if site.parts[0] is not None:  # it has changed places with the one before
            guards += [m.number for m in site.parts[0].made if m.operator == "swap"]
        return out + f"if ({' && '.join(f'!mutant({n})' for n in guards)}) {inside} }}"

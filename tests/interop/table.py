# SPDX-License-Identifier: BSD-3-Clause
"""What the suite has shown: peer x operation x direction x result, as Markdown."""

COLUMNS = ("peer", "operation", "direction", "result", "verified", "note")


class Table:
    def __init__(self):
        self.rows, self.figures = [], []

    def add(self, peer, case, result, note):
        self.rows.append((peer, case.operation, case.direction, result, case.verified, note))

    def figure(self, peer, words):
        """A measured value that is no verdict: printed, and written below the table."""
        print(f"      {peer}: {words}", flush=True)
        self.figures.append(f"{peer}: {words}")

    def write(self, path):
        widths = [max(len(str(row[i])) for row in [COLUMNS, *self.rows]) for i in range(len(COLUMNS))]
        with open(path, "w") as f:
            for row in (COLUMNS, ["-" * width for width in widths], *self.rows):
                f.write("| " + " | ".join(str(v).ljust(w) for v, w in zip(row, widths)) + " |\n")
            f.writelines(f"\n- {figure}" for figure in self.figures)
            f.write("\n" if self.figures else "")

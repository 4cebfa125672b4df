"""The table of kernel_sweep.py.

A row has `kernel` and `kind`, and then either `failure`, a message; or `slow`
and `us` of single calls; or `us` by family, `ratios` by way of allocation, and
`best`, the smallest of these: its peer, ratio and interval.
"""

import re
import statistics

TARGET = 0.7
WORST = 20

HEADER = """\
Microseconds, medians; the ratio is that of the fastest peer to Hone in the same
rounds, with its 95 % interval; above 1 Hone is faster. `=`: results are in
memory that is there; otherwise both sides allocate them. `!`: too few rounds
were undisturbed; with several threads such a kernel is not measured.

| kernel | fastest peer | its time | Hone | peer/hone |
|---|---|---|---|---|"""


def ratio_of(row):
    """Returns the ratio of a row; 0 of a failure."""
    if "failure" in row:
        return 0.0
    return row["slow"] if "slow" in row else row["best"]["ratio"][0]


def format_row(row):
    """Returns a line of the table, in Markdown."""
    if "failure" in row:
        message = " ".join(row["failure"].split())[:160].replace("|", "/")
        return f"| {row['kernel']} | FAILED: {message} | | | |"
    if "slow" in row:
        us = row["us"]
        peer = min((name for name in us if name != "hone"), key=us.get)
        return (f"| {row['kernel']} | {peer} | {us[peer]:.1f} | "
                f"{us['hone']:.1f} | {row['slow']:.3f} SLOW |")
    best = row["best"]
    if row["disturbed"] and row.get("threads", 1) > 1:
        return f"| {row['kernel']} ! | not measured | | | |"
    median, lower, upper = best["ratio"]
    mark = " !" if row["disturbed"] else ""
    return (f"| {row['kernel']}{mark} | {best['peer']} | "
            f"{row['us'][best['peer']]:.1f} | {row['us'][best['hone']]:.1f} | "
            f"{median:.2f} ({lower:.2f} to {upper:.2f}) |")


def print_header(document):
    libraries = document["libraries"]
    trials = document["trials"]
    print(f"{document['machine']['cpu']}, {document['threads']} thread(s), "
          f"{f'{trials} trials each' if trials else 'default schedules'}; "
          f"torch {libraries['torch']} {libraries['torch_cpu_capability']}, "
          f"jax {libraries['jax']}, {libraries['openblas']}")
    print(HEADER, flush=True)


def summarize(rows):
    """Returns a line for all rows and one for each kind, as dictionaries."""
    kinds = sorted({row["kind"] for row in rows if "kind" in row})
    lines = []
    for kind in ("all", *kinds):
        these = [row for row in rows if kind in ("all", row.get("kind"))]
        ratios = [ratio_of(row) for row in these]
        timed = [r for r in ratios if r > 0]
        least = min(these, key=ratio_of)
        lines.append({
            "kind": kind, "rows": len(these),
            "failed": sum("failure" in row for row in these),
            "share": sum(r >= TARGET for r in ratios) / len(ratios),
            "mean": statistics.geometric_mean(timed) if timed else None,
            "least": ratio_of(least), "kernel": least["kernel"]})
    return lines


def format_summary(lines):
    text = [f"| kind | kernels | failed | at least {TARGET} | geometric mean | "
            "least |", "|---|---|---|---|---|---|"]
    for line in lines:
        mean = "-" if line["mean"] is None else f"{line['mean']:.2f}"
        text.append(
            f"| {line['kind']} | {line['rows']} | {line['failed']} | "
            f"{100 * line['share']:.0f} % | {mean} | {line['least']:.2f} "
            f"({line['kernel']}) |")
    return text


def print_summary(rows, seed, count, threads):
    disturbed = sum(row.get("disturbed", False) for row in rows)
    undisturbed = [row for row in rows if not row.get("disturbed", False)]
    for title, these in ((f"The {len(undisturbed)} of {len(rows)} kernels that "
                          "were not disturbed:", undisturbed),
                         ("All, the disturbed ones too:", rows)):
        if these and (these is undisturbed or disturbed and threads == 1):
            print("\n".join(["", title, "", *format_summary(
                summarize(these))]))
    print(f"\nThe worst; each again by `hone bench kernel-sweep --seed {seed} "
          f"--count {count} --only REGEX`:\n")
    judged = rows if threads == 1 else undisturbed
    for row in sorted(judged, key=ratio_of)[:WORST]:
        print(f"{ratio_of(row):.3f} --only '^{re.escape(row['kernel'])}$'")

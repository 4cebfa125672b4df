"""Tables, in Markdown, and final lines of the rows of compare_on_xla.py."""

import dataclasses

import numpy as np

import paired_ratios
from interleaved import ratio

# A peak above the original's by more than this is marked.
PEAK_TOLERANCE = 0.02


@dataclasses.dataclass(frozen=True)
class Metric:
    key: str
    title: str
    mega: bool = False  # printed in millions

    def format(self, value):
        return f"{value / 1e6:.2f}" if self.mega else f"{value:.0f}"


COUNTS = (Metric("xla_ops", "XLA's ops"),
          Metric("entry_instructions", "final instructions"),
          Metric("entry_fusions", "final fusions"))
SIZES = (Metric("bytes_accessed", "MB accessed", mega=True),
         Metric("flops", "Mflop", mega=True),
         Metric("peak_bytes", "peak MB", mega=True),
         Metric("temporary_bytes", "temporary MB", mega=True))
SIGNS = {"faster": " +", "slower": " -", None: ""}


def format_interval(interval):
    value, lower, upper = interval
    return f"{value:.3f} ({lower:.3f} to {upper:.3f})"


def format_table(header, rows):
    def line(cells):
        return "| " + " | ".join(c.replace("|", "\\|") for c in cells) + " |"

    return "\n".join([line(header), "|" + "---|" * len(header),
                      *map(line, rows)])


def exceeds_peak(row, name):
    """Returns true if the peak of the form `name` is to be marked."""
    metrics = row["tuned"][name].get("metrics")
    return metrics is not None and (
        metrics["peak_bytes"] >
        (1 + PEAK_TOLERANCE) * row["original"]["peak_bytes"])


def metric_ratio(row, name, key):
    """Returns tuned / original; None where there is none."""
    metrics = row.get("tuned", {}).get(name, {}).get("metrics")
    if metrics is None:
        return None
    tuned, original = metrics[key], row["original"][key]
    if tuned == original:
        return 1.0
    return tuned / original if tuned and original else None


def mean_of_metric(rows, name, key):
    """Returns the geometric mean with its interval, without the modules of
    which one form has none of the metric (fusions of a tiny module); None if no
    module is left."""
    found = [r for row in rows
             if (r := metric_ratio(row, name, key)) is not None]
    return paired_ratios.geometric_mean([[r] for r in found]) if found else None


def timed(rows):
    return [row for row in rows if row.get("timing")]


def pairs(row, name, clock="seconds"):
    """Returns the original's time over that of `name`, by round."""
    samples = row["timing"]["samples"]
    return (np.array(samples["original"][clock]) /
            np.array(samples[name][clock]))


def speedup(row, name, clock="seconds"):
    """Returns (median, lower, upper) of pairs()."""
    samples = row["timing"]["samples"]
    return ratio(samples["original"][clock], samples[name][clock])


def row_verdict(row, name):
    return paired_ratios.verdict(speedup(row, name), speedup(row, "again"))


def metrics_table(rows, names, metrics):
    header = ["module"]
    for metric in metrics:
        header += [f"{metric.title}: original", *names]

    def cell(row, name, metric):
        tuned = row["tuned"][name]
        if "metrics" not in tuned:
            return "refused"
        found = metric_ratio(row, name, metric.key)
        mark = (" !" if metric.key == "peak_bytes" and exceeds_peak(row, name)
                else "")
        relative = "" if found is None else f" ({found:.3f})"
        return metric.format(tuned["metrics"][metric.key]) + relative + mark

    def mean_cell(name, metric):
        mean = mean_of_metric(rows, name, metric.key)
        return format_interval(mean) if mean else ""

    lines = [[row["module"], *(
        text for metric in metrics for text in (
            metric.format(row["original"][metric.key]),
            *(cell(row, name, metric) for name in names)))]
        for row in rows if "original" in row]
    lines.append(["geometric mean", *(
        text for metric in metrics for text in (
            "", *(mean_cell(name, metric) for name in names)))])
    return format_table(header, lines)


def equality_table(rows, names):
    def cell(row, name):
        if "error" in row:
            return f"FAILED: {row['error']}"
        form = row["tuned"][name]
        found = f"{form['max_rel_error']:.1e}"
        return found if form["equal"] else f"{found} DIFFERENT: {form['where']}"

    return format_table(
        ["module", *(f"largest error: {name}" for name in names)],
        [[row["module"], *(cell(row, name) for name in names)]
         for row in rows])


def timing_table(rows, names):
    header = ["module", "original, ms", *names, "A/A",
              *(f"CPU time: {name}" for name in names), "CPU time: A/A"]
    lines = []
    for row in timed(rows):
        milliseconds = 1e3 * np.median(
            row["timing"]["samples"]["original"]["seconds"])
        lines.append([
            row["module"], f"{milliseconds:.3f}",
            *(format_interval(speedup(row, name)) +
              SIGNS[row_verdict(row, name)] for name in names),
            format_interval(speedup(row, "again")),
            *(f"{speedup(row, name, 'cpu_seconds')[0]:.3f}"
              for name in (*names, "again"))])
    means = [format_interval(mean_speedup(rows, name, clock))
             for clock in ("seconds", "cpu_seconds")
             for name in (*names, "again")]
    return format_table(header, [*lines, ["geometric mean", "", *means]])


def mean_speedup(rows, name, clock="seconds"):
    return paired_ratios.geometric_mean(
        [pairs(row, name, clock) for row in timed(rows)])


def failures(rows, name):
    return [row["module"] for row in rows
            if "error" in row or not row["tuned"][name]["equal"]]


def summarize(rows, names):
    """Returns the figures of the final lines, by form."""
    summary = {}
    for name in names:
        complete = [row for row in rows if "tuned" in row]
        found = {
            "equal": len(rows) - len(failures(rows, name)),
            "different": failures(rows, name),
            "peak_above": [row["module"] for row in complete
                           if exceeds_peak(row, name)],
            "ratios": {metric.key: mean_of_metric(rows, name, metric.key)
                       for metric in (*COUNTS, *SIZES)}}
        if of := timed(rows):
            found |= {
                "timed": len(of), "speedup": mean_speedup(rows, name),
                "aa": mean_speedup(rows, "again"),
                "cpu_speedup": mean_speedup(rows, name, "cpu_seconds"),
                "cpu_aa": mean_speedup(rows, "again", "cpu_seconds"),
                **{word: [row["module"] for row in of
                          if row_verdict(row, name) == word]
                   for word in ("faster", "slower")}}
        summary[name] = found
    return summary


def format_summary(name, found):
    def listed(modules):
        return f"{len(modules)}" + (
            f" ({', '.join(modules)})" if modules else "")

    lines = [f"{name}: {found['equal']} equal, "
             f"{listed(found['different'])} different; peak more than "
             f"{PEAK_TOLERANCE:.0%} above the original's: "
             f"{listed(found['peak_above'])}"]
    if "speedup" in found:
        lines += [
            f"{name}: speedup {format_interval(found['speedup'])}, A/A "
            f"{format_interval(found['aa'])}, geometric means of "
            f"{found['timed']} modules; in CPU time "
            f"{format_interval(found['cpu_speedup'])}, A/A "
            f"{format_interval(found['cpu_aa'])}",
            f"{name}: faster beyond the noise: {listed(found['faster'])}; "
            f"slower: {listed(found['slower'])}"]
    return "\n".join(lines)


def format_report(rows, names):
    """Returns all tables and the final lines."""
    if not rows:
        return "no module"
    parts = [equality_table(rows, names)]
    if any("original" in row for row in rows):
        parts += [metrics_table(rows, names, COUNTS),
                  metrics_table(rows, names, SIZES)]
    if timed(rows):
        parts.append(timing_table(rows, names))
    summary = summarize(rows, names)
    parts.append("\n".join(
        format_summary(name, summary[name]) for name in names))
    return "\n\n".join(parts)

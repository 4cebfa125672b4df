"""Times exported Hone kernels beside PyTorch and XLA:CPU, in one process.

Usage: bench/kernels/time_peers.py [--objects DIR] [--tuned DIR]
           [--threads 1|2] [--only REGEX] [--rounds 22] [--compile] [-o JSON]

For every kernel of suite.py DIR/NAME.so is what `hone` exported: `hone_entry`
and, where it has it, hone_kernel_set_threads; --tuned is a second folder of
such objects. Without them the peers are timed alone; a kernel whose object is
missing is timed alone too. All results are checked against double precision
first, and a kernel with a wrong one is not timed. Exit status 1 when any result
was wrong.

Method: interleaved.py. The process is pinned to as many cores as threads.
PyTorch is the fastest of its expressions (peers.py) after a warm-up; its name
is in the JSON with the time of the others. --compile adds the fastest of what
torch.compile makes of them; it needs a C++ compiler. Times are those that a
user sees from Python, call and dispatch included, all inputs in place; XLA
without its asynchronous dispatch, which would add a change of threads to each
call. A Hone object is called through ctypes. What is compared allocates its
results alike (kernel_rows.py): PyTorch and XLA as users call them beside a Hone
that gets new results at each call, PyTorch with `out=` beside Hone with results
that are there. What the bare calls cost is printed first, and `~` marks a time
of less than 100 us, in which that shows. Nothing is left to be cold: inputs are
those of the call before, as far as the caches hold them.

The roofline is the least time that this machine could take (calibration.py),
measured in the same run. `!` marks a kernel of which too few rounds were
undisturbed (disturbance.py); it is in no mean, and with two threads it is not
measured. `same/hone` is Hone against
itself, interleaved like the others: its distance from 1 is the noise.
"""

import argparse
import datetime
import json
import os
import pathlib
import re
import sys


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--objects", type=pathlib.Path)
    parser.add_argument("--tuned", type=pathlib.Path)
    parser.add_argument("--threads", type=int, choices=(1, 2), default=1)
    parser.add_argument("--only", type=re.compile, default=re.compile(""))
    parser.add_argument("--rounds", type=int, default=22)
    parser.add_argument("--compile", action="store_true")
    parser.add_argument("-o", "--out", type=pathlib.Path)
    args = parser.parse_args()
    if args.rounds < 6 or args.rounds % 2:
        parser.error("--rounds must be even and at least 6: fewer samples "
                     "have no 95 % interval")
    return args


def openblas_core(isa):
    """Returns the OPENBLAS_CORETYPE for this machine, or None. OpenBLAS takes
    its code for AVX2 on processors with AVX-512 that it does not know."""
    if isa == "avx2":
        return "Haswell"
    flags = pathlib.Path("/proc/cpuinfo").read_text()
    return "SkylakeX" if re.search(r"\bavx512vl\b", flags) else None


def environment(threads):
    """Of the libraries, which read it when they are loaded. HONE_CPU_ISA limits
    the instructions of all of them, but not those of XLA's matrix products: these
    heed neither flags nor variables."""
    isa = os.environ.get("HONE_CPU_ISA", "native")
    variables = {"OMP_NUM_THREADS": str(threads),
                 "MKL_NUM_THREADS": str(threads),
                 "OPENBLAS_NUM_THREADS": str(threads),
                 "HONE_THREADS": str(threads), "JAX_PLATFORMS": "cpu",
                 "HONE_CPU_ISA": isa}
    if core := openblas_core(isa):
        variables["OPENBLAS_CORETYPE"] = core
    xla_flags = []
    if threads == 1:
        xla_flags += ["--xla_cpu_multi_thread_eigen=false",
                      "intra_op_parallelism_threads=1"]
    if isa == "avx2":
        xla_flags.append("--xla_cpu_max_isa=AVX2")
        variables |= {"ATEN_CPU_CAPABILITY": "avx2", "ONEDNN_MAX_CPU_ISA": "AVX2",
                      "MKL_ENABLE_INSTRUCTIONS": "AVX2"}
    if xla_flags:
        variables["XLA_FLAGS"] = " ".join(xla_flags)
    return variables


def pin(threads):
    """To the last of the cores, as the first ones serve the system more."""
    cores = sorted(os.sched_getaffinity(0))
    if len(cores) < threads:
        sys.exit(f"time_peers: {threads} threads on {len(cores)} cores")
    os.sched_setaffinity(0, cores[-threads:])
    return cores[-threads:]


def main():
    args = parse_arguments()
    variables = environment(args.threads)
    os.environ.update(variables)
    cores = pin(args.threads)

    # Only now, with the environment that the libraries read.
    import jax
    import torch
    jax.config.update("jax_cpu_enable_async_dispatch", False)
    torch.set_num_threads(args.threads)
    import kernel_rows
    import provenance
    import suite
    from calibration import Calibration

    kernels = [k for k in suite.KERNELS if args.only.search(k.name)]
    if not kernels:
        sys.exit("time_peers: no kernel has a name that --only matches")
    calibration = Calibration(args.threads, cores)
    document = {"bench": "kernels", "date": datetime.date.today().isoformat(),
                "threads": args.threads,
                "machine": provenance.describe_machine(cores),
                "environment": variables,
                "libraries": provenance.describe_libraries(),
                "overhead_us": kernel_rows.measure_overheads(calibration),
                "rows": []}
    kernel_rows.print_header(document, calibration)
    timer = kernel_rows.Timer(
        calibration, {"hone": args.objects, "tuned": args.tuned}, args.rounds,
        args.compile)
    for kernel in kernels:
        row = timer.time(kernel)
        if row is None:
            continue
        document["rows"].append(row)
        kernel_rows.print_line(kernel_rows.format_row(row))
        if args.out:
            document["calibration"] = calibration.report()
            args.out.write_text(json.dumps(document, indent=1) + "\n")
    kernel_rows.print_summary(document["rows"], calibration)
    return 0 if len(document["rows"]) == len(kernels) else 1


if __name__ == "__main__":
    sys.exit(main())

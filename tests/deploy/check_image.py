#!/usr/bin/env python3
"""Checks that the image of deploy/Dockerfile has what the programs load.

Usage: check_image.py ROOT BUILD_DIR

Every shared library that honed, hone or the learned optimizers load has to be
of a package that the Dockerfile installs, or of one that such a package depends
on.
"""

import os
import pathlib
import re
import subprocess
import sys

# In every image of Debian.
BASE = {"libc6", "libgcc-s1", "libstdc++6"}


def output_of(*command):
    return subprocess.run(command, capture_output=True, text=True,
                          check=True).stdout


def dependencies():
    """What each installed package depends on."""
    listed = output_of("dpkg-query", "-W", "-f", "${Package}\t${Depends}\n")
    return {package: re.findall(r"(?:^|[,|])\s*([\w.+-]+)", depends)
            for package, depends in (line.split("\t")
                                     for line in listed.splitlines())}


def with_dependencies(packages):
    depends = dependencies()
    found, waiting = set(), list(packages)
    while waiting:
        package = waiting.pop()
        if package in depends and package not in found:
            found.add(package)
            waiting += depends[package]
    return found


def packages_of(program):
    """The packages of the libraries that a program loads, by library."""
    libraries = re.findall(r"=> (/\S+)", output_of("ldd", program))
    # /lib is /usr/lib, and packages are registered under either.
    names = {os.path.realpath(path): path for path in libraries}
    names |= {real.removeprefix("/usr"): path for real, path in names.items()}
    listed = subprocess.run(["dpkg-query", "-S", *names], capture_output=True,
                            text=True).stdout
    return {names[path]: package for package, path in re.findall(
        r"^([\w.+-]+)(?::\w+)?: (/\S+)$", listed, re.M) if path in names}


def main():
    root, build = map(pathlib.Path, sys.argv[1:])
    dockerfile = (root / "deploy/Dockerfile").read_text().replace("\\\n", " ")
    installed = re.findall(r"--no-install-recommends\s+([^&]*)", dockerfile)
    image = BASE | with_dependencies(installed[-1].split())
    problems = [
        f"{program.name} loads {library}: package {package} is not in the image"
        for program in (build / "bin/honed", build / "bin/hone",
                        build / "lib/libhone_policies.so")
        for library, package in packages_of(program).items()
        if package not in image]
    print("\n".join(problems), end="\n" if problems else "")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())

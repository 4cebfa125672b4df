"""A daemon of this build, in a folder of its own, for the tests of this folder."""

import contextlib
import pathlib
import re
import subprocess


@contextlib.contextmanager
def running(binaries, folder, configuration, *arguments):
    """Yields the address of its HTTP port; afterwards it has ended well."""
    config = pathlib.Path(folder, "hone.toml")
    config.write_text(configuration)
    process = subprocess.Popen(
        [binaries / "honed", "--config", config, "--http", "127.0.0.1:0",
         "--state", pathlib.Path(folder, "state"), *arguments],
        stderr=subprocess.PIPE, text=True)
    try:
        log = []
        for line in process.stderr:
            log.append(line)
            if serves := re.search(r"serves gRPC on .*, HTTP on ([^ ,]+),",
                                   line):
                break
        else:
            raise AssertionError("honed ended at once: " + "".join(log))
        yield serves[1]
        process.terminate()
        rest = process.communicate(timeout=60)[1]
        if process.returncode != 0:
            raise AssertionError(f"status {process.returncode}: {rest}")
    finally:
        if process.poll() is None:
            process.kill()
            process.communicate()

#!/usr/bin/env python3
"""Reads `veil status --json` for the scripts.

status.py VEIL get PATH          one value, for instance outputs.0.state; nothing where there is none
status.py VEIL watch SECONDS     watches what is shown for so long, and prints a row for each thing worth knowing
"""

import json
import os
import pathlib
import subprocess
import sys
import time


def status(veil):
    """The whole status; empty while no daemon answers."""
    answer = subprocess.run([veil, "status", "--json"], capture_output=True, check=False)
    return json.loads(answer.stdout) if answer.returncode == 0 else {}


def get(value, path):
    """What lies at a path like `outputs.0.state`."""
    for key in path.split("."):
        try:
            value = value[int(key)] if isinstance(value, list) else value[key]
        except (KeyError, IndexError, TypeError, ValueError):
            return None
    return value


def cpu_seconds(pid):
    """The CPU time of all threads of a process."""
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def row(name, value):
    """A line of the summary."""
    print(f"  {name:<10} {value}")


def watch(veil, seconds):
    """The summary."""
    # Asking costs the daemon a little too, so both questions are outside what is counted.
    before = status(veil)
    pid = before["pid"]
    start, spent = time.monotonic(), cpu_seconds(pid)
    time.sleep(seconds)
    spent, lasted = cpu_seconds(pid) - spent, time.monotonic() - start
    after = status(veil)

    for index, output in enumerate(after["outputs"]):
        shown = get(output, "frames.shown") or 0
        rate = (shown - (get(before, f"outputs.{index}.frames.shown") or 0)) / lasted
        size = "x".join(str(length) for length in output.get("size") or [])
        row("output", f"{output.get('name')} {size}")
        row("file", output.get("path") or output.get("source") or "none")
        decoder = get(output, "decoder.element")
        if decoder:
            row("decoder", f"{decoder} ({'hardware' if get(output, 'decoder.hardware') else 'software'})")
        elif output.get("kind") == "still":
            row("decoder", "none, it is a still picture")
        reason = output.get("route_reason")
        row("route", (output.get("route") or "none") + (f": {reason}" if reason else ""))
        if output.get("kind") == "video":
            missed, dropped = get(output, "frames.missed") or 0, get(output, "frames.dropped") or 0
            row("frames", f"{shown} shown, {rate:.1f} a second; {missed} missed, {dropped} dropped")
    row("CPU", f"{100 * spent / lasted:.1f} % of one core, decoding included")


def main():
    """Does what is asked."""
    veil, what, argument = sys.argv[1:]
    if what == "watch":
        watch(veil, float(argument))
    else:
        found = get(status(veil), argument)
        print("" if found is None else found)


main()

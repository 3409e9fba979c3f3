"""CPU time of a player by each route: see scripts/testbed/bench.

bench.py CLIP ROUNDS       in a session
"""

import json
import os
import re
import subprocess
import sys
import time

SINKS = {
    "floor": "fakesink sync=true",
    "direct": "veilsink layer=background mode=fill route=direct",
    "convert": "veilsink layer=background mode=fill route=convert device=llvmpipe",
    "shm": "veilsink layer=background mode=fill route=shm",
}
# Seconds until it plays evenly, and seconds that are counted.
WARM, COUNTED = 6, 8


def median(numbers):
    """The middle one; of two, the greater. (The machine's Python has no module for it.)"""
    numbers = sorted(numbers)
    return numbers[len(numbers) // 2]


def ticks(pid):
    """CPU time of a process so far, in clock ticks."""
    with open(f"/proc/{pid}/stat", encoding="ascii") as file:
        fields = file.read().rsplit(") ", 1)[1].split()
    return int(fields[11]) + int(fields[12])


def play(clip, sink):
    """CPU in percent of the processor, and frames a second that were given to the sink's surfaces."""
    words = f"filesrc location={clip} ! qtdemux ! h264parse ! avdec_h264 ! {sink}".split()
    environment = {**os.environ, "GST_DEBUG": "veilsink:4", "GST_DEBUG_NO_COLOR": "1"}
    with open("/tmp/bench.log", "w+b") as log:
        process = subprocess.Popen(["gst-launch-1.0", *words], env=environment, stdout=log, stderr=log)
        started = time.monotonic()
        time.sleep(WARM)
        before, begun = ticks(process.pid), time.monotonic()
        time.sleep(COUNTED)
        spent, took = ticks(process.pid) - before, time.monotonic() - begun
        ended = process.poll() is not None
        process.send_signal(2)
        process.wait()
        log.seek(0)
        text = log.read().decode(errors="replace")
        played = time.monotonic() - started
    if ended or "ERROR" in text.split("handling interrupt.")[0]:
        raise SystemExit(f"bench: {sink}: {text.strip().splitlines()[-1]}")
    found = re.search(r"submitted=\(guint64\)(\d+).*bytes-written=\(guint64\)(\d+)", text)
    told = (int(found[1]) / played, int(found[2]) // max(1, int(found[1]))) if found else (None, None)
    return 100 * spent / os.sysconf("SC_CLK_TCK") / took, *told


def main():
    """Prints a row for each, then the object."""
    clip, rounds = sys.argv[1], int(sys.argv[2])
    found = {name: [] for name in SINKS}
    for _ in range(rounds):
        for name, sink in SINKS.items():
            found[name].append(play(clip, sink))
    result = {}
    floor = median(cpu for cpu, *_ in found["floor"])
    for name, runs in found.items():
        cpu = median(run[0] for run in runs)
        result[name] = {"cpu": round(cpu, 1), "to_floor": round(cpu / floor, 3), "bytes_a_frame": runs[-1][2]}
        all_runs = " ".join(f"{run[0]:.1f}" for run in runs)
        print(f"{name:<8} {cpu:6.1f} % of the processor, {cpu / floor:.3f} of the floor, bytes a frame {runs[-1][2]} ({all_runs})")
    print(json.dumps(result))


main()

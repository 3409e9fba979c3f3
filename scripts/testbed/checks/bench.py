"""CPU time of a player by each route: see scripts/testbed/bench.

bench.py ROUNDS CLIP …       in a session
"""

import json
import os
import pathlib
import re
import subprocess
import sys

SINK = "veilsink layer=background mode=fill sync=false qos=false"
# The sink, and what it needs in its environment.
PLAYERS = {
    "floor": ("fakesink sync=false", {}),
    "direct": (f"{SINK} route=direct", {}),
    "null": (f"{SINK} route=convert device=llvmpipe", {"VEIL_NULL_CONVERTER": "1"}),
    "convert": (f"{SINK} route=convert device=llvmpipe", {}),
    "shm": (f"{SINK} route=shm", {}),
}
# A short and a long run: what the start costs is in both.
SHORT, LONG = 200, 1400


def median(numbers):
    """The middle one; of two, the greater. (The machine's Python has no module for it.)"""
    numbers = sorted(numbers)
    return numbers[len(numbers) // 2]


def play(clip, name, frames):
    """CPU time of a process that plays so many frames, in seconds; the part of them that was drawn; and the bytes written for one."""
    sink, variables = PLAYERS[name]
    decoder = "h264parse ! avdec_h264 max-threads=1" if clip.endswith(".mp4") else "jpegdec"
    demuxer = "qtdemux" if clip.endswith(".mp4") else "matroskademux"
    words = f"filesrc location={clip} ! {demuxer} ! identity eos-after={frames} ! {decoder} ! {sink}"
    environment = {**os.environ, **variables, "GST_DEBUG": "veilsink:4", "GST_DEBUG_NO_COLOR": "1"}
    with open("/tmp/bench.log", "w+b") as log:
        process = subprocess.Popen(["gst-launch-1.0", *words.split()], env=environment, stdout=log, stderr=log)
        before = os.times()
        status = process.wait()
        after = os.times()
        log.seek(0)
        text = log.read().decode(errors="replace")
    if status or "ERROR" in text:
        raise SystemExit(f"bench: {name}: {text.strip().splitlines()[-1]}")
    told = re.search(r"submitted=\(guint64\)(\d+).*bytes-written=\(guint64\)(\d+)", text)
    # The only child that has ended in between.
    spent = after.children_user + after.children_system - before.children_user - before.children_system
    # As fast as it goes, the compositor may hold all targets for a while: then a frame is left out.
    drawn = int(told[1]) / frames if told else 1.0
    return spent, drawn, told and int(told[2]) // max(1, int(told[1]))


def main():
    """Prints a row for each, then the object."""
    rounds, result = int(sys.argv[1]), {}
    # The first one looks through all plugins.
    play(sys.argv[2], "floor", 1)
    for clip in sys.argv[2:]:
        codec = pathlib.Path(clip).stem.split("-")[0]
        found, drawn, written = {name: [] for name in PLAYERS}, {}, {}
        for _ in range(rounds):
            for name in PLAYERS:
                few, many = SHORT, LONG
                if name == "convert":
                    # It takes so long that fewer are as good.
                    few, many = SHORT // 8, LONG // 8
                short, *_ = play(clip, name, few)
                long, drawn[name], written[name] = play(clip, name, many)
                found[name].append(1000 * (long - short) / (many - few))
        for name, runs in found.items():
            # Each against the floor of its own round.
            ratios = [run / floor for run, floor in zip(runs, found["floor"])]
            result[f"{codec}-{name}"] = {
                "ms": round(median(runs), 3),
                "to_floor": round(median(ratios), 3),
                "drawn": round(drawn[name], 3),
                "bytes_a_frame": written[name],
            }
            each = " ".join(f"{ratio:.3f}" for ratio in ratios)
            print(
                f"{codec} {name:<8} {median(runs):7.2f} ms of CPU a frame, {median(ratios):.3f} of the floor ({each}); "
                f"{drawn[name]:.0%} drawn; bytes a frame: {written[name]}",
                flush=True,
            )
    print(json.dumps(result))


main()

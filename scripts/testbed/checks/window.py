"""`veilsink` in a window, and the wallpaper refused, on a compositor without layer-shell: prints a row.

window.py NAME       in the session of that compositor
"""

import os
import re
import signal
import subprocess
import sys

from screen import BACKGROUND, PART, QUADRANTS, VIDEO_TOLERANCE, bars, expect, moves, quarters
from shot import Display
from veil import BIN, INPUTS, OUT, compositor_alive
from waiting import GENEROUS, Wrong, wait_for

SIZE = (320, 180)


def refused():
    """`veil daemon` ends, and says what is missing."""
    ran = subprocess.run([BIN / "veil", "daemon"], capture_output=True, text=True, timeout=GENEROUS, check=False)
    if ran.returncode == 0 or "zwlr_layer_shell_v1" not in ran.stderr:
        raise Wrong(f"veil daemon gave {ran.returncode}: {ran.stderr.strip()}")


class Pipeline:
    """gst-launch-1.0 with a file and veilsink."""

    def __init__(self, name, file, *properties):
        self.log = OUT / f"{name}.log"
        words = f"filesrc location={INPUTS / file} ! parsebin ! avdec_h264 ! veilsink".split()
        self.process = subprocess.Popen(
            ["gst-launch-1.0", *words, *properties],
            env={**os.environ, "GST_PLUGIN_PATH": str(BIN), "GST_DEBUG": "veilsink:4", "GST_DEBUG_NO_COLOR": "1"},
            stdout=self.log.open("wb"),
            stderr=subprocess.STDOUT,
        )

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()

    def end(self, by_signal):
        """Ends it, or waits for its end; fails if that is not a good one."""
        if by_signal and self.process.poll() is None:
            self.process.send_signal(signal.SIGINT)
        try:
            status = self.process.wait(GENEROUS)
        except subprocess.TimeoutExpired:
            raise Wrong("gst-launch-1.0 does not end") from None
        text = self.log.read_text(errors="replace")
        if status or "ERROR" in text or "CRITICAL" in text:
            raise Wrong(f"gst-launch-1.0 ended with {status}: {text.strip().splitlines()[-1]}")


def presentations(log):
    """What the element said at its end of what was shown in its window, in a line; empty if it said nothing."""
    text = log.read_text(errors="replace").replace("\\", "")
    found = {
        key: int(value)
        for key, value in re.findall(r"(submitted|shown|missed|mean-interval|longest-interval)=\(guint64\)(\d+)", text)
    }
    if "shown" not in found:
        return ""
    mean, longest = (found.get(f"{which}-interval", 0) / 1e6 for which in ("mean", "longest"))
    return (
        f"presented {found['shown']} of {found['submitted']}, missed {found['missed']}; "
        f"intervals {mean:.1f} ms, longest {longest:.1f} ms"
    )


def find_window(display, name):
    """Waits for a window of the four quarters in the size of the video, anywhere."""

    def ask():
        shot = display.shoot()
        points = [
            (x, y)
            for y in range(0, shot.height, 4)
            for x in range(0, shot.width, 4)
            if shot.near(x, y, QUADRANTS[0], VIDEO_TOLERANCE)
        ]
        if not points:
            raise Wrong("its first colour is nowhere")
        (left, top), (right, bottom) = (tuple(pick(axis) for axis in zip(*points)) for pick in (min, max))
        # To the very pixel.
        while left and shot.near(left - 1, top, QUADRANTS[0], VIDEO_TOLERANCE):
            left -= 1
        while top and shot.near(left, top - 1, QUADRANTS[0], VIDEO_TOLERANCE):
            top -= 1
        # The chroma's lower resolution blurs where the quarters meet.
        points = quarters(QUADRANTS, (left, top, *SIZE), (1, 20), middle=8)
        wrong = shot.differences(points, VIDEO_TOLERANCE)
        if wrong:
            raise Wrong(f"at ({left}, {top}), to ({right}, {bottom}): {wrong[0]}")
        shot.save(OUT / f"{name}-window.png")
        return True

    try:
        wait_for("a window of the video's size", ask)
    except Wrong:
        display.shoot().save(OUT / f"{name}-window.png")
        raise


def check(name):
    """All of it."""
    refused()
    if not (BIN / "libgstveil.so").exists():
        raise Wrong("libgstveil.so is not built")
    display = Display(BIN / "kms-shot")
    colour = "background-color=0x%02x%02x%02x" % BACKGROUND
    with Pipeline(f"{name}-bars", "long-bars.mp4", "fullscreen=true", "mode=fit", colour) as pipeline:
        expect(display, f"{name}-bars", bars(), VIDEO_TOLERANCE)
        pipeline.end(by_signal=True)
    with Pipeline(f"{name}-video", "numbered-30.mp4", "fullscreen=true", "mode=fit", colour) as pipeline:
        # Windows fade in, and the one before fades out.
        wait_for("a numbered frame", lambda: display.shoot().number(PART) is not None)
        moves(display, f"{name}-video")
        pipeline.end(by_signal=True)
        shown = presentations(pipeline.log)
        if not shown:
            raise Wrong("veilsink said nothing of its presentations")
    # By the other routes Weston puts the frames on the display by themselves, where the rest is not seen.
    with Pipeline(f"{name}-window", "quadrants.mp4", "route=shm") as pipeline:
        find_window(display, name)
        pipeline.end(by_signal=False)
    compositor_alive()
    return shown


def main():
    """Prints the row."""
    name, why, shown = sys.argv[1], "", ""
    try:
        shown = check(name)
    except Wrong as wrong:
        why = str(wrong)
    print(f"{name:<9} {'FAIL ' + why if why else 'ok'}")
    if shown:
        print(f"          30/s: {shown}")
    sys.exit(1 if why else 0)


main()

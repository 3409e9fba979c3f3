"""Whether a route stays right: prints a row for each.

lasting.py NAME       NAME is lasting-sway or lasting-kwin, in the session of that compositor

For a minute the numbers on the screen must go forward and every frame be whole: a buffer that is drawn to too early shows
here. On sway by the daemon, by each route (direct is forced there, and a software decoder writes into the sink's own pool); on KWin
the kernel's decoder, whose dmabufs are attached as they are. Then streams that change their size, and many switches, must
leave nothing behind; and the loop must not wake up more often than pictures come.
"""

import os
import pathlib
import re
import subprocess
import sys

from screen import BACKGROUND, PART, numbers
from shot import Dark, Display, number_rows
from veil import BIN, INPUTS, OUT, Daemon, compositor_alive
from waiting import Wrong, wait_for

DEVICE = "llvmpipe"
COLOUR = "#%02x%02x%02x" % BACKGROUND
# Of looking at numbers, in seconds; and how many whole pictures there must be.
LONG, ENOUGH = 60, 300
# Frames for which wake-ups are counted, and how often that may be tried: other programs of the host may take the processor away.
COUNTED, TRIES = 150, 3
SWITCHES = 50
# Elements that would convert, scale or show pictures in veil's place.
UNWANTED = ("videoconvert", "videoscale", "videoconvertscale", "glcolorconvert", "glupload", "vapostproc", "waylandsink")


def goes_on(display, name):
    """Fails unless the numbers go forward for a minute, in whole frames."""
    found = [number for _, number in numbers(display, ENOUGH, 0.03, least=LONG)]
    display.keep(OUT / f"{name}.png")
    whole = [number for number in found if number is not None]
    torn = len(found) - len(whole)
    back = [(a, b) for a, b in zip(whole, whole[1:]) if b < a]
    if torn or back or len(whole) < ENOUGH:
        raise Wrong(f"{len(whole)} whole frames, {torn} torn; they go back at {back}")
    return f"{len(whole)} screenshots of {len(set(whole))} frames, none torn or old"


def switches(daemon):
    """How often the loop's thread went to sleep."""
    status = pathlib.Path(f"/proc/{daemon.process.pid}/task/{daemon.process.pid}/status").read_text()
    return int(re.search(r"^voluntary_ctxt_switches:\s*(\d+)", status, re.M)[1])


def wake_ups(daemon):
    """Fails if the loop wakes up more than 1.1 times for a frame that comes."""
    rates = []
    for _ in range(TRIES):
        before = daemon.output()["frames"]["due"], switches(daemon)
        wait_for("frames", lambda: daemon.output()["frames"]["due"] >= before[0] + COUNTED, every=COUNTED / 30)
        now = switches(daemon)
        frames = daemon.output()["frames"]["due"] - before[0]
        rates.append((now - before[1]) / frames)
        if rates[-1] <= 1.1:
            return f"{rates[-1]:.2f} wake-ups a frame"
    raise Wrong(f"{', '.join(f'{rate:.2f}' for rate in rates)} wake-ups a frame")


def held(daemon):
    """What the daemon and the kernel hold: descriptors, dma-bufs, and KiB of the kernel that cannot be had back."""
    dmabufs = pathlib.Path("/sys/kernel/debug/dma_buf/bufinfo").read_text()
    kernel = re.search(r"SUnreclaim:\s*(\d+)", pathlib.Path("/proc/meminfo").read_text())[1]
    return (
        len(os.listdir(f"/proc/{daemon.process.pid}/fd")),
        int(re.search(r"Total (\d+) objects", dmabufs)[1]),
        int(kernel),
    )


def at_rest(daemon):
    """Shows a picture and waits until only the loop is left; what is held then."""
    daemon.set("quadrants.png")
    tasks = pathlib.Path(f"/proc/{daemon.process.pid}/task")

    def left():
        try:
            names = [(task / "comm").read_text().strip() for task in tasks.iterdir()]
        except OSError:
            raise Wrong("one ends just now") from None
        # GLib keeps one that makes others.
        others = [name for name in names if name not in ("veil", "pool-spawner")]
        if others:
            raise Wrong(f"there are the threads {others}")
        return True

    wait_for("the pipelines' end", left)
    before = None

    def ask():
        nonlocal before
        now = held(daemon)
        same, before = now[:2] == (before or now)[:2] and before is not None, now
        return same and [now]

    return wait_for("what is held to stay", ask, every=0.5)[0]


def leaves_nothing(daemon, route):
    """Sizes that change in mid-stream, and many switches, leave no descriptor, dma-buf or kernel memory."""
    # Once, for what is made at first use and kept.
    daemon.set("changing.h264")
    daemon.set("bars.mp4")
    before = at_rest(daemon)
    daemon.set("changing.h264")
    wait_for("20 changes of the size", lambda: daemon.output()["loops"] >= 2, limit=240)
    taken = daemon.output()["route"]
    if taken != route:
        raise Wrong(f"the route is {taken}: {daemon.output()['route_reason']}")
    for index in range(SWITCHES):
        daemon.set(("bars.mp4", "quarters.png", "numbered-30.mp4", "bars-601.mp4")[index % 4])
    after = at_rest(daemon)
    if after[0] > before[0] or after[1] > before[1] or after[2] > before[2] + 1024:
        raise Wrong(f"descriptors, dma-bufs and KiB of kernel memory were {before} and are {after}")
    return f"held before and after {SWITCHES} switches: {before}, {after}"


def elements(log):
    """The names of the elements that ever changed their state."""
    names = re.findall(r"<([A-Za-z0-9_]+?)-?\d*>", log.read_text(errors="replace"))
    if "qtdemux" not in names:
        raise Wrong(f"this is no log of a pipeline: {sorted(set(names))}")
    found = set(names) & set(UNWANTED)
    if found:
        raise Wrong(f"{found} are in the pipeline")
    return set(names)


def wallpaper(display, name, route):
    """The daemon by one route."""
    log = pathlib.Path(f"/tmp/{name}-{route}-elements.log")
    variables = {"GST_DEBUG": "GST_STATES:4", "GST_DEBUG_FILE": str(log), "GST_DEBUG_NO_COLOR": "1"}
    with Daemon("--route", route, VEIL_DEVICE=DEVICE, **variables) as daemon:
        daemon.ready()
        daemon.set("lasting.mp4", "--mode", "fit", "--background", COLOUR)
        said = [goes_on(display, f"{name}-{route}")]
        said.append(wake_ups(daemon))
        output = daemon.output()
        if output["route"] != route:
            raise Wrong(f"the route is {output['route']}, not {route}: {output['route_reason']}")
        said.append(leaves_nothing(daemon, route))
        daemon.stop()
    elements(log)
    compositor_alive()
    return "; ".join(said)


def kernel(display, name):
    """The kernel's decoder, attached as it is."""
    log = OUT / f"{name}.log"
    raw = f"filesrc location={INPUTS / 'lasting.mp4'} ! parsebin ! avdec_h264 ! identity drop-allocation=true ! v4l2fwhtenc ! v4l2fwhtdec capture-io-mode=dmabuf"
    memory = "video/x-raw(memory:DMABuf),format=DMA_DRM,drm-format=NV12"
    colour = "background-color=0x%02x%02x%02x" % BACKGROUND
    words = f"{raw} ! {memory} ! veilsink layer=background mode=fit {colour} route=direct".split()
    environment = {**os.environ, "GST_PLUGIN_PATH": str(BIN), "GST_DEBUG": "veilsink:4", "GST_DEBUG_NO_COLOR": "1"}
    with log.open("wb") as file:
        process = subprocess.Popen(["gst-launch-1.0", *words], env=environment, stdout=file, stderr=file)
    try:
        def ask():
            try:
                return display.shoot(number_rows(PART)).number(PART) is not None
            except Dark:
                return False

        wait_for("a numbered frame", ask)
        said = goes_on(display, name)
        process.send_signal(2)
        status = process.wait(30)
    finally:
        if process.poll() is None:
            process.kill()
            process.wait()
    text = log.read_text(errors="replace")
    if status < 0 or "ERROR" in text.split("handling interrupt.")[0] or "bytes-written=(guint64)0" not in text:
        raise Wrong(f"it ended with {status}, see {log.name}")
    compositor_alive()
    return said


def main():
    """Prints the rows."""
    name, failed = sys.argv[1], False
    display = Display(BIN / "kms-shot")
    if name == "lasting-kwin":
        checks = {"direct": lambda: kernel(display, name)}
    else:
        checks = {
            route: lambda route=route: wallpaper(display, name, route) for route in ("direct", "convert", "shm")
        }
    for label, check in checks.items():
        try:
            said = f"ok ({check()})"
        except Wrong as wrong:
            said, failed = f"FAIL {wrong}", True
        print(f"{name + ' ' + label:<21} {said}", flush=True)
    sys.exit(failed)


main()

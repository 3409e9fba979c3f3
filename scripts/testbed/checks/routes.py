"""Every route that can be taken on one compositor shows the same: prints a row for each.

routes.py NAME       NAME is routes-COMPOSITOR, in the session of that compositor

The GPU is lavapipe, which is the CPU and so has to be named. Colours: one picture, coded in three ways. Order: a numbered clip.
In Weston there is a window, and direct too. On KWin and Weston also frames that a camera and a decoder of the kernel have put into dmabufs, as they are and converted.
"""

import os
import subprocess
import sys

from screen import BACKGROUND, VIDEO_TOLERANCE, bars, expect, moves
from shot import Display
from veil import BIN, INPUTS, OUT, Daemon, compositor_alive
from waiting import Wrong, wait_for

DEVICE = "llvmpipe"
CODED = ("bars.mp4", "bars-601.mp4", "bars-full.mp4")
COLOUR = "#%02x%02x%02x" % BACKGROUND
# Across the bars.
COLUMNS = range(64, 1024, 128)


def route_of(daemon, wanted):
    """Fails unless this route is taken."""

    def ask():
        output = daemon.output()
        if output["route"] != wanted:
            raise Wrong(f"the route is {output['route']}, not {wanted}: {output['route_reason']}")
        return output

    return wait_for(f"the route {wanted}", ask)


def wallpaper(display, name, route):
    """A wallpaper by this route; says where its frames were."""
    with Daemon("--route", route, VEIL_DEVICE=DEVICE, VEIL_VULKAN_VALIDATION="1") as daemon:
        daemon.ready()
        for file in CODED:
            daemon.set(file, "--mode", "fit", "--background", COLOUR)
            expect(display, f"{name}-{route}-{file[:-4]}", bars(), VIDEO_TOLERANCE)
            output = route_of(daemon, route)
        daemon.set("numbered-30.mp4")
        moves(display, f"{name}-{route}-video")
        output = route_of(daemon, route)
        daemon.stop()
    compositor_alive()
    return f"{output['memory']} memory, {output['route_reason']}"


def vivid():
    """The node of the kernel's camera, told to show what stands still."""
    for entry in os.scandir("/sys/class/video4linux"):
        with open(f"{entry.path}/name", encoding="ascii") as file:
            if file.read().strip() == "vivid-000-vid-cap":
                node = f"/dev/{entry.name}"
                subprocess.run(["v4l2-ctl", "-d", node, "-c", "osd_text_mode=2"], check=False, capture_output=True)
                return node
    raise Wrong("the kernel has no camera")


def kernel_sources(dmabufs):
    """Pipelines whose frames the kernel has made, in dmabufs or in plain memory."""
    memory = "video/x-raw(memory:DMABuf),format=DMA_DRM,drm-format=NV12" if dmabufs else "video/x-raw,format=NV12"
    mode = "dmabuf" if dmabufs else "mmap"
    camera = f"v4l2src device={vivid()} io-mode={mode} num-buffers=3000 ! {memory},width=640,height=360,framerate=30/1"
    raw = f"filesrc location={INPUTS / 'long-bars.mp4'} ! parsebin ! avdec_h264 ! v4l2fwhtenc"
    return {"vivid": camera, "fwht": f"{raw} ! v4l2fwhtdec capture-io-mode={mode} ! {memory}"}


def shown(display, source, pipeline, name, *properties):
    """The colours of a row, once the picture has stood still for two screenshots; and the element's own statistics."""
    log = OUT / f"{name}.log"
    # A frame that need not be scaled may be put on the display by itself: then it must have the display's size.
    words = f"{pipeline} ! veilsink mode=fill device={DEVICE}".split() + list(properties)
    environment = {
        **os.environ,
        "GST_PLUGIN_PATH": str(BIN),
        "GST_DEBUG": "veilsink:4",
        "GST_DEBUG_NO_COLOR": "1",
        "VEIL_VULKAN_VALIDATION": "1",
    }
    with log.open("wb") as file:
        process = subprocess.Popen(["gst-launch-1.0", *words], env=environment, stdout=file, stderr=file)
    try:
        before = None

        def ask():
            nonlocal before
            if process.poll() is not None:
                raise Wrong(f"{source} ended: {log.read_text(errors='replace').strip().splitlines()[-1]}")
            shot = display.shoot()
            if (shot.width, shot.height) != (1024, 768):
                raise Wrong(f"the display shows a framebuffer of {shot.width}x{shot.height}")
            row = [shot.at(x, 300) for x in COLUMNS]
            if len(set(row)) < 4 or row != before:
                before = row
                raise Wrong(f"the screen shows {row}")
            shot.save(OUT / f"{name}.png")
            return row

        row = wait_for(f"a picture of {source}", ask)
        process.send_signal(2)
        status = process.wait(30)
        if status < 0:
            raise Wrong(f"{source} ended by signal {-status}")
    finally:
        if process.poll() is None:
            process.kill()
            process.wait()
    text = log.read_text(errors="replace")
    # Decoders may stumble over being stopped.
    played = text.split("handling interrupt.")[0]
    if "ERROR" in played or "CRITICAL" in text or "validation" in text.lower():
        raise Wrong(f"{source}: see {log.name}")
    return row, text


def coded(display, name):
    """One picture in three codings looks the same in a window, by every route."""
    rows = {}
    for route in ("direct", "convert", "shm"):
        for file in CODED:
            pipeline = f"filesrc location={INPUTS / f'long-{file}'} ! parsebin ! avdec_h264"
            label = f"{name}-{route}-{file[:-4]}"
            row, text = shown(display, label, pipeline, label, f"route={route}", "fullscreen=true")
            if route != "shm" and "bytes-written=(guint64)0" not in text:
                raise Wrong(f"{label}: the CPU wrote pixels")
            rows[label] = row
    reference = rows[f"{name}-shm-bars"]
    for label, row in rows.items():
        for want, got in zip(reference, row):
            if any(abs(a - b) > VIDEO_TOLERANCE for a, b in zip(want, got)):
                raise Wrong(f"{label} shows {got}, by the CPU {want}")
    compositor_alive()
    return f"{len(rows)} pictures alike"


def kernel(display, name, layer):
    """The kernel's dmabufs, as they are and converted, give the same colours."""
    said = []
    for source in ("vivid", "fwht"):
        rows = {}
        for route in ("direct", "convert", "shm"):
            pipeline = kernel_sources(dmabufs=route != "shm")[source]
            rows[route], text = shown(
                display, source, pipeline, f"{name}-{source}-{route}", f"route={route}", layer
            )
            if route != "shm" and "bytes-written=(guint64)0" not in text:
                raise Wrong(f"{source} by {route}: the CPU wrote pixels")
        reference = rows["shm"]
        for route, row in rows.items():
            for want, got in zip(reference, row):
                if any(abs(a - b) > VIDEO_TOLERANCE for a, b in zip(want, got)):
                    raise Wrong(f"{source} by {route} shows {got}, by the CPU {want}")
        said.append(source)
        compositor_alive()
    return "dmabufs of " + ", ".join(said) + ": direct and convert as the CPU's, which touches none"


def main():
    """Prints the rows."""
    name, failed = sys.argv[1], False
    compositor = name.removeprefix("routes-")
    display = Display(BIN / "kms-shot")
    checks = {}
    if compositor != "weston":
        for route in ("convert", "shm"):
            checks[route] = lambda route=route: wallpaper(display, name, route)
    else:
        checks["coded"] = lambda: coded(display, name)
    if compositor in ("kwin", "weston"):
        layer = "layer=background" if compositor == "kwin" else "fullscreen=true"
        checks["kernel"] = lambda: kernel(display, name, layer)
    for label, check in checks.items():
        try:
            said = f"ok ({check()})"
        except Wrong as wrong:
            said, failed = f"FAIL {wrong}", True
        print(f"{compositor + ' ' + label:<17} {said}")
    sys.exit(failed)


main()

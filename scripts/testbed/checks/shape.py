"""Rows about outputs of all scales, turns and sizes."""

import pathlib
import struct
import zlib

import sway
from rows import row, shows
from screen import VIDEO_TOLERANCE
from veil import INPUTS, Daemon
from waiting import Wrong, wait_for


def picture_file(name, width, height, pixel):
    """A PNG in grey, drawn pixel by pixel from the byte string of a row."""

    def chunk(kind, body):
        return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))

    rows = b"".join(b"\0" + pixel(y) for y in range(height))
    path = pathlib.Path("/tmp") / name
    path.write_bytes(
        b"\x89PNG\r\n\x1a\n"
        + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0))
        + chunk(b"IDAT", zlib.compress(rows, 1))
        + chunk(b"IEND", b"")
    )
    return path


@row(27, "a picture of the output's size is sharp at scale 1.5")
def sharp():
    """Also one of 2880x1800 (row 28)."""
    for width, height in ((1920, 1080), (2880, 1800)):
        rows = [bytes([255 * ((x + y) % 2) for x in range(width)]) for y in (0, 1)]
        file = picture_file(f"checker-{width}.png", width, height, lambda y, rows=rows: rows[y % 2])
        (name,) = sway.desk(1, f"{width}x{height}")
        sway.configure(name, scale=1.5)
        with Daemon("--input", file) as daemon:

            def ask(name=name, width=width, height=height):
                shot = sway.picture(name)
                # The fourth byte of each pixel is none of grim's.
                values = set(shot.data[0::4])
                if (shot.width, shot.height) != (width, height) or values != {0, 255}:
                    raise Wrong(f"{shot.width}x{shot.height} has {len(values)} values")
                return True

            wait_for("only black and white", ask)
            daemon.stop()


TRANSFORMS = ("90", "180", "270", "flipped", "flipped-90", "flipped-180", "flipped-270", "normal")


@row(31, "outputs turned before the start, and while it runs")
def turned():
    """Upright, and both look the same (row 32)."""
    (name,) = sway.desk(1, "300x480")
    from_the_start = {}
    for transform in TRANSFORMS:
        sway.configure(name, transform=transform)
        with Daemon("--input", INPUTS / "quadrants.png") as daemon:
            shows(name)
            from_the_start[transform] = sway.picture(name).data
            daemon.stop()
    with Daemon("--input", INPUTS / "quadrants.png") as daemon:
        daemon.ready()
        for transform in TRANSFORMS:
            sway.configure(name, transform=transform)
            wait_for(
                f"{transform} to look as from the start",
                lambda transform=transform: sway.picture(name).data == from_the_start[transform],
            )
        daemon.set("quadrants.mp4")
        for transform in TRANSFORMS:
            sway.configure(name, transform=transform)
            shows(name, tolerance=VIDEO_TOLERANCE)
        daemon.stop()


@row(35, "no strip at any edge of odd outputs")
def no_strip():
    """A picture and a video of another shape."""
    for mode in ("1366x768", "799x601"):
        (name,) = sway.desk(1, mode)
        with Daemon("--background", "#ff00ff") as daemon:
            daemon.ready()
            for file, tolerance in (("quadrants.png", 1), ("quadrants.mp4", VIDEO_TOLERANCE)):
                daemon.set(file)
                shows(name, tolerance=tolerance, middle=40)
            daemon.stop()

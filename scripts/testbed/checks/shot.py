"""Screenshots, and what can be read from them. Runs on the test machine, whose Python has little of its library."""

import os
import pathlib
import struct
import subprocess
import zlib

from waiting import Wrong

# Numbered clips: their frames carry their number in this many bits, highest first, as black and white blocks in the
# middle half of the height; the lower row of blocks is the negative of the upper.
BITS = 16


class Shot:
    """A picture of a screen of `width` times `height`, or rows of it from `first` on. While a display shows one picture
    after another it may be unsure that all of it is of one."""

    def __init__(self, width, height, stride, order, data):
        self.width, self.height, self.stride, self.order, self.data = width, height, stride, order, data
        self.first, self.time, self.sure = 0, 0.0, True

    def at(self, x, y):
        """The pixel there, as red, green, blue."""
        start = (y - self.first) * self.stride + 4 * x
        return tuple(self.data[start + part] for part in self.order)

    def near(self, x, y, colour, tolerance):
        """Whether the pixel has this colour."""
        return all(abs(is_ - be) <= tolerance for is_, be in zip(self.at(x, y), colour))

    def differences(self, points, tolerance):
        """Those of the points ((x, y), colour) that have another colour, in words."""
        return [
            f"({x}, {y}) is {self.at(x, y)}, not {tuple(colour)}"
            for (x, y), colour in points
            if not self.near(x, y, colour, tolerance)
        ]

    def number(self, part):
        """The number of the frame in this part (x, y, width, height); `None` if it is no whole frame."""
        left, top, width, height = part
        rows = [top + int(height * at) for at in (0.27, 0.48, 0.52, 0.73)]
        found = set()
        for row, y in enumerate(rows):
            number = 0
            for bit in range(BITS):
                green = self.at(left + int(width * (bit + 0.5) / BITS), y)[1]
                if 60 < green < 195:
                    return None
                number = number << 1 | (green >= 195)
            found.add(number if row < 2 else number ^ ((1 << BITS) - 1))
        return found.pop() if len(found) == 1 else None

    def save(self, path):
        """Writes a PNG."""
        size = self.width * self.height
        rgb = bytearray(3 * size)
        packed = self.data
        if self.stride != 4 * self.width:
            packed = b"".join(
                self.data[y * self.stride : y * self.stride + 4 * self.width] for y in range(self.height)
            )
        for to, part in enumerate(self.order):
            rgb[to::3] = packed[part : 4 * size : 4]
        rows = b"".join(
            b"\0" + rgb[y * 3 * self.width : (y + 1) * 3 * self.width] for y in range(self.height)
        )

        def chunk(kind, body):
            return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))

        header = struct.pack(">IIBBBBB", self.width, self.height, 8, 2, 0, 0, 0)
        pathlib.Path(path).write_bytes(
            b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(rows, 1)) + chunk(b"IEND", b"")
        )


def number_rows(part):
    """The first row, and how many, that `Shot.number` looks at."""
    _, top, _, height = part
    first = top + int(height * 0.27)
    return first, top + int(height * 0.73) + 1 - first


class Dark(Wrong):
    """The display shows nothing, or it cannot be read."""


class Display:
    """The virtual display, as it is scanned out."""

    ORDERS = {"XR24": (2, 1, 0), "AR24": (2, 1, 0), "XB24": (0, 1, 2), "AB24": (0, 1, 2)}

    def __init__(self, program):
        card = next(pathlib.Path("/sys/devices/faux/vkms/drm").glob("card*")).name
        self.path = f"/tmp/shot-{os.getpid()}"
        self.process = subprocess.Popen(
            [program, f"/dev/dri/{card}"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def shoot(self, rows=(0, 0)):
        """What it shows now; all of it, or so many rows from the first of these."""
        print(*rows, self.path, file=self.process.stdin, flush=True)
        answer = self.process.stdout.readline().split()
        if len(answer) != 6 or answer[3] not in self.ORDERS:
            raise Dark(" ".join(answer[1:]) or "kms-shot ended")
        width, height, stride = (int(number) for number in answer[:3])
        data = pathlib.Path(self.path).read_bytes()
        shot = Shot(width, height, stride, self.ORDERS[answer[3]], data)
        shot.first, shot.time, shot.sure = rows[0], int(answer[4]) / 1e9, answer[5] == "1"
        return shot

    def keep(self, path):
        """Writes a screenshot for whoever looks; none where the display cannot be read just now."""
        try:
            self.shoot().save(path)
        except Dark:
            pass


def grim(output=None):
    """What an output of a wlroots compositor shows."""
    which = ["-o", output] if output else []
    ppm = subprocess.run(["grim", *which, "-t", "ppm", "-"], capture_output=True, check=True).stdout
    kind, size, limit, rgb = ppm.split(b"\n", 3)
    if kind != b"P6" or limit != b"255":
        raise Dark("grim gave no picture")
    width, height = (int(number) for number in size.split())
    pixels = bytearray(4 * width * height)
    for part in range(3):
        pixels[part::4] = rgb[part::3]
    return Shot(width, height, 4 * width, (0, 1, 2), bytes(pixels))

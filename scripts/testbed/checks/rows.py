"""What the rows about outputs have in common."""

import os
import pathlib

import sway
from screen import QUADRANTS, quarters
from waiting import Wrong, wait_for

ROWS = {}


def row(number, text):
    """Makes a function the row of this number."""

    def add(function):
        ROWS[number] = (text, function)
        return function

    return add


def shows(output, colours=tuple(QUADRANTS), tolerance=1, middle=8):
    """Waits until an output shows the four quarters, upright."""

    def ask():
        shot = sway.picture(output)
        # `fill` cuts off what is too much: the corners and the middle are there in every shape.
        wrong = shot.differences(quarters(colours, (0, 0, shot.width, shot.height), (0, 9), middle), tolerance)
        if wrong:
            raise Wrong(f"{output}: {wrong[0]}")
        return True

    wait_for("the picture", ask)


def number(output):
    """The number of the frame that an output shows."""

    def ask():
        shot = sway.picture(output)
        found = shot.number((0, 0, shot.width, shot.height))
        # In a list, since 0 is a number too.
        return [] if found is None else [found]

    return wait_for("a numbered frame", ask)[0]


def plays(output):
    """Waits until an output shows a frame, and another one later."""
    first = number(output)
    wait_for(f"{output} to move on from frame {first}", lambda: number(output) != first)


def held(daemon):
    """The daemon's descriptors and threads."""
    process = pathlib.Path(f"/proc/{daemon.process.pid}")
    return len(os.listdir(process / "fd")), len(os.listdir(process / "task"))


def has_outputs(daemon, count):
    """Waits until the daemon knows so many outputs."""
    wait_for(f"{count} outputs in the status", lambda: len(daemon.status()["outputs"]) == count)


def resident(daemon):
    """The daemon's own memory in KiB."""
    status = pathlib.Path(f"/proc/{daemon.process.pid}/status").read_text()
    return int(next(line for line in status.splitlines() if line.startswith("RssAnon")).split()[1])

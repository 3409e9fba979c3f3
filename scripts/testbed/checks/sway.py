"""A sway without a display, which has as many outputs as a test wants."""

import contextlib
import json
import os
import socket
import struct
import subprocess

from shot import Dark, grim
from waiting import Wrong, wait_for

COMMAND, GET_OUTPUTS, GET_TREE = 0, 3, 4
# What outputs are when nothing else is said.
MODE = "320x180"


def message(kind, text=""):
    """Asks sway, by its IPC."""
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(os.environ["SWAYSOCK"])
        connection.sendall(b"i3-ipc" + struct.pack("=II", len(text), kind) + text.encode())
        with connection.makefile("rb") as answer:
            length, _ = struct.unpack("=II", answer.read(14)[6:])
            return json.loads(answer.read(length))


def run(command):
    """Runs a command; fails if sway refuses it."""
    for result in message(COMMAND, command):
        if not result.get("success"):
            raise Wrong(f"sway refuses {command}: {result.get('error')}")


def outputs():
    """The outputs' descriptions, by their names."""
    return {output["name"]: output for output in message(GET_OUTPUTS)}


def create(mode=MODE):
    """Adds an output, and tells its name."""
    before = set(outputs())
    run("create_output")
    name = wait_for("a new output", lambda: set(outputs()) - before).pop()
    configure(name, mode=f"--custom {mode}@60Hz")
    return name


def configure(name, **settings):
    """Changes an output, for instance `scale=1.5`."""
    for what, value in settings.items():
        run(f"output {name} {what} {value}")


def unplug(name):
    """Removes an output for good."""
    run(f"output {name} unplug")
    wait_for(f"{name} to go", lambda: name not in outputs())


def desk(count, mode=MODE):
    """Leaves exactly so many outputs, all new; tells their names."""
    old = list(outputs())
    names = [create(mode) for _ in range(count)]
    for name in old:
        unplug(name)
    return names


@contextlib.contextmanager
def fullscreen_window(output):
    """A window that fills an output."""
    run(f"focus output {output}")
    run("exec foot --fullscreen sleep 1000")
    wait_for("the window", lambda: '"foot"' in json.dumps(message(GET_TREE)))
    try:
        yield
    finally:
        run('[app_id="foot"] kill')
        wait_for("the window to go", lambda: '"foot"' not in json.dumps(message(GET_TREE)))


def picture(output):
    """What an output shows, as soon as it shows anything."""

    def ask():
        try:
            return grim(output)
        except (subprocess.CalledProcessError, Dark) as error:
            raise Wrong(f"grim of {output}: {error}") from None

    return wait_for(f"a picture of {output}", ask)

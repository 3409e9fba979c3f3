"""Rows about outputs that come, go, sleep and wake."""

import random
import subprocess
import time

import sway
from rows import has_outputs, held, number, plays, resident, row, shows
from veil import BIN, INPUTS, Daemon
from waiting import Wrong, wait_for


@row(1, "50 outputs come and go while a video plays")
def come_and_go():
    """Descriptors and threads stay as many."""
    first, _ = sway.desk(2)
    with Daemon("--input", INPUTS / "loop-30.mp4") as daemon:
        plays(first)
        seen = []
        for turn in range(50):
            name = sway.create()
            if turn % 5 == 0:
                plays(name)
            sway.unplug(name)
            if turn % 10 == 9:
                has_outputs(daemon, 2)
                plays(first)
                seen.append(held(daemon))
        # A target or a worker more may be there by chance, but not one for each output.
        if seen[-1][0] > seen[0][0] + 4 or seen[-1][1] > seen[0][1] + 2:
            raise Wrong(f"descriptors and threads, every ten outputs: {seen}")
        daemon.stop()


@row(2, "an output goes while callbacks and buffers are on their way")
def go_while_busy():
    """At any moment of a refresh."""
    (first,) = sway.desk(1)
    with Daemon("--input", INPUTS / "loop-60.mp4", WAYLAND_DEBUG="client") as daemon:
        plays(first)
        for _ in range(10):
            name = sway.create()
            plays(name)
            time.sleep(random.random() / 20)
            sway.unplug(name)
        plays(first)
        log = daemon.text()
        if "wl_display" not in log or ".error" in log:
            raise Wrong("the protocol's log is missing, or has an error")
        daemon.stop()


@row(3, "a closed layer surface is given up, and made again")
def closed_and_again():
    """The same output, disabled and enabled."""
    one, two = sway.desk(2)
    with Daemon("--input", INPUTS / "quadrants.png") as daemon:
        shows(two)
        for _ in range(5):
            sway.configure(two, disable="")
            has_outputs(daemon, 1)
            sway.configure(two, enable="")
            shows(two)
        shows(one)
        daemon.stop()


@row(4, "an output is disabled in the middle of a change")
def disabled_in_change():
    """50 times, at several moments of it."""
    one, two = sway.desk(2)
    files = ["quadrants.png", "loop-30.mp4"]
    with Daemon() as daemon:
        daemon.ready()
        for turn in range(50):
            change = subprocess.Popen(
                [BIN / "veilctl", "set", INPUTS / files[turn % 2]], env=daemon.environment, stdout=subprocess.DEVNULL
            )
            time.sleep(0.01 * (turn % 10))
            sway.configure(two, disable="")
            if change.wait(20):
                raise Wrong(f"the change number {turn} failed")
            sway.configure(two, enable="")
        plays(one)
        plays(two)
        daemon.set("quadrants.png")
        shows(one)
        shows(two)
        daemon.stop()


@row(5, "outputs sleep and wake while a video plays")
def sleep_and_wake():
    """Many times; and nothing is committed in vain for ever."""
    one, two = sway.desk(2)
    with Daemon("--input", INPUTS / "loop-30.mp4") as daemon:
        plays(one)
        for turn in range(30):
            run_all("power off")
            time.sleep(0.5 if turn % 10 == 0 else 0.1)
            run_all("power on")
            if turn % 10 == 9:
                plays(one)
                plays(two)
        daemon.stop()


def run_all(command):
    """A command to all outputs."""
    sway.run(f"output * {command}")


@row(7, "the only output vanishes for five seconds")
def only_output_gone():
    """A video, and a still picture: there within two seconds of the output's return."""
    for file in ("loop-30.mp4", "quadrants.png"):
        (name,) = sway.desk(1)
        with Daemon("--input", INPUTS / file) as daemon:
            daemon.ready()
            sway.unplug(name)
            time.sleep(5)
            began = time.monotonic()
            name = sway.create()
            # Told, not judged: grim and this script have one slow processor with the daemon.
            (plays if file.endswith("mp4") else shows)(name)
            print(f"{'':<12} {file}: back after {time.monotonic() - began:.1f} s, grim included")
            daemon.stop()


@row(8, "the only output is switched off and on, and the surface closed")
def only_output_cycled():
    """As monitors do that tell the machine when they are switched off."""
    (name,) = sway.desk(1)
    with Daemon("--input", INPUTS / "loop-30.mp4") as daemon:
        plays(name)
        for _ in range(5):
            sway.configure(name, disable="")
            has_outputs(daemon, 0)
            sway.configure(name, enable="")
            plays(name)
        daemon.set("quadrants.png")
        for _ in range(5):
            sway.configure(name, disable="")
            sway.configure(name, enable="")
            shows(name)
        daemon.stop()


@row(10, "an output goes, the others keep their picture")
def others_keep():
    """To the last pixel."""
    one, two = sway.desk(2)
    with Daemon("--input", INPUTS / "quadrants.png") as daemon:
        shows(one)
        shows(two)
        before = sway.picture(two).data
        sway.unplug(one)
        has_outputs(daemon, 1)
        if sway.picture(two).data != before:
            raise Wrong("the other output's picture changed")
        daemon.stop()


@row(11, "one decoder for all outputs, also for one that comes later")
def one_decoder():
    """And the memory of one (row 12)."""
    names = sway.desk(1)
    with Daemon("--input", INPUTS / "numbered-30.mp4") as daemon:
        plays(names[0])
        before = held(daemon)[1], resident(daemon)
        names += [sway.create(), sway.create()]
        for name in names:
            plays(name)
        opened = daemon.text().count("video decoder")
        after = held(daemon)[1], resident(daemon)
        if opened != 1 or after[0] > before[0] + 1 or after[1] > before[1] + 8192:
            raise Wrong(f"{opened} decoders; threads and KiB before and after: {before}, {after}")
        daemon.stop()


@row(14, "three files on three outputs, one daemon")
def three_files():
    """And all of them are there again after a restart (rows 18 and 25)."""
    one, two, three = sway.desk(3)
    with Daemon(XDG_STATE_HOME="/tmp/state-14") as daemon:
        daemon.ready()
        daemon.set("quadrants.png", "--output", one)
        daemon.set("loop-30.mp4", "--output", two)
        daemon.set("numbered-30.mp4", "--output", three)
        three_are_there(one, two, three)
        daemon.stop()
    with Daemon(XDG_STATE_HOME="/tmp/state-14") as daemon:
        three_are_there(one, two, three)
        daemon.stop()


def three_are_there(still, loop, long):
    """Each with its own."""
    shows(still)
    plays(loop)
    plays(long)
    wait_for("a frame that only the long clip has", lambda: number(long) >= 30 > number(loop))


@row(15, "an output that is not named has no layer of veil's")
def only_the_named():
    """sway does not tell its layers, but the protocol's log does."""
    one, two = sway.desk(2)
    with Daemon("--output", one, "--input", INPUTS / "quadrants.png", WAYLAND_DEBUG="client") as daemon:
        shows(one)
        made = daemon.text().count(".get_layer_surface(")
        if made != 1 or sway.picture(two).at(160, 90) != (0, 0, 0):
            raise Wrong(f"{made} layer surfaces for one output of two")
        daemon.stop()


@row(17, "a change is asked for while the daemon starts")
def set_at_once():
    """Without waiting for it, 30 times."""
    (name,) = sway.desk(1)
    for turn in range(30):
        with Daemon() as daemon:
            daemon.set("quadrants.png")
            if turn % 10 == 0:
                shows(name)
            daemon.stop()


@row(20, "a fullscreen window on one output stops nothing on another")
def fullscreen():
    """Of the same size."""
    one, two = sway.desk(2)
    with Daemon("--input", INPUTS / "loop-30.mp4") as daemon:
        plays(two)
        with sway.fullscreen_window(one):
            for _ in range(5):
                plays(two)
        plays(one)
        daemon.stop()

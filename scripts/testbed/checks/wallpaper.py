"""veil's wallpaper on one compositor of the virtual display: prints a row, and what was counted.

wallpaper.py NAME       in the session of that compositor. What it says of its presentations is left out for sway-shm, which
                        is there for its way of taking pictures.
"""

import sys

from counted import counted
from screen import BACKGROUND, OTHERS, VIDEO_TOLERANCE, bars, expect, moves, nothing, quadrants
from shot import Display
from veil import BIN, INPUTS, Daemon, compositor_alive
from waiting import Wrong


def check(name, rows):
    """All of it. Rows of what was counted are added to `rows`."""
    display = Display(BIN / "kms-shot")
    colour = "#%02x%02x%02x" % BACKGROUND
    with Daemon("--input", INPUTS / "quadrants.png", "--mode", "fit", "--background", colour) as daemon:
        expect(display, f"{name}-still", quadrants(), 1)
        daemon.ready()
        daemon.set("bars.mp4")
        expect(display, f"{name}-bars", bars(), VIDEO_TOLERANCE)
        daemon.set("numbered-30.mp4")
        moves(display, f"{name}-video")
        output = daemon.output()
        rows.append(f"route {output['route']}, as {output['route_reason']}; decoded by {output['decoder']['element']}")
        daemon.set("quadrants.png")
        expect(display, f"{name}-still-again", quadrants(), 1)
        daemon.set("quarters.png")
        expect(display, f"{name}-other-still", quadrants(OTHERS), 1)
        daemon.ask("clear")
        expect(display, f"{name}-clear", nothing(), 1)
        if name != "sway-shm":
            rows += counted(daemon)
        daemon.stop()
    compositor_alive()


def main():
    """Prints the rows."""
    name, rows, why = sys.argv[1], [], ""
    try:
        check(name, rows)
    except Wrong as wrong:
        why = str(wrong)
    print(f"{name:<9} {'FAIL ' + why if why else 'ok'}")
    for row in rows:
        print(f"{'':<9} {row}")
    sys.exit(1 if why else 0)


main()

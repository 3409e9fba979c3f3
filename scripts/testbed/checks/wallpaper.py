"""veil's wallpaper on one compositor of the virtual display: prints a row, and what was counted.

wallpaper.py NAME       in the session of that compositor
"""

import sys
import time

from counted import counted
from shot import Dark, Display, number_rows
from veil import BIN, OUT, Daemon, Wrong, compositor_alive, wait_for

BACKGROUND = (32, 96, 64)
# Where a picture of 16:9 lies on 1024x768 in the mode `fit`.
PART = (0, 96, 1024, 576)
BARS_TOLERANCE = 4

QUADRANTS = [(220, 40, 40), (40, 200, 60), (40, 70, 220), (230, 220, 50)]
OTHERS = [(10, 10, 10), (250, 250, 250), (90, 0, 160), (0, 120, 120)]
# smptehdbars: where in the width a colour is, and which.
BARS = [
    (80, (97, 100, 100)), (229, (186, 188, 188)), (367, (186, 200, 3)), (505, (12, 208, 183)),
    (643, (11, 221, 2)), (781, (172, 0, 181)), (919, (171, 0, 0)), (1057, (0, 0, 178)),
]  # fmt: skip


def around():
    """Points of the background, up to the picture's edges."""
    rows = (0, PART[1] - 2, PART[1] + PART[3] + 1, 767)
    return [((x, y), BACKGROUND) for y in rows for x in (0, 511, 1023)]


def quadrants(colours=QUADRANTS):
    """Points of a still picture: corners, middles, and where the quarters meet."""
    left, top, width, height = PART
    points = around()
    for index, colour in enumerate(colours):
        right, lower = index % 2, index // 2
        for inset in (2, 60):
            x = left + width - 1 - inset if right else left + inset
            y = top + height - 1 - inset if lower else top + inset
            points.append(((x, y), colour))
        x = left + width // 2 + (2 if right else -3)
        points.append(((x, top + height // 2 + (2 if lower else -3)), colour))
    return points


def bars():
    """Points of the bars."""
    return around() + [((x * 1024 // 1280, PART[1] + 160), colour) for x, colour in BARS]


def expect(display, name, points, tolerance):
    """Waits until the screen shows these points, and keeps the picture."""
    last = None

    def ask():
        nonlocal last
        try:
            last = display.shoot()
        except Dark as dark:
            raise Wrong(str(dark)) from None
        wrong = last.differences(points, tolerance)
        if wrong:
            raise Wrong(f"{len(wrong)} of {len(points)} points: {wrong[0]}")
        return True

    try:
        wait_for(name, ask, limit=8)
    finally:
        if last:
            last.save(OUT / f"{sys.argv[1]}-{name}.png")


def numbers(display, count, every):
    """Takes so many screenshots of a numbered clip: their times and numbers, `None` where there was no whole frame."""
    found = []
    for _ in range(count):
        try:
            shot = display.shoot(number_rows(PART))
            found.append((shot.time, shot.number(PART)))
        except Dark:
            pass
        time.sleep(every)
    return found


def moves(display):
    """Fails unless the numbers on the screen go forward, at the clip's pace, and never back."""
    found = numbers(display, 60, 0.04)
    display.shoot().save(OUT / f"{sys.argv[1]}-video.png")
    torn = sum(number is None for _, number in found)
    whole = [(at, number) for at, number in found if number is not None]
    if len(whole) < 40:
        raise Wrong(f"only {len(whole)} of 60 screenshots show a whole frame, {torn} a torn one")
    if torn:
        raise Wrong(f"{torn} of {len(found)} screenshots show a torn frame")
    steps = [after - before for (_, before), (_, after) in zip(whole, whole[1:])]
    if min(steps) < 0:
        raise Wrong(f"the frames go back: {[number for _, number in whole]}")
    rate = (whole[-1][1] - whole[0][1]) / (whole[-1][0] - whole[0][0])
    if not 25 < rate < 35:
        raise Wrong(f"a clip of 30 frames a second goes on by {rate:.1f}")


def check(display, rows):
    """All of it. Rows of what was counted are added to `rows`."""
    colour = "#%02x%02x%02x" % BACKGROUND
    with Daemon("--input", OUT / "inputs/quadrants.png", "--mode", "fit", "--background", colour) as daemon:
        expect(display, "still", quadrants(), 1)
        daemon.ready()
        daemon.set("bars.mp4")
        expect(display, "bars", bars(), BARS_TOLERANCE)
        daemon.set("numbered-30.mp4")
        moves(display)
        daemon.set("quadrants.png")
        expect(display, "still-again", quadrants(), 1)
        daemon.set("quarters.png")
        expect(display, "other-still", quadrants(OTHERS), 1)
        daemon.ask("clear")
        expect(display, "clear", [((x, y), BACKGROUND) for x in (0, 511, 1023) for y in (0, 383, 767)], 1)
        found, wrong = counted(daemon)
        rows += found
        daemon.stop()
    compositor_alive()
    if wrong:
        raise Wrong("; ".join(wrong))


def main():
    """Prints the rows."""
    name, rows, why = sys.argv[1], [], ""
    try:
        check(Display(BIN / "kms-shot"), rows)
    except (Wrong, Dark) as wrong:
        why = str(wrong)
    print(f"{name:<9} {'FAIL ' + why if why else 'ok'}")
    for row in rows:
        print(f"{'':<9} {row}")
    sys.exit(1 if why else 0)


main()

"""What should be on the virtual display: points and their colours, and frames that go forward."""

import time

from shot import Dark, number_rows
from veil import OUT
from waiting import GENEROUS, Wrong, wait_for

BACKGROUND = (32, 96, 64)
# Where a picture of 16:9 lies on 1024x768 in the mode `fit`.
PART = (0, 96, 1024, 576)
# Decoded pictures, enlarged by the compositor.
VIDEO_TOLERANCE = 4

QUADRANTS = [(220, 40, 40), (40, 200, 60), (40, 70, 220), (230, 220, 50)]
OTHERS = [(10, 10, 10), (250, 250, 250), (90, 0, 160), (0, 120, 120)]
# smptehdbars at a width of 1280: where a colour is, and which.
BARS = [
    (80, (97, 100, 100)), (229, (186, 188, 188)), (367, (186, 200, 3)), (505, (12, 208, 183)),
    (643, (11, 221, 2)), (781, (172, 0, 181)), (919, (171, 0, 0)), (1057, (0, 0, 178)),
]  # fmt: skip


def around():
    """Points of the background, up to the picture's edges."""
    rows = (0, PART[1] - 2, PART[1] + PART[3] + 1, 767)
    return [((x, y), BACKGROUND) for y in rows for x in (0, 511, 1023)]


def nothing():
    """Points of the background where there is no picture."""
    return [((x, y), BACKGROUND) for y in (0, 383, 767) for x in (0, 511, 1023)]


def quarters(colours, part, insets, middle=3):
    """Points of four quarters: so far from the part's corners, and from where the quarters meet."""
    left, top, width, height = part
    points = []
    for index, colour in enumerate(colours):
        right, lower = index % 2, index // 2
        for inset in insets:
            x = left + width - 1 - inset if right else left + inset
            y = top + height - 1 - inset if lower else top + inset
            points.append(((x, y), colour))
        x = left + width // 2 + (middle if right else -1 - middle)
        points.append(((x, top + height // 2 + (middle if lower else -1 - middle)), colour))
    return points


def quadrants(colours=tuple(QUADRANTS)):
    """Points of a still picture of four quarters."""
    return around() + quarters(colours, PART, (2, 60))


def bars():
    """Points of the bars."""
    return around() + [((x * 1024 // 1280, PART[1] + 160), colour) for x, colour in BARS]


def expect(display, name, points, tolerance):
    """Waits until the screen shows these points, and keeps the picture under this name."""
    last = None

    def ask():
        nonlocal last
        last = display.shoot()
        wrong = last.differences(points, tolerance)
        if wrong:
            raise Wrong(f"{len(wrong)} of {len(points)} points: {wrong[0]}")
        return True

    try:
        wait_for(name, ask)
    finally:
        if last:
            last.save(OUT / f"{name}.png")


def numbers(display, count, every, least=0):
    """Takes so many screenshots of a numbered clip, over that many seconds at least: their times and numbers, `None` where
    there was no whole frame. A busy machine gets time for them, but not without end: then there are fewer."""
    found, began = [], time.monotonic()
    while len(found) < count or time.monotonic() < began + least:
        if time.monotonic() > began + least + GENEROUS:
            break
        try:
            shot = display.shoot(number_rows(PART))
            if shot.sure:
                found.append((shot.time, shot.number(PART)))
        except Dark:
            pass
        time.sleep(every)
    return found


def moves(display, name):
    """Fails unless the numbers on the screen go forward, never back, and no faster than they should. Keeps a picture.

    How much slower they may go is not said: that is the machine's doing, and no frame's that is shown is wrong."""
    found = numbers(display, 60, 0.04)
    display.keep(OUT / f"{name}.png")
    torn = sum(number is None for _, number in found)
    whole = [(at, number) for at, number in found if number is not None]
    if torn or len(whole) < 30:
        raise Wrong(f"of {len(found)} screenshots {len(whole)} show a whole frame, {torn} a torn one")
    steps = [after - before for (_, before), (_, after) in zip(whole, whole[1:])]
    if min(steps) < 0:
        raise Wrong(f"the frames go back: {[number for _, number in whole]}")
    rate = (whole[-1][1] - whole[0][1]) / (whole[-1][0] - whole[0][0])
    # After a halt of the machine many frames are due at once; twice the clip's pace is more than that.
    if not 0 < rate < 60:
        raise Wrong(f"a clip of 30 frames a second goes on by {rate:.1f}")

"""What a compositor says of its presentations: `veilctl status` after a while of playing."""

import time

from waiting import Wrong

# Seconds that a clip is played: four loops of those that loop.
SECONDS = 4
# One processor, which other programs of the host may take away: what veil does wrong it does each time.
TRIES = 3
# Between two refreshes of the virtual display, in milliseconds; and what a measured time may be off.
REFRESH, SLACK = 1000 / 60, 0.5


def play(daemon, file):
    """Plays a clip; its frames and the intervals between them."""
    daemon.set(file)
    time.sleep(SECONDS)
    output = daemon.output()
    return output["frames"], output["present_interval_ms"], output["loops"]


def row(file, frames, interval, loops):
    """A row in words."""
    return (
        f"{file}: {frames['shown']} of {frames['due']} frames presented, {frames['missed']} missed; "
        f"interval {interval['mean']:.2f} ms, longest {interval['max']:.2f} ms; {loops} loops"
    )


def counted(daemon):
    """Plays small clips that loop and some that do not; tells of each what was presented.

    What went wrong comes apart: a loop that takes longer than one frame and one refresh, and longer than the longest
    interval without a loop. It is no judgement where the machine is so busy that no try had a good time without loops."""
    rows, wrong = [], []
    for rate in (30, 60):
        bound, good, calm = 1000 / rate + REFRESH + SLACK, False, False
        for _ in range(TRIES):
            long, loop = (play(daemon, f"{kind}-{rate}.mp4") for kind in ("long", "loop"))
            if loop[2] < 2:
                raise Wrong(f"a clip of one second made {loop[2]} loops in {SECONDS} s")
            calm |= long[1]["max"] <= bound
            good = loop[1]["max"] <= max(bound, long[1]["max"] + SLACK)
            if good:
                break
        if calm and not good:
            wrong.append(f"loop-{rate}.mp4 has an interval of {loop[1]['max']:.2f} ms after {TRIES} tries")
        rows += [row(f"long-{rate}.mp4", *long), row(f"loop-{rate}.mp4", *loop)]
        rows[-1] += "" if good or calm else " (not judged: the machine is too busy)"
    return rows, wrong

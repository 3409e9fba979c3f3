"""What a compositor says of its presentations: `veilctl status` after a while of playing.

It is told and not judged: the machine has one processor, and other programs of its host take that away. That a loop has no
gap is known from the frames' own times (crates/veil-playback/tests/loops.rs).
"""

from waiting import wait_for

# Seconds of frames that a clip is played: four loops of those that loop.
SECONDS = 4


def play(daemon, file, rate):
    """Plays a clip until so many frames have come; its frames, the intervals between them, and its loops."""
    daemon.set(file)
    output = wait_for(
        f"{SECONDS} s of {file}",
        lambda: (now := daemon.output())["frames"]["due"] >= SECONDS * rate and now,
        every=0.5,
    )
    return output["frames"], output["present_interval_ms"], output["loops"]


def row(file, frames, interval, loops):
    """A row in words."""
    return (
        f"{file}: {frames['shown']} of {frames['due']} frames presented, {frames['missed']} missed; "
        f"interval {interval['mean']:.2f} ms, longest {interval['max']:.2f} ms; {loops} loops"
    )


def counted(daemon):
    """Plays small clips that loop and some that do not; a row for each of what was presented."""
    files = [(f"{kind}-{rate}.mp4", rate) for rate in (30, 60) for kind in ("long", "loop")]
    return [row(file, *play(daemon, file, rate)) for file, rate in files]

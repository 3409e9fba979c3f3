"""Waiting for what should come to be, and saying what did not."""

import time

# Longer than anything takes that works, on a machine that has other work too, in seconds.
GENEROUS = 60


class Wrong(Exception):
    """Something is not as it should be; the text says what."""


def wait_for(what, ask, limit=GENEROUS, every=0.05):
    """Asks until the answer is true, and returns it. `ask` may raise `Wrong` to say what it waits for."""
    end, why = time.monotonic() + limit, ""
    while True:
        try:
            answer = ask()
            if answer:
                return answer
            why = ""
        except Wrong as wrong:
            why = f": {wrong}"
        if time.monotonic() > end:
            raise Wrong(f"waited {limit} s in vain for {what}{why}")
        time.sleep(every)

"""Outputs that come, go, sleep, turn and scale: a row for each thing that users of other programs ran into.

outputs.py NAME [NUMBER ...]      on a sway without a display; the numbers are those of the rows, default all
"""

import sys
import time

# Each brings its rows.
import coming  # noqa: F401
import shape  # noqa: F401
from rows import ROWS
from veil import compositor_alive
from waiting import Wrong


def main():
    """Prints the rows."""
    wanted = [int(word) for word in sys.argv[2:]] or list(ROWS)
    failed = False
    for row_number in wanted:
        text, function = ROWS[row_number]
        began, why = time.monotonic(), ""
        try:
            function()
            compositor_alive()
        except Wrong as wrong:
            why, failed = f"FAIL {wrong}", True
        print(f"outputs {row_number:<4} {why or 'ok'} ({text}; {time.monotonic() - began:.0f} s)", flush=True)
    sys.exit(1 if failed else 0)


main()

"""The measuring half of scripts/bench/compare, which see: it checks what is needed, then runs this."""

import argparse
import json
import os
import pathlib
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
# Hz. A headless sway waits a whole period after it has drawn, so at 60 Hz it draws about 54 times a second at this size, and
# a clip of 60 frames a second would be judged by what the compositor leaves out.
REFRESH = 120
FLOOR = 'playbin3 flags=video video-sink="fakesink name=shown sync=true"'
REFERENCE = (
    "playbin3 flags=video+native-video "
    'video-sink="videoconvert n-threads=2 ! videocrop ! waylandsink name=shown"'
)
SETTLE = 1.5  # seconds that a player runs before its CPU time is counted
WINDOW = 8.0  # seconds that are counted
START_LIMIT = 60.0  # seconds that a compositor or a player may take to start on a slow machine


class Failed(Exception):
    """Something that makes the measurement impossible, in words for the user."""


def wait_for(what, condition, limit=START_LIMIT):
    """Waits until `condition` gives something true, and returns that."""
    end = time.monotonic() + limit
    while time.monotonic() < end:
        found = condition()
        if found:
            return found
        time.sleep(0.05)
    raise Failed(f"waited {limit:.0f} s in vain for {what}")


def cpu_seconds(pid):
    """The CPU time of all threads of a process, those that ended included."""
    try:
        # The kernel's name for "the CPU clock of process PID": exact to the nanosecond, where /proc has ticks.
        return time.clock_gettime((~pid << 3) | 2)
    except OSError:
        fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


class Group:
    """A child in a process group of its own; leaving the block ends the whole group."""

    def __init__(self, arguments, log, environment, **more):
        self.name = pathlib.Path(arguments[0]).name
        self.log = log
        with open(log, "wb") as out:
            more.setdefault("stdout", out)
            self.child = subprocess.Popen(
                arguments, stderr=out, env=environment, start_new_session=True, **more
            )

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for how, patience in ((signal.SIGTERM, 5), (signal.SIGKILL, 5)):
            try:
                os.killpg(self.child.pid, how)
                self.child.wait(patience)
            except (ProcessLookupError, subprocess.TimeoutExpired):
                pass
        for pipe in (self.child.stdin, self.child.stdout):
            if pipe:
                pipe.close()

    def tail(self):
        """The end of the child's log."""
        return "\n".join(self.log.read_text(errors="replace").splitlines()[-15:])

    def alive(self):
        """Fails with the end of the child's log if it is gone."""
        if self.child.poll() is not None:
            raise Failed(f"{self.name} ended early (status {self.child.returncode}):\n{self.tail()}")
        return True


class Screen:
    """A headless sway with one output."""

    def __init__(self, folder, size):
        self.folder, self.size = folder, size
        self.environment = {
            **os.environ,
            "XDG_RUNTIME_DIR": str(folder / "run"),
            "XDG_STATE_HOME": str(folder / "state"),
            "XDG_CONFIG_HOME": str(folder / "config"),
            "WLR_BACKENDS": "headless",
            "WLR_RENDERER": "pixman",
            "WLR_LIBINPUT_NO_DEVICES": "1",
            "XDG_SESSION_TYPE": "wayland",
        }
        for inherited in ("WAYLAND_DISPLAY", "WAYLAND_SOCKET", "DISPLAY", "SWAYSOCK"):
            self.environment.pop(inherited, None)
        (folder / "run").mkdir(mode=0o700)
        config = folder / "sway.conf"
        # A lone window then covers the output to its last pixel.
        config.write_text(
            f"output * mode --custom {size}@{REFRESH}Hz\nxwayland disable\n"
            "default_border none\ndefault_floating_border none\nfocus_follows_mouse no\n"
        )
        # "nobody" must get through to the runtime directory where root cannot have a namespace.
        folder.chmod(0o711)
        not_root = str(HERE.parent / "lib" / "not-root")
        self.sway = Group([not_root, "sway", "-c", str(config)], folder / "sway.log", self.environment)

    def __enter__(self):
        def socket():
            self.sway.alive()
            run = self.folder / "run"
            ipc = next(run.glob("sway-ipc.*.sock"), None)
            display = next((s for s in sorted(run.glob("wayland-*")) if s.is_socket()), None)
            return ipc and display and (ipc, display)

        try:
            ipc, display = wait_for("sway's sockets", socket)
            self.environment["SWAYSOCK"] = str(ipc)
            self.environment["WAYLAND_DISPLAY"] = display.name
            wait_for("sway's answer", self.output_rectangle)
        except BaseException:
            self.sway.__exit__()
            raise
        return self

    def __exit__(self, *_):
        self.sway.__exit__()

    def ask(self, *arguments):
        """What swaymsg prints, as JSON; None while sway does not answer."""
        answer = subprocess.run(
            ["swaymsg", "-r", *arguments], env=self.environment, capture_output=True, check=False
        )
        return json.loads(answer.stdout) if answer.returncode == 0 else None

    def output_rectangle(self):
        """The output's place and size, once it has the size that was asked for."""
        for output in self.ask("-t", "get_outputs") or []:
            rectangle = output["rect"]
            if f"{rectangle['width']}x{rectangle['height']}" == self.size:
                return rectangle
        return None

    def windows(self):
        """The rectangles of the windows that are on the output."""
        found, open_nodes = [], [self.ask("-t", "get_tree") or {}]
        while open_nodes:
            node = open_nodes.pop()
            open_nodes += node.get("nodes", []) + node.get("floating_nodes", [])
            if node.get("pid"):
                found.append(node["rect"])
        return found


def window(count, player):
    """CPU share and frames a second of one steady window. `count` gives (frames shown, frames lost, over)."""
    pid, alive = player.child.pid, player.alive
    try:
        wait_for("a first frame", lambda: alive() and count()[0] > 0)
    except Failed as error:
        raise Failed(f"{player.name}: {error}\n{player.tail()}") from None
    time.sleep(SETTLE)
    shown, lost, _ = count()
    start, spent = time.monotonic(), cpu_seconds(pid)
    time.sleep(WINDOW)
    stop, spent_then = time.monotonic(), cpu_seconds(pid)
    shown_then, lost_then, over = count()
    alive()
    if over:
        raise Failed("the clip ended inside the window that was counted")
    seconds = stop - start
    return {
        "cpu": 100.0 * (spent_then - spent) / seconds,
        "fps": (shown_then - shown) / seconds,
        "lost": lost_then - lost,
    }


def play_gstreamer(pipeline, clip, screen, covers):
    """One window of a GStreamer pipeline."""
    player = Group(
        [sys.executable, str(HERE / "player.py"), pipeline, str(clip)],
        screen.folder / "player.log",
        screen.environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    with player:

        def count():
            player.alive()
            try:
                player.child.stdin.write("\n")
                player.child.stdin.flush()
                line = player.child.stdout.readline()
            except BrokenPipeError:
                line = ""
            if not line:
                player.child.wait(5)
                player.alive()
            answer = json.loads(line)
            return answer["rendered"], answer["dropped"], answer["ended"]

        if covers:
            wait_for("a window that covers the output", lambda: count() and screen.windows() == [covers])
        return window(count, player)


def play_veil(veil, clip, screen, mode):
    """One window of veil's daemon."""
    # A fresh state every time: nothing is restored from the round before.
    shutil.rmtree(screen.folder / "state", ignore_errors=True)
    daemon = Group(
        [str(veil), "daemon", "--input", str(clip), "--mode", mode],
        screen.folder / "veil.log",
        screen.environment,
    )
    with daemon:

        def count():
            answer = subprocess.run(
                [str(veil), "status", "--json"], env=screen.environment, capture_output=True, check=False
            )
            if answer.returncode != 0:
                return 0, 0, False
            output = json.loads(answer.stdout)["outputs"][0]
            frames = output.get("frames") or {}
            play_veil.how = {
                "route": output.get("route"),
                "decoder": (output.get("decoder") or {}).get("element"),
            }
            return frames.get("shown", 0), frames.get("missed", 0) + frames.get("dropped", 0), False

        return window(count, daemon)


play_veil.how = {}


def lengthened(clip, folder):
    """The clip, repeated without recoding until a whole window fits into it, for players that play it once."""
    probe = subprocess.run(
        ["ffprobe", "-v", "error", "-show_entries", "format=duration", "-of", "json", str(clip)],
        capture_output=True,
        check=False,
    )
    if probe.returncode != 0:
        raise Failed(f"{clip}: ffprobe cannot read it: {probe.stderr.decode(errors='replace').strip()}")
    duration = float(json.loads(probe.stdout)["format"].get("duration", 0) or 0)
    if duration <= 0:
        raise Failed(f"{clip}: it does not say how long it is")
    needed = SETTLE + WINDOW + 8
    if duration >= needed:
        return clip
    longer = folder / f"long{clip.suffix or '.mkv'}"
    subprocess.run(
        ["ffmpeg", "-nostdin", "-v", "error", "-stream_loop", str(int(needed / duration) + 1), "-i",
         str(clip), "-map", "0:v:0", "-c", "copy", str(longer)],
        check=True,
    )
    return longer


def summary(name, rounds):
    """One player's medians, and its row on the screen."""
    row = {key: statistics.median(r[key] for r in rounds) for key in ("cpu", "fps", "lost")}
    each = " ".join(f"{r['cpu']:.1f}" for r in rounds)
    print(f"{name:<10} {row['cpu']:8.1f} % of a core {row['fps']:8.2f} fps {row['lost']:6.0f} lost   ({each})", flush=True)
    return row


def main():
    """Measures in rounds, prints the rows, and the JSON line."""
    parser = argparse.ArgumentParser()
    parser.add_argument("file", type=pathlib.Path)
    parser.add_argument("--size", required=True)
    parser.add_argument("--rounds", type=int, required=True)
    parser.add_argument("--mode", required=True)
    parser.add_argument("--veil", default="")
    options = parser.parse_args()
    clip = options.file.resolve()

    with tempfile.TemporaryDirectory(prefix="veil-compare-") as name:
        folder = pathlib.Path(name)
        longer = lengthened(clip, folder)
        with Screen(folder, options.size) as screen:
            covers = screen.output_rectangle()
            players = {
                "floor": lambda: play_gstreamer(FLOOR, longer, screen, None),
                "reference": lambda: play_gstreamer(REFERENCE, longer, screen, covers),
            }
            if options.veil:
                players["veil"] = lambda: play_veil(options.veil, clip, screen, options.mode)
            rounds = {player: [] for player in players}
            for number in range(1, options.rounds + 1):
                for player, play in players.items():
                    print(f"round {number} of {options.rounds}: {player}", file=sys.stderr, flush=True)
                    rounds[player].append(play())
            rows = {player: summary(player, found) for player, found in rounds.items()}

    result = {player: round(row["cpu"], 2) for player, row in rows.items()}
    if options.veil:
        above = rows["reference"]["cpu"] - rows["floor"]["cpu"]
        result["fps"] = round(rows["veil"]["fps"], 2)
        ratio = (rows["veil"]["cpu"] - rows["floor"]["cpu"]) / above if above > 0 else None
        result["overhead_ratio"] = None if ratio is None else round(ratio, 4)
        result["reference_fps"] = round(rows["reference"]["fps"], 2)
        result.update(play_veil.how)
    print(json.dumps(result), flush=True)


def stopped(number, _frame):
    """Ends by exception, so that every block above cleans up."""
    sys.exit(128 + number)


for kind in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
    signal.signal(kind, stopped)
try:
    main()
except (Failed, subprocess.CalledProcessError) as error:
    sys.exit(f"compare: {error}")

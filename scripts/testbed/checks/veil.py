"""The daemon and its client, as a test drives them."""

import json
import os
import pathlib
import signal
import subprocess

from waiting import GENEROUS, Wrong, wait_for

BIN = pathlib.Path(os.environ["VEIL_BED_BIN"])
INPUTS = pathlib.Path(os.environ["VEIL_BED_INPUTS"])
OUT = pathlib.Path(os.environ["VEIL_BED_OUT"])


class Daemon:
    """A `veil daemon`, with a log and a state of its own."""

    count = 0

    def __init__(self, *arguments, **variables):
        Daemon.count += 1
        name = f"{os.environ['COMPOSITOR']}-{Daemon.count}"
        self.log = OUT / f"{name}.log"
        # On the machine itself, where writing is quick; copied to the host in the end.
        self.own_log = pathlib.Path(f"/tmp/veil-{name}.log")
        self.environment = {**os.environ, "XDG_STATE_HOME": f"/tmp/state-{name}", **variables}
        with self.own_log.open("wb") as log:
            self.process = subprocess.Popen(
                [BIN / "veil", "daemon", *arguments], env=self.environment, stdout=log, stderr=log
            )

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        self.log.write_bytes(self.own_log.read_bytes())

    def text(self):
        """What it has logged."""
        return self.own_log.read_text(errors="replace")

    def alive(self):
        """Fails if it has ended."""
        if self.process.poll() is not None:
            last = self.text().strip().splitlines()[-1:]
            raise Wrong(f"the daemon ended with {self.process.returncode}: {' '.join(last)}")
        return True

    def ask(self, *arguments):
        """Runs `veilctl`; fails if it does."""
        ran = subprocess.run(
            [BIN / "veilctl", *arguments], capture_output=True, text=True, env=self.environment, check=False
        )
        if ran.returncode:
            self.alive()
            raise Wrong(f"veilctl {' '.join(str(word) for word in arguments)}: {ran.stderr.strip()}")
        return ran.stdout

    def set(self, file, *arguments):
        """Sets one of the inputs; fails if it was not presented."""
        said = self.ask("set", *arguments, INPUTS / file).strip()
        if said:
            raise Wrong(f"veilctl set {file}: {said}")

    def status(self):
        """The whole status; fails while it does not answer."""
        return json.loads(self.ask("status", "--json"))

    def output(self, name=None):
        """The status of an output, or of the first one; fails if it is not there."""
        for output in self.status()["outputs"]:
            if name in (None, output["name"]):
                return output
        raise Wrong(f"the daemon has no output {name or 'at all'}")

    def ready(self):
        """Waits until it answers."""
        wait_for("the daemon's first answer", lambda: self.alive() and self.status())
        return self

    def stop(self, by_signal=None):
        """Ends it, and fails if it does not end well."""
        self.alive()
        if by_signal:
            self.process.send_signal(by_signal)
        else:
            self.ask("stop")
        try:
            status = self.process.wait(GENEROUS)
        except subprocess.TimeoutExpired:
            self.process.send_signal(signal.SIGABRT)
            raise Wrong("the daemon does not end") from None
        if status:
            raise Wrong(f"the daemon ended with {status}: {' '.join(self.text().strip().splitlines()[-1:])}")
        for line in self.text().splitlines():
            if "rotocol error" in line or "panicked" in line or " ERROR " in line:
                raise Wrong(f"the daemon logged: {line.strip()}")


def compositor_alive():
    """Fails if the compositor has ended."""
    if not pathlib.Path(f"/proc/{os.environ['COMPOSITOR_PID']}").exists():
        raise Wrong("the compositor has ended")

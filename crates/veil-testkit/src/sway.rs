//! A headless sway of a test's own.

use std::fmt::Write as _;
use std::os::unix::fs::FileTypeExt;
use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result, anyhow, bail};
use serde_json::Value;

use crate::group::Group;
use crate::process::Process;
use crate::screenshot::Shot;
use crate::session::Session;
use crate::wait::{GENEROUS, wait_for};

/// What a [`Sway`] is started with.
#[derive(Clone, Debug, Default)]
pub struct SwayBuilder {
    modes: Vec<String>,
    config: String,
    environment: Vec<(String, String)>,
    pluggable: bool,
}

impl SwayBuilder {
    /// One more output, of this mode: `1920x1080`, or `1920x1080@144Hz`. They are named HEADLESS-1, HEADLESS-2, …
    /// from left to right. Without any there is one of 1920x1080.
    pub fn output(mut self, mode: &str) -> Self {
        self.modes.push(mode.into());
        self
    }

    /// Its outputs shall be such that [`Output::unplug`] works.
    ///
    /// Before sway 1.8 a headless output stays for ever. There the outputs become windows of a second sway, closing
    /// which unplugs them, and are named WL-1, WL-2, …: take the names from [`Sway::output_names`].
    pub fn pluggable(mut self) -> Self {
        self.pluggable = true;
        self
    }

    /// More lines for sway's config.
    pub fn config(mut self, lines: &str) -> Self {
        self.config.push_str(lines);
        self.config.push('\n');
        self
    }

    /// A variable of sway's environment, for instance `WLR_RENDERER`.
    pub fn env(mut self, name: &str, value: &str) -> Self {
        self.environment.push((name.into(), value.into()));
        self
    }

    /// Starts it, and waits until it answers and has its outputs.
    pub fn start(mut self) -> Result<Sway> {
        if self.modes.is_empty() {
            self.modes.push("1920x1080".into());
        }
        let session = Session::new("")?;
        let outer = if self.pluggable && installed_version()? < (1, 8) {
            Some(host()?)
        } else {
            None
        };
        self.launch(session, outer)
    }

    /// Starts it with these folders.
    fn launch(self, mut session: Session, outer: Option<Box<Sway>>) -> Result<Sway> {
        let prefix = if outer.is_some() { "WL" } else { "HEADLESS" };
        let config = session.folder().join("sway.conf");
        std::fs::write(&config, self.config_text(prefix)?)?;

        let mut command = session.command("sway");
        command
            .arg("-c")
            .arg(&config)
            .env_remove("WAYLAND_DISPLAY")
            .env("WLR_BACKENDS", "headless")
            .env("WLR_HEADLESS_OUTPUTS", self.modes.len().to_string())
            .env("WLR_RENDERER", "pixman")
            .env("WLR_LIBINPUT_NO_DEVICES", "1");
        if let Some(outer) = &outer {
            let socket = outer.session.runtime_dir().join(outer.session.display());
            command
                .env("WLR_BACKENDS", "wayland")
                .env("WLR_WL_OUTPUTS", self.modes.len().to_string())
                .env("WAYLAND_DISPLAY", socket);
        }
        command.envs(self.environment.iter().map(|(name, value)| (name, value)));
        let way = way_from_root(&session)?;
        let mut group = Group::spawn_by(&command, &session.log_path("sway"), &way)?;

        let (display, socket) = wait_for("sway's sockets", GENEROUS, || {
            group.check_alive()?;
            find_sockets(&session)
        })
        .with_context(|| group.log_tail())?;
        session.set_sockets(display, Some(socket));
        let sway = Sway {
            builder: self,
            group,
            session,
            outer,
        };
        wait_for("sway's outputs", GENEROUS, || {
            Ok(sway
                .output_names()
                .ok()
                .filter(|names| names.len() == sway.builder.modes.len()))
        })
        .with_context(|| sway.group.log_tail())?;
        Ok(sway)
    }

    fn config_text(&self, prefix: &str) -> Result<String> {
        // A lone window covers its output; nothing but what the test starts is on the screen.
        let mut text = String::from(
            "xwayland disable\ndefault_border none\ndefault_floating_border none\nfocus_follows_mouse no\n",
        );
        let mut left = 0;
        for (index, mode) in self.modes.iter().enumerate() {
            let width = mode
                .split_once('x')
                .and_then(|(width, _)| width.parse::<u32>().ok());
            let name = format!("{prefix}-{}", index + 1);
            writeln!(
                text,
                "output {name} mode --custom {} position {left} 0",
                with_refresh(mode)
            )?;
            left += width.with_context(|| format!("a mode is WIDTHxHEIGHT[@HERTZ], not {mode}"))?;
        }
        text.push_str(&self.config);
        Ok(text)
    }
}

/// A running sway. It ends when this is dropped.
#[derive(Debug)]
pub struct Sway {
    builder: SwayBuilder,
    group: Group,
    session: Session,
    /// The sway whose windows are this one's outputs, if they are windows. It ends after this one.
    outer: Option<Box<Sway>>,
}

impl Sway {
    /// To say what it shall have.
    pub fn builder() -> SwayBuilder {
        SwayBuilder::default()
    }

    /// With one output, HEADLESS-1, of this mode.
    pub fn start(mode: &str) -> Result<Self> {
        Self::builder().output(mode).start()
    }

    /// Its folders and environment.
    pub fn session(&self) -> &Session {
        &self.session
    }

    /// A command in its session.
    pub fn command(&self, program: &str) -> Command {
        self.session.command(program)
    }

    /// Its own process, to look at.
    pub fn process(&self) -> Process {
        self.group.process()
    }

    /// Everything that it has logged so far.
    pub fn log(&self) -> String {
        self.group.log()
    }

    /// Ends it the way a user's session ends, and waits until it is gone. The session's folders stay.
    pub fn quit(&mut self) -> Result<()> {
        // The answer may get lost, because sway is already going.
        let _ = self.session.command("swaymsg").arg("exit").output();
        self.group.wait_exit(GENEROUS).map(drop)
    }

    /// Kills it, as a crash does, and waits until it is gone. Its sockets stay.
    pub fn kill(&mut self) -> Result<()> {
        self.group.signal(rustix::process::Signal::KILL)?;
        self.group.wait_exit(GENEROUS).map(drop)
    }

    /// Starts it once more after it has ended, with the same folders and outputs, so that its socket has the same name.
    pub fn start_again(self) -> Result<Self> {
        let before = self.session.display().to_owned();
        // One that was killed leaves it.
        if let Some(socket) = self.session.swaysock() {
            let _ = std::fs::remove_file(socket);
        }
        let sway = self.builder.launch(self.session, self.outer)?;
        if sway.session.display() != before {
            bail!("the socket was {before}, and is {} now", sway.session.display());
        }
        Ok(sway)
    }

    /// Asks sway something of the kind `-t` (`get_outputs`, `get_tree`, …).
    pub fn query(&self, kind: &str) -> Result<Value> {
        self.swaymsg(&["-t", kind])
    }

    /// Runs one command of sway's and checks that it worked.
    pub fn run(&self, command: &str) -> Result<()> {
        let answers = self.swaymsg(&["--", command])?;
        let failed = answers
            .as_array()
            .and_then(|list| list.iter().find(|one| one["success"] != true));
        match failed {
            None => Ok(()),
            Some(answer) => bail!("swaymsg {command}: {}", answer["error"]),
        }
    }

    /// `swaymsg -r` with these arguments; its answer.
    pub fn swaymsg(&self, arguments: &[&str]) -> Result<Value> {
        let output = self
            .session
            .command("swaymsg")
            .arg("-r")
            .args(arguments)
            .output()?;
        let text = String::from_utf8_lossy(&output.stdout);
        serde_json::from_str(&text).map_err(|_| {
            let complaint = String::from_utf8_lossy(&output.stderr);
            anyhow!(
                "swaymsg {arguments:?}: {}{}; {}",
                text.trim(),
                complaint.trim(),
                self.group.log_tail()
            )
        })
    }

    /// Its version, as (major, minor): some commands came with 1.8.
    pub fn version(&self) -> Result<(u64, u64)> {
        let version = self.query("get_version")?;
        let number = |name: &str| {
            version[name]
                .as_u64()
                .with_context(|| format!("no {name} in {version}"))
        };
        Ok((number("major")?, number("minor")?))
    }

    /// The names of its active outputs, in sway's order.
    pub fn output_names(&self) -> Result<Vec<String>> {
        let outputs = self.query("get_outputs")?;
        let active = outputs
            .as_array()
            .into_iter()
            .flatten()
            .filter(|output| output["active"] == true);
        Ok(active
            .filter_map(|output| output["name"].as_str().map(Into::into))
            .collect())
    }

    /// Adds an output of this mode, and says its name.
    pub fn create_output(&self, mode: &str) -> Result<String> {
        let before = self.output_names()?;
        self.run("create_output")?;
        let name = wait_for("a new output", GENEROUS, || {
            Ok(self
                .output_names()?
                .into_iter()
                .find(|name| !before.contains(name)))
        })?;
        self.output(&name).mode(mode)?;
        Ok(name)
    }

    /// A handle to change an output by.
    pub fn output<'a>(&'a self, name: &'a str) -> Output<'a> {
        Output { sway: self, name }
    }

    /// A picture of one output, in its own pixels, as a person sees it (a turned output comes out upright).
    pub fn screenshot(&self, output: &str) -> Result<Shot> {
        let mut grim = self.session.command("grim");
        grim.args(["-t", "ppm", "-o", output, "-"]);
        Shot::take(grim)
    }

    /// Takes pictures of an output until one satisfies `condition`, and returns it.
    ///
    /// If none does in time, the last one is kept as `target/screenshots/NAME.png`, and the failure says so.
    pub fn wait_for_picture(
        &self,
        output: &str,
        name: &str,
        limit: Duration,
        mut condition: impl FnMut(&Shot) -> bool,
    ) -> Result<Shot> {
        let mut last = None;
        let found = wait_for(&format!("the picture \"{name}\" on {output}"), limit, || {
            let shot = self.screenshot(output)?;
            Ok(if condition(&shot) {
                Some(shot)
            } else {
                last = Some(shot);
                None
            })
        });
        found.map_err(|error| match last.as_ref().map(|shot| shot.keep(name)) {
            Some(Ok(path)) => error.context(format!("what it showed is in {}", path.display())),
            _ => error,
        })
    }
}

/// One output of a [`Sway`].
#[derive(Clone, Copy, Debug)]
pub struct Output<'a> {
    sway: &'a Sway,
    name: &'a str,
}

impl Output<'_> {
    /// What sway says of it: `rect`, `scale`, `transform`, `current_mode`, …
    pub fn state(&self) -> Result<Value> {
        let outputs = self.sway.query("get_outputs")?;
        let mut all = outputs.as_array().into_iter().flatten();
        let found = all.find(|output| output["name"] == self.name).cloned();
        found.with_context(|| format!("there is no output {}", self.name))
    }

    /// Gives it a mode, `1366x768` or with `@HERTZ`, and waits until it has it.
    pub fn mode(&self, mode: &str) -> Result<()> {
        self.set(&format!("mode --custom {}", with_refresh(mode)))?;
        let size = mode.split('@').next().unwrap_or(mode);
        self.wait(&format!("the mode {mode}"), |state| {
            let current = &state["current_mode"];
            format!("{}x{}", current["width"], current["height"]) == size
        })
    }

    /// Gives it a scale, and waits until it has it.
    pub fn scale(&self, scale: f64) -> Result<()> {
        self.set(&format!("scale {scale}"))?;
        self.wait(&format!("the scale {scale}"), |state| {
            state["scale"]
                .as_f64()
                .is_some_and(|have| (have - scale).abs() < 0.01)
        })
    }

    /// Turns it: `normal`, `90`, `180`, `270`, `flipped`, `flipped-90`, …
    pub fn transform(&self, transform: &str) -> Result<()> {
        self.set(&format!("transform {transform}"))?;
        self.wait(&format!("the transform {transform}"), |state| {
            state["transform"] == transform
        })
    }

    /// Takes it out of the layout; its `wl_output` vanishes. A headless sway can do this since 1.8 (see
    /// [`Output::unplug`] for one that can't).
    pub fn disable(&self) -> Result<()> {
        self.set("disable")?;
        self.wait("the output's end", |state| state["active"] == false)
    }

    /// Brings it back.
    pub fn enable(&self) -> Result<()> {
        self.set("enable")?;
        self.wait("the output's return", |state| state["active"] == true)
    }

    /// Switches its picture off or on, as a screen saver does; its `wl_output` stays. A headless sway can do this
    /// since 1.8; an older one leaves it on.
    pub fn power(&self, on: bool) -> Result<()> {
        // The older of the command's two names, which every sway knows.
        self.set(if on { "dpms on" } else { "dpms off" })
    }

    /// Removes it for good, as pulling its plug would. Needs a sway that was started as
    /// [`pluggable`](SwayBuilder::pluggable).
    pub fn unplug(&self) -> Result<()> {
        match &self.sway.outer {
            Some(outer) => outer.run(&format!("[title=\"^wlroots - {}$\"] kill", self.name))?,
            None => self.set("unplug")?,
        }
        wait_for("the output's end", GENEROUS, || {
            Ok((!self.sway.output_names()?.iter().any(|name| name == self.name)).then_some(()))
        })
    }

    /// Any `output NAME …` command.
    pub fn set(&self, what: &str) -> Result<()> {
        self.sway.run(&format!("output {} {what}", self.name))
    }

    fn wait(&self, what: &str, condition: impl Fn(&Value) -> bool) -> Result<()> {
        wait_for(what, GENEROUS, || Ok(condition(&self.state()?).then_some(())))
    }
}

/// sway's headless outputs have no refresh rate unless they are told one.
fn with_refresh(mode: &str) -> String {
    match mode.split_once('@') {
        None => format!("{mode}@60Hz"),
        Some((_, hertz)) if hertz.ends_with("Hz") => mode.into(),
        Some(_) => format!("{mode}Hz"),
    }
}

/// The version of the sway that is installed.
fn installed_version() -> Result<(u64, u64)> {
    let output = Command::new("sway")
        .arg("--version")
        .output()
        .context("cannot start sway")?;
    let text = String::from_utf8_lossy(&output.stdout);
    // "sway version 1.7", or with a commit, a date and a branch behind it.
    let number = text
        .split(' ')
        .nth(2)
        .with_context(|| format!("sway --version says {text}"))?;
    let mut parts = number.split(|c: char| !c.is_ascii_digit()).map(str::parse);
    match (parts.next(), parts.next()) {
        (Some(Ok(major)), Some(Ok(minor))) => Ok((major, minor)),
        _ => bail!("sway --version says {text}"),
    }
}

/// A sway whose windows can be another one's outputs: they keep the size that they ask for.
fn host() -> Result<Box<Sway>> {
    let config = "for_window [app_id=\"wlroots\"] floating enable\nfloating_maximum_size -1 x -1";
    Sway::builder()
        .output("4096x2304")
        .config(config)
        .start()
        .map(Box::new)
}

/// sway refuses to run as root: the way to somebody else, as arguments before its own.
fn way_from_root(session: &Session) -> Result<Vec<&'static str>> {
    if !rustix::process::geteuid().is_root() {
        return Ok(Vec::new());
    }
    // In a user namespace the files that it makes still belong to root.
    let namespace = vec!["unshare", "--user", "--map-user=65534", "--map-group=65534"];
    let possible = Command::new(namespace[0])
        .args(&namespace[1..])
        .arg("true")
        .output();
    if possible.is_ok_and(|output| output.status.success()) {
        return Ok(namespace);
    }
    // Some containers forbid namespaces: then it is "nobody", to whom the runtime directory is given.
    std::os::unix::fs::chown(session.runtime_dir(), Some(65534), Some(65534))?;
    std::os::unix::fs::chown(session.config_dir(), Some(65534), Some(65534))?;
    Ok(vec![
        "setpriv",
        "--reuid=65534",
        "--regid=65534",
        "--clear-groups",
    ])
}

/// The name of the Wayland socket and the path of sway's own, once both are there.
fn find_sockets(session: &Session) -> Result<Option<(String, PathBuf)>> {
    let (mut display, mut own) = (None, None);
    for entry in std::fs::read_dir(session.runtime_dir())? {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        if !entry.file_type()?.is_socket() {
            continue;
        }
        if name.starts_with("wayland-") {
            display = Some(name);
        } else if name.starts_with("sway-ipc.") {
            own = Some(entry.path());
        }
    }
    Ok(display.zip(own))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn a_mode_gets_a_refresh_rate() {
        assert_eq!(with_refresh("640x480"), "640x480@60Hz");
        assert_eq!(with_refresh("640x480@144"), "640x480@144Hz");
        assert_eq!(with_refresh("640x480@144Hz"), "640x480@144Hz");
    }

    #[test]
    fn outputs_stand_side_by_side() {
        let text = Sway::builder()
            .output("640x480")
            .output("800x600@75")
            .config("bar mode hide")
            .config_text("HEADLESS");
        let text = text.unwrap();
        assert!(text.contains("output HEADLESS-1 mode --custom 640x480@60Hz position 0 0\n"));
        assert!(text.contains("output HEADLESS-2 mode --custom 800x600@75Hz position 640 0\n"));
        assert!(text.ends_with("bar mode hide\n"));
        assert!(
            Sway::builder()
                .output("nonsense")
                .config_text("HEADLESS")
                .is_err()
        );
    }
}

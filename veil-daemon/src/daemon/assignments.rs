//! Which wallpaper belongs where, and that it is still so after a restart.
//!
//! A `set` without outputs is for all of them, also for those that come later; a `set` for named outputs is an
//! exception from it. The file is replaced as a whole, so it is always either the old or the new state.

use crate::media::playlist::Cursor;
use serde::{Deserialize, Serialize};
use std::{
    collections::BTreeMap,
    fs, io,
    io::Write,
    os::unix::fs::{DirBuilderExt, OpenOptionsExt},
    path::{Path, PathBuf},
    time::Duration,
};
use veil_frame::{FitMode, Rgb};
use veil_ipc::{
    Source,
    protocol::{Playback, PlaylistOptions},
};

/// Monitors that are remembered although nothing belongs to them.
const MOST_MONITORS: usize = 64;

/// What is shown, and how.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Spec {
    /// What is shown. Its kind is the field's name; older states say “path” for a file.
    #[serde(flatten)]
    pub(crate) source: Source,
    /// How it is fitted.
    #[serde(default)]
    pub(crate) mode: FitMode,
    /// The colour around and below it.
    #[serde(default)]
    pub(crate) background: Rgb,
    /// How it is gone through, if it is a list.
    #[serde(default)]
    pub(crate) playlist: PlaylistOptions,
    /// How a video plays.
    #[serde(flatten)]
    pub(crate) playback: Playback,
}

/// Which wallpaper belongs where.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Assignments {
    /// For every output without an exception.
    #[serde(default)]
    all: Option<Spec>,
    /// Exceptions by the output's name; `None` is an output that was cleared.
    #[serde(default)]
    outputs: BTreeMap<String, Option<Spec>>,
    /// Where the video of an output was last.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    positions: BTreeMap<String, Position>,
    /// What the monitor of an output said of itself when it was seen last.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    monitors: BTreeMap<String, String>,
    /// Where in their lists the outputs were.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    places: Vec<Place>,
    /// What belonged where before it was cleared.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    cleared: Option<Cleared>,
}

/// A place in a video.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Position {
    /// Milliseconds from its beginning.
    at_ms: u64,
    /// Of which video; the place is nothing to another.
    #[serde(flatten)]
    of: Source,
}

/// A place in a list.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Place {
    /// In which list; only in one that belongs somewhere.
    #[serde(flatten)]
    list: List,
    /// The place.
    cursor: Cursor,
}

/// A list, and how it is gone through: wallpapers that agree in both share a place in it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct List {
    /// What was asked for.
    pub(crate) of: Source,
    /// How it is gone through.
    #[serde(default)]
    pub(crate) playlist: PlaylistOptions,
}

/// What was cleared, so that it can be brought back.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Cleared {
    #[serde(default)]
    all: Option<Spec>,
    #[serde(default)]
    outputs: BTreeMap<String, Option<Spec>>,
}

/// The state file cannot be used.
#[derive(Debug, thiserror::Error)]
pub(crate) enum StateError {
    /// No folder for it.
    #[error("neither XDG_STATE_HOME nor HOME is set, so wallpapers are not remembered")]
    NoHome,
    /// Reading or writing failed.
    #[error("cannot {what} {path}: {source}")]
    Io {
        /// “read” or “write”.
        what: &'static str,
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// It is not what veil wrote.
    #[error("{path} is not a state file of veil's ({source}); it is left alone and nothing is restored")]
    Content {
        /// The file.
        path: PathBuf,
        /// Where it went wrong.
        source: serde_json::Error,
    },
}

impl Assignments {
    /// What belongs on the output of this name.
    pub(crate) fn on(&self, output: &str) -> Option<&Spec> {
        self.outputs.get(output).unwrap_or(&self.all).as_ref()
    }

    /// Notes a wallpaper for these outputs, or for all if there are none.
    pub(crate) fn set(&mut self, outputs: &[String], spec: &Spec) {
        if outputs.is_empty() {
            self.all = Some(spec.clone());
            self.outputs.clear();
            self.positions.clear();
            self.cleared = None;
        }
        for output in outputs {
            self.outputs.insert(output.clone(), Some(spec.clone()));
            self.positions.remove(output);
        }
    }

    /// Notes that these outputs, or all if there are none, show nothing.
    pub(crate) fn clear(&mut self, outputs: &[String]) {
        let mut cleared = self.cleared.take().unwrap_or_default();
        if outputs.is_empty() {
            if self.all.is_some() || self.outputs.values().any(Option::is_some) {
                // What was cleared on one output before is still to be brought back there.
                let before = std::mem::take(&mut cleared.outputs);
                cleared.all = self.all.take();
                cleared.outputs = std::mem::take(&mut self.outputs);
                for (output, spec) in before {
                    let now = cleared.outputs.entry(output).or_default();
                    *now = now.take().or(spec);
                }
            }
            self.outputs.clear();
            self.positions.clear();
        }
        for output in outputs {
            if let Some(spec) = self.on(output) {
                cleared.outputs.insert(output.clone(), Some(spec.clone()));
            }
            self.outputs.insert(output.clone(), None);
            self.positions.remove(output);
        }
        self.cleared = (cleared != Cleared::default()).then_some(cleared);
    }

    /// Brings back what was cleared on these outputs; `named` is none for all, of which `present` are there.
    pub(crate) fn bring_back(&mut self, named: &[String], present: &[String]) {
        let Some(cleared) = &mut self.cleared else {
            return;
        };
        if named.is_empty() && self.all.is_none() {
            self.all = cleared.all.take();
        }
        let outputs: Vec<String> = match named {
            [] => present.iter().chain(cleared.outputs.keys()).cloned().collect(),
            named => named.to_vec(),
        };
        for output in outputs {
            let own = cleared.outputs.remove(&output).flatten();
            let is_empty = self.outputs.get(&output).is_none_or(Option::is_none);
            match own {
                Some(spec) if is_empty => {
                    self.outputs.insert(output, Some(spec));
                }
                // Nothing of its own was cleared: the rule is for it again.
                None if named.is_empty() && is_empty => {
                    self.outputs.remove(&output);
                }
                None if is_empty && self.all.is_none() => {
                    if let Some(spec) = &cleared.all {
                        self.outputs.insert(output, Some(spec.clone()));
                    }
                }
                _ => {}
            }
        }
        if *cleared == Cleared::default() {
            self.cleared = None;
        }
    }

    /// Notes where the video of an output is.
    pub(crate) fn note_position(&mut self, output: &str, of: &Source, position: Duration) {
        let at_ms = u64::try_from(position.as_millis()).unwrap_or(u64::MAX);
        let of = of.clone();
        self.positions.insert(output.to_owned(), Position { at_ms, of });
    }

    /// The video of this output begins at its beginning again.
    pub(crate) fn forget_position(&mut self, output: &str) {
        self.positions.remove(output);
    }

    /// Where this video was on an output; `None` is its beginning.
    pub(crate) fn position(&self, output: &str, of: &Source) -> Option<Duration> {
        let position = self.positions.get(output)?;
        (position.of == *of).then(|| Duration::from_millis(position.at_ms))
    }

    /// Notes where in a list its outputs are; what belongs nowhere any more is forgotten.
    pub(crate) fn note_place(&mut self, spec: &Spec, cursor: &Cursor) {
        let mut places = std::mem::take(&mut self.places);
        places.retain(|place| !place.list.is_of(spec) && self.belongs(&place.list));
        let list = List::of(spec);
        if self.belongs(&list) {
            let cursor = cursor.clone();
            places.push(Place { list, cursor });
        }
        self.places = places;
    }

    /// Where in its list this is.
    pub(crate) fn place(&self, spec: &Spec) -> Option<&Cursor> {
        let mut places = self.places.iter();
        places
            .find(|place| place.list.is_of(spec))
            .map(|place| &place.cursor)
    }

    fn belongs(&self, list: &List) -> bool {
        self.specs().any(|spec| list.is_of(spec))
    }

    /// All that belongs anywhere.
    fn specs(&self) -> impl Iterator<Item = &Spec> {
        self.all.iter().chain(self.outputs.values().flatten())
    }

    /// An output is there, and its monitor says this of itself. What was kept for that monitor on a connector where it is not
    /// any more, by `elsewhere`, is for this output now; what was kept for this one goes there.
    pub(crate) fn meet(&mut self, output: &str, monitor: &str, elsewhere: impl Fn(&str) -> bool) {
        if monitor.is_empty() {
            return;
        }
        let known = self.monitors.get(output);
        if known.is_none_or(|known| known != monitor) {
            let mut others = self.monitors.iter();
            let former = others.find(|(name, known)| *known == monitor && *name != output && elsewhere(name));
            if let Some(former) = former.map(|(name, _)| name.clone()) {
                swap(&mut self.outputs, output, &former);
                swap(&mut self.positions, output, &former);
                swap(&mut self.monitors, output, &former);
            }
        }
        self.monitors.insert(output.to_owned(), monitor.to_owned());
        if self.monitors.len() > MOST_MONITORS {
            let (outputs, positions) = (&self.outputs, &self.positions);
            self.monitors.retain(|name, _| {
                outputs.contains_key(name) || positions.contains_key(name) || name == output
            });
        }
    }

    /// Reads what was saved.
    pub(crate) fn parse(bytes: &[u8]) -> Result<Self, serde_json::Error> {
        // An object and nothing else: a list would be read as the fields in their order.
        serde_json::from_slice::<serde_json::Map<String, serde_json::Value>>(bytes)
            .and_then(|fields| serde_json::from_value(fields.into()))
    }

    /// Whether this belongs anywhere.
    pub(crate) fn names(&self, source: &Source) -> bool {
        self.specs().any(|spec| spec.source == *source)
    }
}

impl List {
    /// What this wallpaper is, should it be a list.
    pub(crate) fn of(spec: &Spec) -> Self {
        Self {
            of: spec.source.clone(),
            playlist: spec.playlist,
        }
    }

    /// Whether this wallpaper is of it.
    pub(crate) fn is_of(&self, spec: &Spec) -> bool {
        self.of == spec.source && self.playlist == spec.playlist
    }
}

fn swap<V>(map: &mut BTreeMap<String, V>, a: &str, b: &str) {
    let (of_a, of_b) = (map.remove(a), map.remove(b));
    map.extend(of_b.map(|value| (a.to_owned(), value)));
    map.extend(of_a.map(|value| (b.to_owned(), value)));
}

/// The file that remembers.
#[derive(Debug)]
pub(crate) struct StateFile {
    path: PathBuf,
}

impl StateFile {
    /// In `$XDG_STATE_HOME/veil`, or `~/.local/state/veil`.
    pub(crate) fn locate() -> Result<Self, StateError> {
        let folder = crate::folders::state().ok_or(StateError::NoHome)?;
        Ok(Self {
            path: folder.join("wallpapers.json"),
        })
    }

    /// What was saved last; nothing if nothing was.
    pub(crate) fn load(&self) -> Result<Assignments, StateError> {
        let bytes = match fs::read(&self.path) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Assignments::default()),
            Err(source) => {
                return Err(StateError::Io {
                    what: "read",
                    path: self.path.clone(),
                    source,
                });
            }
        };
        Assignments::parse(&bytes).map_err(|source| StateError::Content {
            path: self.path.clone(),
            source,
        })
    }

    /// Replaces what was saved.
    pub(crate) fn save(&self, assignments: &Assignments) -> Result<(), StateError> {
        let write = || -> io::Result<()> {
            let folder = self.path.parent().unwrap_or(Path::new("/"));
            fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
            let new = self.path.with_extension("json.new");
            let mut file = fs::OpenOptions::new()
                .write(true)
                .create(true)
                .truncate(true)
                .mode(0o600)
                .open(&new)?;
            serde_json::to_writer_pretty(&mut file, assignments)?;
            file.write_all(b"\n")?;
            // No sync to the disk: after a power failure the old or an empty file is as good, and the loop must not wait.
            fs::rename(&new, &self.path)
        };
        write().map_err(|source| StateError::Io {
            what: "write",
            path: self.path.clone(),
            source,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn spec(path: &str) -> Spec {
        Spec {
            source: Source::from(path),
            mode: FitMode::Fit,
            background: Rgb::BLACK,
            playlist: PlaylistOptions::default(),
            playback: Playback::default(),
        }
    }

    #[test]
    fn exceptions_and_the_rule() {
        let mut a = Assignments::default();
        a.set(&[], &spec("/all.mp4"));
        a.set(&["DP-1".into()], &spec("/one.mp4"));
        a.clear(&["DP-2".into()]);
        assert_eq!(a.on("DP-1"), Some(&spec("/one.mp4")));
        assert_eq!(a.on("DP-2"), None);
        assert_eq!(a.on("DP-3"), Some(&spec("/all.mp4")));
        a.set(&[], &spec("/new.mp4"));
        assert_eq!(a.on("DP-2"), Some(&spec("/new.mp4")));
        a.clear(&[]);
        assert_eq!((a.on("DP-1"), a.on("DP-2")), (None, None));
    }

    #[test]
    fn what_was_cleared_comes_back() {
        let present = ["DP-1".to_owned(), "DP-2".to_owned()];
        let mut a = Assignments::default();
        a.set(&[], &spec("/all.mp4"));
        a.set(&["DP-1".into()], &spec("/one.mp4"));
        let before = a.clone();
        a.clear(&[]);
        a.clear(&[]);
        assert_eq!(a.on("DP-1"), None);
        a.bring_back(&[], &present);
        assert_eq!(a, before);
        // One alone, by the rule and by its own.
        a.clear(&["DP-2".into()]);
        a.bring_back(&["DP-2".into()], &present);
        assert_eq!(a.on("DP-2"), Some(&spec("/all.mp4")));
        a.clear(&["DP-1".into()]);
        a.clear(&[]);
        a.bring_back(&["DP-1".into()], &present);
        assert_eq!((a.on("DP-1"), a.on("DP-2")), (Some(&spec("/one.mp4")), None));
        a.bring_back(&[], &present);
        assert_eq!(a.on("DP-2"), Some(&spec("/all.mp4")));
        // What was set since stays.
        a.clear(&["DP-1".into()]);
        a.set(&["DP-1".into()], &spec("/new.mp4"));
        a.bring_back(&[], &present);
        assert_eq!(a.on("DP-1"), Some(&spec("/new.mp4")));
    }

    #[test]
    fn a_position_is_that_of_one_wallpaper() {
        let mut a = Assignments::default();
        let (one, other) = ("DP-1".to_owned(), "DP-2".to_owned());
        a.set(&[], &spec("/a.mp4"));
        for output in [&one, &other] {
            a.note_position(output, &Source::from("/a.mp4"), Duration::from_millis(5_400_250));
        }
        a.set(std::slice::from_ref(&one), &spec("/b.mp4"));
        assert_eq!(a.position(&one, &Source::from("/a.mp4")), None);
        assert_eq!(
            a.position(&other, &Source::from("/b.mp4")),
            None,
            "of another video"
        );
        let place = Duration::from_millis(5_400_250);
        assert_eq!(a.position(&other, &Source::from("/a.mp4")), Some(place));
        let read = Assignments::parse(&serde_json::to_vec(&a).unwrap()).unwrap();
        assert_eq!(read, a);
        a.clear(std::slice::from_ref(&other));
        assert_eq!(a.position(&other, &Source::from("/a.mp4")), None);
    }

    #[test]
    fn a_place_in_a_list_is_kept_as_long_as_the_list_belongs_somewhere() {
        let mut a = Assignments::default();
        let (list, other) = (spec("/folder"), spec("/other"));
        a.set(&[], &list);
        let entries = [Source::from("/folder/1.png"), Source::from("/folder/2.png")];
        let at = |seed| Cursor::new(seed).walk(&entries, 1, list.playlist).last().unwrap();
        a.note_place(&list, &at(1));
        a.note_place(&list, &at(2));
        let mut a = Assignments::parse(&serde_json::to_vec(&a).unwrap()).unwrap();
        assert_eq!(a.place(&list), Some(&at(2)));
        assert_eq!(a.places.len(), 1);
        let mut shuffled = list.clone();
        shuffled.playlist.shuffle = true;
        assert_eq!(a.place(&shuffled), None);
        a.set(&[], &other);
        a.note_place(&other, &at(3));
        assert_eq!((a.place(&list), a.place(&other)), (None, Some(&at(3))));
    }

    #[test]
    fn how_a_video_plays_is_kept() {
        let mut a = Assignments::default();
        let mut fast = spec("/a.mp4");
        fast.playback.speed = "2".parse().ok();
        fast.playback.max_fps = "10".parse().ok();
        a.set(&[], &fast);
        a.set(&["DP-1".into()], &fast);
        let read = Assignments::parse(&serde_json::to_vec(&a).unwrap()).unwrap();
        assert_eq!(read, a);
    }

    #[test]
    fn a_monitor_keeps_its_wallpaper_on_another_connector() {
        let nowhere = |_: &str| true;
        let mut a = Assignments::default();
        a.meet("DP-1", "Dell 1", nowhere);
        a.meet("DP-2", "Dell 2", nowhere);
        a.set(&["DP-1".into()], &spec("/one.mp4"));
        a.set(&["DP-2".into()], &spec("/two.mp4"));
        a.note_position("DP-1", &Source::from("/one.mp4"), Duration::from_secs(3));
        let mut a = Assignments::parse(&serde_json::to_vec(&a).unwrap()).unwrap();
        let before = a.clone();
        // Exchanged.
        a.meet("DP-1", "Dell 2", nowhere);
        a.meet("DP-2", "Dell 1", nowhere);
        assert_eq!(a.on("DP-1"), Some(&spec("/two.mp4")));
        assert_eq!(a.on("DP-2"), Some(&spec("/one.mp4")));
        let place = a.position("DP-2", &Source::from("/one.mp4"));
        assert_eq!(place, Some(Duration::from_secs(3)));
        // And back.
        a.meet("DP-2", "Dell 2", nowhere);
        a.meet("DP-1", "Dell 1", nowhere);
        assert_eq!(a, before);
        // One of two that say the same of themselves stays where it is.
        a.meet("DP-3", "Dell 1", |name| name != "DP-1");
        assert_eq!((a.on("DP-3"), a.on("DP-1")), (None, Some(&spec("/one.mp4"))));
        // A monitor that says nothing is any.
        a.meet("DP-1", "", nowhere);
        assert_eq!(a.on("DP-1"), Some(&spec("/one.mp4")));
        for number in 0..1000 {
            a.meet(&format!("X-{number}"), &format!("Any {number}"), nowhere);
        }
        assert!(a.monitors.len() <= MOST_MONITORS + 2, "{}", a.monitors.len());
    }

    #[test]
    fn saved_is_what_is_loaded() {
        use std::os::unix::ffi::OsStringExt;
        let folder = tempfile::tempdir().unwrap();
        let file = StateFile {
            path: folder.path().join("deep/wallpapers.json"),
        };
        assert_eq!(file.load().unwrap(), Assignments::default());
        let mut a = Assignments::default();
        let odd = std::ffi::OsString::from_vec(b"/a \"b\" #1 \xff.mp4".to_vec());
        a.set(
            &[],
            &Spec {
                source: Source::from(PathBuf::from(odd)),
                ..spec("/")
            },
        );
        a.clear(&["DP-2".into()]);
        file.save(&a).unwrap();
        assert_eq!(file.load().unwrap(), a);
        // As it was saved before there were other sources than files.
        fs::write(
            &file.path,
            br#"{"all":{"path":"/a.mp4","mode":"fit"},"outputs":{"A":null}}"#,
        )
        .unwrap();
        let older = file.load().unwrap();
        assert_eq!((older.on("B"), older.on("A")), (Some(&spec("/a.mp4")), None));
        fs::write(&file.path, b"{").unwrap();
        assert!(file.load().is_err());
    }

    // The same as fuzz/fuzz_targets/state.rs.
    proptest! {
        #[test]
        fn no_bytes_panic(bytes in any::<Vec<u8>>()) {
            let _ = Assignments::parse(&bytes);
        }

        #[test]
        fn what_is_understood_is_saved_as_it_was(
            kind in "file|path|url|color|mode|x",
            value in r##"null|[0-9]{1,4}|"(/|#)?[a-f0-9\\u]{0,8}"|\[[0-9]{1,3}\]"##,
            outputs in r#"null|\[\]|\{\}|\{"DP-1":null\}|\{"DP-1":\{"file":"/a","mode":"tile"\}\}"#,
        ) {
            let text = format!(r#"{{"all":{{"{kind}":{value}}},"outputs":{outputs}}}"#);
            if let Ok(understood) = Assignments::parse(text.as_bytes()) {
                let saved = serde_json::to_vec(&understood).expect("JSON");
                prop_assert_eq!(Assignments::parse(&saved).expect("what was saved"), understood);
            }
        }
    }
}

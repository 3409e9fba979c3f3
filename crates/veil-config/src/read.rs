//! From TOML to what it says. Each table is read key by key; what is left over is a key that nobody knows.

mod holds;

use crate::{
    keys::nearest,
    model::{Config, Defaults, OutputRule},
    problem::{Found, Problems},
    selector::{OutputSelector, Selectors},
};
use std::{
    ops::Range,
    path::{Path, PathBuf},
    str::FromStr,
};
use toml::{
    Spanned,
    de::{DeTable, DeValue},
};
use veil_ipc::{Source, WirePath, protocol::Interval};

type Value<'i> = Spanned<DeValue<'i>>;

/// What paths are read by.
#[derive(Clone, Copy)]
struct Places<'a> {
    folder: &'a Path,
    home: Option<&'a Path>,
}

pub(crate) fn config(text: &str, folder: &Path, home: Option<&Path>) -> Result<Config, Problems> {
    let mut found = Found::new(text);
    let (root, errors) = DeTable::parse_recoverable(text);
    for error in errors {
        found.add(error.span().unwrap_or(0..0), error.message());
    }
    let places = Places { folder, home };
    let mut config = Config::default();
    let mut table = Table::new(root.get_ref());
    table.read("outputs", &mut found, |value, found| {
        config.outputs = selectors(value, found);
    });
    table.read("defaults", &mut found, |value, found| {
        if let Some(mut table) = Table::of(value, found) {
            config.defaults = look(&mut table, found);
            table.end("[defaults]", found);
        }
    });
    table.read("output", &mut found, |value, found| {
        for value in tables(value, found) {
            config.rules.extend(rule(value, places, found));
        }
    });
    table.read("hooks", &mut found, |value, found| {
        if let Some(mut table) = Table::of(value, found) {
            table.read("on_change", found, |value, found| {
                config.on_change = command(value, places, found);
            });
            table.end("[hooks]", found);
        }
    });
    table.read("holds", &mut found, |value, found| {
        config.holds = holds::holds(value, found);
    });
    table.end("the file", &mut found);
    found.into_result().map(|()| config)
}

fn rule(value: &Value<'_>, places: Places<'_>, found: &mut Found<'_>) -> Option<OutputRule> {
    let mut table = Table::of(value, found)?;
    let mut outputs = None;
    table.read("match", found, |value, found| {
        outputs = Some(selectors(value, found))
    });
    if outputs.is_none() {
        found.add(
            value.span(),
            "[[output]] needs `match`: an output's name, as match = \"DP-1\", or a list",
        );
    }
    let look = look(&mut table, found);
    let mut sources = Vec::new();
    table.read("file", found, |value, found| {
        let file = text(value, found).and_then(|file| path(file, value.span(), places, found));
        sources.extend(file.map(|file| Source::File(WirePath(file))));
    });
    table.read("files", found, |value, found| {
        let DeValue::Array(all) = value.get_ref() else {
            return found.add(value.span(), "`files` is a list, as [\"a.mp4\", \"b.png\"]");
        };
        if all.is_empty() {
            found.add(value.span(), "the list of files is empty");
        }
        let each = all.iter().filter_map(|file| {
            let name = text(file, found)?;
            path(name, file.span(), places, found).map(WirePath)
        });
        sources.push(Source::Files(each.collect()));
    });
    table.read("glob", found, |value, found| {
        let pattern = text(value, found).and_then(|pattern| path(pattern, value.span(), places, found));
        sources.extend(pattern.map(|pattern| Source::Glob(WirePath(pattern))));
    });
    table.read("url", found, |value, found| {
        sources.extend(text(value, found).map(|url| Source::Url(url.to_owned())));
    });
    table.read("color", found, |value, found| {
        sources.extend(parsed(value, found).map(Source::Color));
    });
    table.end("[[output]]", found);
    if sources.len() > 1 {
        found.add(
            value.span(),
            "an output shows one thing: a `file`, `files`, a `glob`, a `url` or a `color`",
        );
    }
    Some(OutputRule {
        outputs: outputs?,
        source: sources.pop(),
        look,
    })
}

fn look(table: &mut Table<'_, '_>, found: &mut Found<'_>) -> Defaults {
    let mut look = Defaults::default();
    table.read("mode", found, |value, found| look.mode = parsed(value, found));
    table.read("background", found, |value, found| {
        look.background = parsed(value, found)
    });
    table.read("shuffle", found, |value, found| {
        look.shuffle = boolean(value, found)
    });
    table.read("recursive", found, |value, found| {
        look.recursive = boolean(value, found)
    });
    table.read("once", found, |value, found| look.once = boolean(value, found));
    table.read("interval", found, |value, found| {
        look.interval_s = parsed(value, found).map(|Interval(seconds)| seconds);
    });
    let playback = &mut look.playback;
    table.read("speed", found, |value, found| {
        playback.speed = number(value, found)
    });
    table.read("max_fps", found, |value, found| {
        playback.max_fps = number(value, found)
    });
    table.read("loop", found, |value, found| {
        playback.loops = parsed(value, found)
    });
    look
}

/// A number, read as it is written.
fn number<T: FromStr<Err: std::fmt::Display>>(value: &Value<'_>, found: &mut Found<'_>) -> Option<T> {
    let written = match value.get_ref() {
        DeValue::Integer(number) if number.radix() == 10 => number.as_str(),
        DeValue::Float(number) => number.as_str(),
        _ => {
            found.add(value.span(), "expected a number");
            return None;
        }
    };
    understood(written, value, found)
}

fn selectors(value: &Value<'_>, found: &mut Found<'_>) -> Selectors {
    let each = |value: &Value<'_>, found: &mut Found<'_>| parsed::<OutputSelector>(value, found);
    Selectors(match value.get_ref() {
        DeValue::Array(all) => all.iter().filter_map(|value| each(value, found)).collect(),
        _ => each(value, found).into_iter().collect(),
    })
}

/// A program and its arguments; the program may begin with `~/`.
fn command(value: &Value<'_>, places: Places<'_>, found: &mut Found<'_>) -> Option<Vec<String>> {
    let DeValue::Array(all) = value.get_ref() else {
        found.add(
            value.span(),
            "a program and its arguments are a list, as [\"notify-send\", \"new wallpaper\"]; no shell reads them",
        );
        return None;
    };
    let mut words: Vec<String> = all
        .iter()
        .filter_map(|value| text(value, found).map(str::to_owned))
        .collect();
    let Some(program) = words.first_mut() else {
        found.add(value.span(), "the program is missing");
        return None;
    };
    if program.starts_with("~/") {
        let absolute = path(program, value.span(), places, found)?;
        *program = absolute.to_string_lossy().into_owned();
    }
    Some(words)
}

/// A path: `~/` is the home, and what is relative begins at the configuration's folder.
fn path(text: &str, at: Range<usize>, places: Places<'_>, found: &mut Found<'_>) -> Option<PathBuf> {
    if text.is_empty() || text.contains('\0') {
        found.add(at, "this is no file's name");
        return None;
    }
    match (text.strip_prefix("~/"), places.home) {
        (None, _) => Some(places.folder.join(text)),
        (Some(rest), Some(home)) => Some(home.join(rest)),
        (Some(_), None) => {
            found.add(at, "HOME is not set, so ~/ leads nowhere");
            None
        }
    }
}

fn text<'v>(value: &'v Value<'_>, found: &mut Found<'_>) -> Option<&'v str> {
    match value.get_ref() {
        DeValue::String(text) => Some(text),
        _ => {
            found.add(value.span(), "expected a text in quotes");
            None
        }
    }
}

fn boolean(value: &Value<'_>, found: &mut Found<'_>) -> Option<bool> {
    match value.get_ref() {
        DeValue::Boolean(said) => Some(*said),
        _ => {
            found.add(value.span(), "expected true or false");
            None
        }
    }
}

fn parsed<T: FromStr<Err: std::fmt::Display>>(value: &Value<'_>, found: &mut Found<'_>) -> Option<T> {
    understood(text(value, found)?, value, found)
}

/// What is written in a value, as what it is to be.
fn understood<T: FromStr<Err: std::fmt::Display>>(
    written: &str,
    value: &Value<'_>,
    found: &mut Found<'_>,
) -> Option<T> {
    match written.parse() {
        Ok(understood) => Some(understood),
        Err(error) => {
            found.add(value.span(), error.to_string());
            None
        }
    }
}

fn tables<'v, 'i>(value: &'v Value<'i>, found: &mut Found<'_>) -> Vec<&'v Value<'i>> {
    match value.get_ref() {
        DeValue::Array(all) => all.iter().collect(),
        _ => {
            found.add(
                value.span(),
                "write [[output]], with two brackets: there may be many",
            );
            Vec::new()
        }
    }
}

/// A table, and which of its keys were asked for.
struct Table<'v, 'i> {
    table: &'v DeTable<'i>,
    known: Vec<&'static str>,
}

impl<'v, 'i> Table<'v, 'i> {
    fn new(table: &'v DeTable<'i>) -> Self {
        Self {
            table,
            known: Vec::new(),
        }
    }

    fn of(value: &'v Value<'i>, found: &mut Found<'_>) -> Option<Self> {
        match value.get_ref() {
            DeValue::Table(table) => Some(Self::new(table)),
            _ => {
                found.add(value.span(), "expected a table");
                None
            }
        }
    }

    /// Reads the value of a key, if it is there.
    fn read(
        &mut self,
        key: &'static str,
        found: &mut Found<'_>,
        read: impl FnOnce(&'v Value<'i>, &mut Found<'_>),
    ) {
        self.known.push(key);
        let value = self.table.iter().find(|(name, _)| name.get_ref().as_ref() == key);
        if let Some((_, value)) = value {
            read(value, found);
        }
    }

    /// What was not asked for is not known.
    fn end(self, place: &str, found: &mut Found<'_>) {
        for (name, _) in self.table {
            let key = name.get_ref().as_ref();
            if self.known.contains(&key) {
                continue;
            }
            let meant = nearest(key, &self.known).map_or_else(
                || format!("known are {}", self.known.join(", ")),
                |meant| format!("did you mean `{meant}`?"),
            );
            let key: String = key.chars().take(40).collect();
            found.add(name.span(), format!("{place} has no key `{key}`: {meant}"));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::selector::OutputName;
    use proptest::prelude::*;
    use veil_frame::FitMode;

    fn read(text: &str) -> Result<Config, Problems> {
        config(text, Path::new("/etc/veil"), Some(Path::new("/home/me")))
    }

    #[test]
    fn everything_that_may_stand_there() {
        let text = r##"
            outputs = ["*", "!HDMI-A-1"]
            [defaults]
            mode = "fit"
            background = "#102030"
            [[output]]
            match = ["DP-1", "re:U27"]
            file = "~/sea.mp4"
            mode = "stretch"
            [[output]]
            match = "*"
            color = "#204060"
            [hooks]
            on_change = ["~/bin/tell", "a b"]
        "##;
        let config = read(text).expect("a configuration");
        let dell = OutputName {
            name: "DP-1",
            description: "",
        };
        let other = OutputName {
            name: "eDP-1",
            ..dell
        };
        assert_eq!(config.source(dell), Some(&Source::from("/home/me/sea.mp4")));
        assert!(matches!(config.source(other), Some(Source::Color(_))));
        assert_eq!(config.look(dell).mode, Some(FitMode::Stretch));
        assert_eq!(config.look(other).mode, Some(FitMode::Fit));
        assert_eq!(config.look(dell).background, config.defaults.background);
        assert_eq!(
            config.on_change,
            Some(vec!["/home/me/bin/tell".to_owned(), "a b".to_owned()])
        );
        let hdmi = OutputName {
            name: "HDMI-A-1",
            ..dell
        };
        assert!(config.outputs.select(dell) && !config.outputs.select(hdmi));
        assert_eq!(read("").expect("empty"), Config::default());
    }

    #[test]
    fn the_example_that_is_handed_out_is_right() {
        let example = include_str!("../../../contrib/config.toml");
        assert_eq!(read(example).expect("the example"), Config::default());
        // Its lines are comments; what they say counts too.
        let lines = example.lines().filter_map(|line| line.strip_prefix("#: "));
        let said: Vec<&str> = lines.collect();
        let config = read(&said.join("\n")).expect("the example's lines");
        assert!(config.rules.len() >= 3 && config.on_change.is_some());
    }

    #[test]
    fn all_mistakes_are_named_with_their_places() {
        let text = "mode = 1\n[defaults]\n  mod = \"fit\"\nbackground = \"blue\"\n[[output]]\nfile = \"a\"\ncolor = \"#000000\"\n\
                    [[output]]\nmatch = \"re:(\"\n[hooks]\non_change = \"rm -rf\"\n";
        let Problems(problems) = read(text).expect_err("taken");
        let told: Vec<String> = problems.iter().map(ToString::to_string).collect();
        let expected = [
            "1:1: the file has no key `mode`",
            "3:3: [defaults] has no key `mod`: did you mean `mode`?",
            "4:14: ",
            "5:1: [[output]] needs `match`",
            "5:1: an output shows one thing",
            "9:9: \"(\" is no regular expression",
            "11:13: a program and its arguments are a list",
        ];
        assert_eq!(told.len(), expected.len(), "{told:#?}");
        for (told, expected) in told.iter().zip(expected) {
            assert!(told.starts_with(expected), "{told} is not {expected}");
        }
        assert!(told[2].contains("#RRGGBB"), "{}", told[2]);
    }

    #[test]
    fn how_videos_play() {
        let text = "[defaults]\nspeed = 2\nmax_fps = 30\n[[output]]\nmatch = \"DP-1\"\nspeed = 0.5\nloop = \"none\"\n";
        let config = read(text).expect("a configuration");
        let look = config.look(OutputName {
            name: "DP-1",
            description: "",
        });
        assert_eq!(look.playback.speed, "0.5".parse().ok());
        assert_eq!(look.playback.max_fps, "30".parse().ok());
        assert_eq!(look.playback.loops, "none".parse().ok());
        assert_eq!(config.defaults.playback.speed, "2".parse().ok());
        for (line, words) in [
            ("speed = 5", "from 0.25 to 4"),
            ("speed = \"1\"", "a number"),
            ("max_fps = 0", "from 1 to 1000"),
            ("max_fps = 29.97", "whole number"),
            ("loop = \"crossfade\"", "seamless, none"),
        ] {
            let Problems(problems) = read(&format!("[defaults]\n{line}\n")).expect_err("taken");
            assert!(problems[0].to_string().contains(words), "{problems:?}");
        }
    }

    #[test]
    fn what_is_no_toml_is_named_with_its_places() {
        let Problems(problems) = read("a = \n[defaults]\nmode = \"fit\nx = 3\n").expect_err("taken");
        assert_eq!(problems[0].line, 1, "{problems:?}");
        assert!(problems.iter().any(|problem| problem.line == 3), "{problems:?}");
    }

    #[test]
    fn paths_begin_where_they_should() {
        for (text, path) in [
            ("a.png", "/etc/veil/a.png"),
            ("/a.png", "/a.png"),
            ("~/a", "/home/me/a"),
        ] {
            let config = read(&format!("[[output]]\nmatch='*'\nfile='{text}'")).expect("a configuration");
            assert_eq!(config.rules[0].source, Some(Source::from(path)));
        }
        let text = "[[output]]\nmatch='*'\nfile='~/a'";
        assert!(config(text, Path::new("/"), None).is_err());
    }

    proptest! {
        #[test]
        fn no_text_panics(text in ".{0,200}") {
            let _ = read(&text);
        }

        #[test]
        fn no_values_panic(
            key in "outputs|defaults|output|hooks|mode|match|file",
            value in r#"-?[0-9]{1,30}|"[a-z/#*!:(]{0,9}"|\[[0-9"a]{0,9}\]|\{ ?[a-z]{0,5} ?=? ?[0-9]? ?\}|1e99|2020-01-01|'"#,
        ) {
            let _ = read(&format!("{key} = {value}"));
            let _ = read(&format!("[[output]]\n{key} = {value}"));
            let _ = read(&format!("[{key}]\n{key} = {value}"));
        }
    }
}

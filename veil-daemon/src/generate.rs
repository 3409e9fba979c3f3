//! Shell completions and manual pages, made from the very command lines that the programs read.
//!
//! They are written in the layout of a prefix's `share` folder, so that `scripts/install` and packagers only name it.

use crate::args::Cli;
use clap::{Command, CommandFactory};
use clap_complete::{Shell, generate_to};
use std::{
    fs, io,
    path::{Path, PathBuf},
};

/// Where each shell looks, below `share`.
const SHELLS: [(Shell, &str); 3] = [
    (Shell::Bash, "bash-completion/completions"),
    (Shell::Zsh, "zsh/site-functions"),
    (Shell::Fish, "fish/vendor_completions.d"),
];

/// A file cannot be written.
#[derive(Debug, thiserror::Error)]
#[error("cannot write to {}: {source}", folder.display())]
pub(crate) struct GenerateError {
    folder: PathBuf,
    source: io::Error,
}

/// Writes everything below a `share` folder.
pub(crate) fn generate(share: &Path) -> Result<(), GenerateError> {
    for (name, command) in programs() {
        for (shell, below) in SHELLS {
            into(share, below, |folder| {
                let file = generate_to(shell, &mut visible(name, &command), name, folder)?;
                // bash-completion loads a file of the program's own name.
                match shell {
                    Shell::Bash => fs::rename(file, folder.join(name)),
                    _ => Ok(()),
                }
            })?;
        }
        into(share, "man/man1", |folder| {
            clap_mangen::generate_to(visible(name, &command).disable_help_subcommand(true), folder)
        })?;
    }
    Ok(())
}

fn programs() -> [(&'static str, Command); 2] {
    [
        ("veil", Cli::command()),
        ("veilctl", veil_ipc::veilctl::Cli::command()),
    ]
}

/// The command line without what `--help` does not list either: completions would offer it.
fn visible(name: &'static str, command: &Command) -> Command {
    let mut visible = Command::new(name)
        .version(env!("CARGO_PKG_VERSION"))
        .args(command.get_arguments())
        .subcommands(command.get_subcommands().filter(|sub| !sub.is_hide_set()));
    if let Some(about) = command.get_about() {
        visible = visible.about(about.clone());
    }
    visible
}

fn into(share: &Path, below: &str, write: impl FnOnce(&Path) -> io::Result<()>) -> Result<(), GenerateError> {
    let folder = share.join(below);
    fs::create_dir_all(&folder)
        .and_then(|()| write(&folder))
        .map_err(|source| GenerateError { folder, source })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(folder: &Path, name: &str) -> String {
        fs::read_to_string(folder.join(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    /// Every command and every option of a program, as (page, words).
    fn words(command: &Command, page: &str) -> Vec<(String, Vec<String>)> {
        let mut all = Vec::new();
        let options = command
            .get_arguments()
            .filter_map(|argument| argument.get_long())
            .filter(|long| !["help", "version"].contains(long))
            .map(str::to_owned);
        all.push((page.to_owned(), options.collect()));
        for sub in command.get_subcommands().filter(|sub| !sub.is_hide_set()) {
            all.extend(words(sub, &format!("{page}-{}", sub.get_name())));
        }
        all
    }

    #[test]
    fn every_command_and_option_is_named() {
        let folder = tempfile::tempdir().unwrap();
        generate(folder.path()).unwrap();
        for (name, command) in programs() {
            let completions = [
                format!("bash-completion/completions/{name}"),
                format!("zsh/site-functions/_{name}"),
                format!("fish/vendor_completions.d/{name}.fish"),
            ]
            .map(|file| read(folder.path(), &file));
            for (page, options) in words(&command, name) {
                let manual = read(folder.path(), &format!("man/man1/{page}.1"));
                let shown = page.rsplit('-').next().unwrap();
                for text in &completions {
                    assert!(text.contains(shown) && !text.contains("generate"), "{page}");
                }
                for option in options {
                    // A dash is escaped in a manual page.
                    let escaped = option.replace('-', "\\-");
                    assert!(manual.contains(&escaped), "{page} --{option}");
                    for text in &completions {
                        assert!(text.contains(&option), "{page} --{option}");
                    }
                }
            }
        }
        let pages = fs::read_dir(folder.path().join("man/man1")).unwrap();
        for page in pages {
            let name = page.unwrap().file_name().into_string().unwrap();
            assert!(!name.contains("generate"), "{name}");
        }
    }
}

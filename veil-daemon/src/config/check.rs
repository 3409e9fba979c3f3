//! `veil check-config`: what is wrong with a configuration, and what it names that is not there.

use super::ConfigFile;
use rustix::fs::{Access, access};
use std::{
    env,
    fmt::Write,
    io::{self, Write as _},
    path::Path,
    process::ExitCode,
};
use veil_config::Config;
use veil_ipc::Source;

/// Looks at this configuration, or at the one that the daemon would take. The exit status is 1 if the daemon would not take it.
pub(crate) fn run(named: Option<&Path>) -> ExitCode {
    let Some(file) = ConfigFile::locate(named) else {
        eprintln!("error: neither XDG_CONFIG_HOME nor HOME is set, so there is no place for a configuration");
        return ExitCode::FAILURE;
    };
    match file.load() {
        Ok(config) => {
            let exists = file.path.exists();
            // Whoever closed the output early has seen enough.
            let _ = io::stdout().write_all(report(&file.path, exists, &config).as_bytes());
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn report(path: &Path, exists: bool, config: &Config) -> String {
    let mut text = String::new();
    let path = path.display();
    // Writing to a text does not fail.
    let _ = match (exists, config.rules.len()) {
        (false, _) => writeln!(text, "{path}: not there, which is as good as an empty one"),
        (true, 1) => writeln!(text, "{path}: right; 1 rule for outputs"),
        (true, rules) => writeln!(text, "{path}: right; {rules} rules for outputs"),
    };
    for rule in &config.rules {
        if let Some(Source::File(file)) = &rule.source
            && !file.0.exists()
        {
            let _ = writeln!(text, "note: {} is not there at present", file.0.display());
        }
    }
    if let Some(program) = config.on_change.as_ref().and_then(|words| words.first())
        && !is_program(program)
    {
        let _ = writeln!(text, "note: on_change: there is no program {program}");
    }
    text
}

/// Whether there is a program of this name: a path, or a name in `PATH`.
fn is_program(name: &str) -> bool {
    let runs = |path: &Path| path.is_file() && access(path, Access::EXEC_OK).is_ok();
    if name.contains('/') {
        return runs(Path::new(name));
    }
    let folders = env::var_os("PATH").unwrap_or_default();
    env::split_paths(&folders).any(|folder| runs(&folder.join(name)))
}

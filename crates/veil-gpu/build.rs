//! Compiles the shaders: WGSL from `shaders/` to SPIR-V, one module for each variant, so that no branch is left in a
//! shader that its variant does not need. (SPIR-V's specialisation constants would do the same in the driver; `naga`
//! cannot write them.) Nothing but `naga` is needed, and a mistake in a shader fails the build where it is.

use naga::{
    back::spv,
    front::wgsl,
    valid::{Capabilities, ValidationFlags, Validator},
};
use std::{
    env,
    error::Error,
    fs,
    path::{Path, PathBuf},
    process::ExitCode,
};

/// Two ways to do one thing; the second one's bit is set in the index of a module. `convert/variant.rs` has the order, too.
const CHOICES: [[Choice; 2]; 4] = [
    [Choice::File("unscaled.wgsl"), Choice::File("scaled.wgsl")],
    [
        Choice::File("light-as-it-is.wgsl"),
        Choice::File("light-mapped.wgsl"),
    ],
    [
        Choice::Text("const ALPHA: bool = false;\n"),
        Choice::Text("const ALPHA: bool = true;\n"),
    ],
    [
        Choice::Text("@group(0) @binding(4) var picture: texture_storage_2d<rgba8unorm, write>;\n"),
        Choice::Text("@group(0) @binding(4) var picture: texture_storage_2d<rgb10a2unorm, write>;\n"),
    ],
];

/// What is in every module, before and after the choices.
const FIRST: [&str; 2] = ["parameters.wgsl", "samples.wgsl"];
const LAST: &str = "convert.wgsl";

enum Choice {
    File(&'static str),
    Text(&'static str),
}

/// A module's source, and which line each file begins at.
#[derive(Default)]
struct Source {
    text: String,
    parts: Vec<(String, usize)>,
}

impl Source {
    fn add(&mut self, name: &str, text: &str) {
        self.parts.push((name.to_owned(), self.text.lines().count()));
        self.text.push_str(text);
    }

    fn add_file(&mut self, folder: &Path, name: &str) -> Result<(), String> {
        let path = folder.join(name);
        let text = fs::read_to_string(&path).map_err(|e| format!("cannot read {}: {e}", path.display()))?;
        self.add(&format!("shaders/{name}"), &text);
        Ok(())
    }

    /// The file and line of a line of the module.
    fn place(&self, line: u32) -> String {
        let before = line as usize - 1;
        let part = self.parts.iter().rev().find(|(_, start)| *start <= before);
        part.map_or_else(String::new, |(name, start)| {
            format!("{name}:{}: ", before - start + 1)
        })
    }
}

fn source(folder: &Path, variant: usize) -> Result<Source, String> {
    let mut source = Source::default();
    for name in FIRST {
        source.add_file(folder, name)?;
    }
    for (bit, choice) in CHOICES.iter().enumerate() {
        match choice[variant >> bit & 1] {
            Choice::File(name) => source.add_file(folder, name)?,
            Choice::Text(text) => source.add("build.rs, CHOICES", text),
        }
    }
    source.add_file(folder, LAST)?;
    Ok(source)
}

/// SPIR-V of a module, in the machine's order of bytes.
fn compile(source: &Source) -> Result<Vec<u8>, String> {
    let module = wgsl::parse_str(&source.text).map_err(|e| {
        let place = e
            .location(&source.text)
            .map_or_else(String::new, |l| source.place(l.line_number));
        format!("{place}{}", e.emit_to_string(&source.text))
    })?;
    let info = Validator::new(ValidationFlags::all(), Capabilities::empty())
        .validate(&module)
        .map_err(|e| {
            let place = e
                .location(&source.text)
                .map_or_else(String::new, |l| source.place(l.line_number));
            format!("{place}{}", e.emit_to_string(&source.text))
        })?;
    let options = spv::Options {
        lang_version: (1, 3),
        flags: spv::WriterFlags::empty(),
        // Every loop ends: its bounds are numbers that were computed before.
        force_loop_bounding: false,
        ..spv::Options::default()
    };
    let words = spv::write_vec(&module, &info, &options, None).map_err(|e| e.to_string())?;
    Ok(words.into_iter().flat_map(u32::to_ne_bytes).collect())
}

fn run() -> Result<(), Box<dyn Error>> {
    let folder = PathBuf::from(env::var("CARGO_MANIFEST_DIR")?).join("../../shaders");
    println!("cargo::rerun-if-changed={}", folder.display());
    println!("cargo::rerun-if-changed=build.rs");
    let out = PathBuf::from(env::var("OUT_DIR")?);
    let mut list = String::from("[\n");
    for variant in 0..1 << CHOICES.len() {
        let words = compile(&source(&folder, variant)?)?;
        let path = out.join(format!("convert-{variant}.spv"));
        fs::write(&path, words)?;
        list.push_str(&format!("    include_bytes!({path:?}),\n"));
    }
    list.push_str("]\n");
    fs::write(out.join("modules.rs"), list)?;
    Ok(())
}

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            for line in error.to_string().lines() {
                println!("cargo::error={line}");
            }
            ExitCode::FAILURE
        }
    }
}

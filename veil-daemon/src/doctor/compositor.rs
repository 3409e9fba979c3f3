//! The session and its compositor: what it offers, and what a lack means.

use super::report::Section;
use serde_json::json;
use std::env;
use veil_wayland::{Output, Survey};

/// A protocol that veil uses.
struct Protocol {
    interface: &'static str,
    /// The first version that is of use.
    version: u32,
    /// Without it there is no wallpaper.
    needed: bool,
    /// What it is for, or what is without it.
    lack: &'static str,
}

const fn needed(interface: &'static str, version: u32, lack: &'static str) -> Protocol {
    Protocol {
        interface,
        version,
        needed: true,
        lack,
    }
}

const fn used(interface: &'static str, version: u32, lack: &'static str) -> Protocol {
    Protocol {
        interface,
        version,
        needed: false,
        lack,
    }
}

const PROTOCOLS: [Protocol; 16] = [
    needed(
        "zwlr_layer_shell_v1",
        1,
        "there is no place behind the windows: use a compositor that has it (sway, Hyprland, labwc, niri, river, KDE Plasma, COSMIC; not GNOME)",
    ),
    needed("wl_compositor", 4, "nothing can be shown"),
    needed("wl_subcompositor", 1, "nothing can be shown over the background"),
    needed("wl_shm", 1, "no picture can be handed over"),
    needed("wp_viewporter", 1, "no picture can be scaled"),
    used(
        "zwp_linux_dmabuf_v1",
        3,
        "every frame is converted by the CPU (route shm)",
    ),
    used(
        "wp_presentation",
        1,
        "when a frame was seen is only guessed, so missed frames are not all counted",
    ),
    used(
        "wp_single_pixel_buffer_manager_v1",
        1,
        "the background takes some memory more",
    ),
    used("zxdg_output_manager_v1", 2, "outputs may have no names or sizes"),
    used(
        "wp_color_representation_manager_v1",
        1,
        "decoded frames are not shown as they are (route direct), since their colours would be a guess: a GPU or the CPU converts them",
    ),
    used(
        "wp_color_manager_v1",
        1,
        "videos beyond SDR (PQ, HLG) are always tone-mapped",
    ),
    used(
        "wp_linux_drm_syncobj_manager_v1",
        1,
        "fences travel within the dmabufs, which all drivers but some of NVIDIA's do well",
    ),
    used(
        "wp_fractional_scale_manager_v1",
        1,
        "windows of veilsink are scaled by whole numbers; wallpapers are not concerned",
    ),
    used(
        "wp_alpha_modifier_v1",
        1,
        "a surface cannot be made translucent by the compositor",
    ),
    used(
        "zwlr_foreign_toplevel_manager_v1",
        1,
        "windows that cover a wallpaper are not known; it stands still when the compositor stops asking for frames",
    ),
    used(
        "ext_idle_notifier_v1",
        1,
        "when nobody is at the machine is not known",
    ),
];

/// Looks at the session and its compositor. What it offers, where there is one.
pub(super) fn look(section: &mut Section) -> Option<Survey> {
    match env::var("XDG_RUNTIME_DIR") {
        Ok(folder) if !folder.is_empty() => {}
        _ => section.broken("XDG_RUNTIME_DIR is not set: run this in the session, or log in anew"),
    }
    let survey = match Survey::take() {
        Ok(survey) => survey,
        Err(error) => {
            section.broken(error.to_string());
            section.note(
                "without a compositor, outputs and formats are not known; what follows is about the machine",
            );
            return None;
        }
    };
    let display = env::var("WAYLAND_DISPLAY").unwrap_or_default();
    let desktop = env::var("XDG_CURRENT_DESKTOP").unwrap_or_default();
    section.ok(format!(
        "{} on {display}{}, {} protocols",
        survey.process.as_deref().unwrap_or("a compositor"),
        if desktop.is_empty() {
            String::new()
        } else {
            format!(" ({desktop})")
        },
        survey.globals.len()
    ));
    protocols(section, &survey);
    outputs(section, &survey.outputs);
    section.facts(json!({
        "process": survey.process,
        "display": display,
        "desktop": desktop,
        "protocols": survey.globals.iter().map(|(name, version)| json!({
            "interface": name,
            "version": version,
            "used": PROTOCOLS.iter().any(|protocol| protocol.interface == name),
        })).collect::<Vec<_>>(),
        "outputs": survey.outputs.iter().map(|output| json!({
            "name": output.name,
            "description": output.description,
            "size": [output.pixels.w, output.pixels.h],
            "logical_size": [output.logical.w, output.logical.h],
            "refresh_mhz": output.refresh_mhz,
        })).collect::<Vec<_>>(),
    }));
    Some(survey)
}

fn protocols(section: &mut Section, survey: &Survey) {
    let mut there = Vec::new();
    for protocol in &PROTOCOLS {
        let Protocol {
            interface,
            version,
            needed,
            lack,
        } = protocol;
        let lacks = match survey.version(interface) {
            Some(has) if has >= *version => {
                there.push(format!("{interface} {has}"));
                continue;
            }
            Some(has) => format!("{interface} has version {has}, {version} is needed: {lack}"),
            None => format!("{interface} is missing: {lack}"),
        };
        if *needed {
            section.broken(lacks);
        } else {
            section.note(lacks);
        }
    }
    section.ok(format!("used: {}", there.join(", ")));
}

fn outputs(section: &mut Section, outputs: &[Output]) {
    if outputs.is_empty() {
        section.note("there is no output at present; wallpapers wait for one");
    }
    for output in outputs {
        let refresh = match output.refresh_mhz {
            0 => String::new(),
            mhz => format!(" at {:.2} Hz", f64::from(mhz) / 1000.0),
        };
        section.ok(format!(
            "output {}: {} pixels{refresh}, {} logical; {}",
            output.name, output.pixels, output.logical, output.description
        ));
    }
}

//! The GPUs: which there are, which one the compositor uses, and whether memory can be handed to and fro.

use super::report::Section;
use drm_fourcc::{DrmFormat, DrmFourcc};
use serde_json::{Value, json};
use std::{collections::BTreeMap, sync::Arc};
use veil_dmabuf::{Allocator, Linear};
use veil_frame::{PixelFormat, Size};
use veil_gpu::{Device, DeviceChoice, TargetImage, device::DeviceInfo, import::Importer};
use veil_wayland::Survey;

/// What is made to see that it can be made.
const SIZE: Size = Size { w: 64, h: 64 };
/// In what pictures are drawn that a compositor shows.
const TARGET: DrmFourcc = DrmFourcc::Xbgr8888;

/// Looks at the GPUs.
pub(super) fn look(section: &mut Section, survey: &Survey) {
    let taken = survey.dmabuf.as_ref().map(|support| support.formats.as_slice());
    if let Some(formats) = taken {
        section.ok(format!("the compositor takes dmabufs of {}", listed(formats)));
    }
    let node = survey.dmabuf.as_ref().and_then(|support| support.device);
    let devices = match Device::all() {
        Ok(devices) => devices,
        Err(error) => {
            section.note(format!("{error}; until then the CPU converts frames (route shm)"));
            section.facts(json!({ "compositor_formats": pairs(taken.unwrap_or_default()), "devices": [] }));
            return;
        }
    };
    let mut facts = Vec::new();
    let mut usable = false;
    for info in &devices {
        let of_compositor = node.is_some() && (info.render_node == node || info.primary_node == node);
        let (works, more) = try_device(section, info, of_compositor, taken);
        usable |= works && (of_compositor || node.is_none());
        facts.push(more);
    }
    if !usable {
        section.note(match (devices.is_empty(), node) {
            (true, _) => "Vulkan finds no device: install your GPU's Vulkan driver (mesa-vulkan-drivers in Debian); until then the CPU converts frames (route shm)",
            (false, Some(_)) => "none of these is the compositor's GPU: the CPU converts frames (route shm), unless --device names one",
            (false, None) => "no GPU converts frames here: the CPU does (route shm), unless --device names one",
        });
    }
    section.facts(json!({ "compositor_formats": pairs(taken.unwrap_or_default()), "devices": facts }));
}

/// Tries a device, and says how it is. Whether it can be used without being named.
fn try_device(
    section: &mut Section,
    info: &DeviceInfo,
    of_compositor: bool,
    taken: Option<&[DrmFormat]>,
) -> (bool, Value) {
    let whose = if of_compositor { ", the compositor's" } else { "" };
    // Where a driver says no node, its name must do.
    let choice = match info.render_node.or(info.primary_node) {
        Some(node) if !info.software => DeviceChoice::Node(node),
        _ => DeviceChoice::Named(info.name.clone()),
    };
    let mut facts = json!({
        "name": info.name, "driver": info.driver, "software": info.software, "compositors": of_compositor,
        "vulkan": format!("{}.{}", info.api_version.0, info.api_version.1),
    });
    let device = match Device::open(&choice) {
        Ok(device) => device,
        Err(error) => {
            section.note(format!("{info}{whose}: {error}"));
            facts["error"] = error.to_string().into();
            return (false, facts);
        }
    };
    let targets = device.formats().targets();
    let export = export(&device);
    let import = import(&device);
    let common: Vec<DrmFormat> = targets
        .iter()
        .filter(|pair| taken.is_some_and(|taken| taken.contains(pair)))
        .copied()
        .collect();
    facts["reads"] = device.formats().sources().len().into();
    facts["writes"] = pairs(targets);
    facts["in_common"] = pairs(&common);
    facts["export"] = outcome(&export);
    facts["import"] = outcome(&import);
    let works = export.is_ok() && (taken.is_none() || !common.is_empty());
    let line = format!(
        "{info}{whose}: export {}, import {}{}",
        words(&export),
        words(&import),
        match taken {
            None => String::new(),
            Some(_) if common.is_empty() => "; nothing that it writes is taken by the compositor".to_owned(),
            Some(_) => format!("; with the compositor it has {}", listed(&common)),
        }
    );
    if works && import.is_ok() {
        section.ok(line);
    } else {
        section.note(line);
    }
    (works && !info.software, facts)
}

/// Makes a picture that could be shown.
fn export(device: &Arc<Device>) -> Result<(), String> {
    let targets = device.formats().targets().iter();
    let modifiers: Vec<_> = targets
        .filter(|pair| pair.code == TARGET)
        .map(|pair| pair.modifier)
        .collect();
    TargetImage::new(device, SIZE, TARGET, &modifiers)
        .map(drop)
        .map_err(|error| error.to_string())
}

/// Reads a picture in memory that no GPU has made, as decoders on the CPU give it.
fn import(device: &Arc<Device>) -> Result<(), String> {
    let allocator =
        Allocator::open().map_err(|_| "not tried, no dmabuf can be made (see devices)".to_owned())?;
    let layout = Linear::new(PixelFormat::Nv12, SIZE).map_err(|error| error.to_string())?;
    let memory = layout.allocate(&allocator).map_err(|error| error.to_string())?;
    let dmabuf = layout.describe(&memory).map_err(|error| error.to_string())?;
    Importer::new(device)
        .import(&dmabuf.borrow(), PixelFormat::Nv12)
        .map(drop)
        .map_err(|error| error.to_string())
}

fn words(result: &Result<(), String>) -> &str {
    match result {
        Ok(()) => "works",
        Err(reason) => reason,
    }
}

fn outcome(result: &Result<(), String>) -> Value {
    match result {
        Ok(()) => Value::Bool(true),
        Err(reason) => reason.as_str().into(),
    }
}

/// Formats with how many modifiers each has.
fn listed(formats: &[DrmFormat]) -> String {
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for pair in formats {
        *counts.entry(pair.code.to_string()).or_default() += 1;
    }
    if counts.is_empty() {
        return "no format".to_owned();
    }
    let each: Vec<_> = counts
        .iter()
        .map(|(code, count)| format!("{code} ({count})"))
        .collect();
    each.join(", ")
}

fn pairs(formats: &[DrmFormat]) -> Value {
    let pair = |pair: &DrmFormat| json!({ "format": pair.code.to_string(), "modifier": format!("{:#x}", u64::from(pair.modifier)) });
    formats.iter().map(pair).collect()
}

//! GStreamer, and what it can play.

use super::report::Section;
use serde_json::{Value, json};
use veil_playback::survey::{Ability, codecs, containers, gstreamer_version};

/// Looks at it.
pub(super) fn look(section: &mut Section) {
    if let Err(error) = veil_playback::init() {
        section.broken(format!("{error}: no video can be played"));
        return;
    }
    let version = gstreamer_version();
    section.ok(&version);
    let (codecs, containers) = (codecs(), containers());
    for codec in &codecs {
        one(section, codec, "decoder");
    }
    if codecs.iter().all(|codec| codec.elements.is_empty()) {
        section.broken("there is no decoder at all: no video can be played");
    }
    for container in containers
        .iter()
        .filter(|container| container.elements.is_empty())
    {
        one(section, container, "reader");
    }
    section.facts(json!({
        "gstreamer": version,
        "codecs": codecs.iter().map(fact).collect::<Value>(),
        "containers": containers.iter().map(fact).collect::<Value>(),
    }));
}

fn one(section: &mut Section, ability: &Ability, what: &str) {
    let Ability { name, package, .. } = ability;
    if let [first, others @ ..] = &ability.elements[..] {
        let others: Vec<_> = others.iter().map(ToString::to_string).collect();
        let then = if others.is_empty() {
            String::new()
        } else {
            format!("; then {}", others.join(", "))
        };
        section.ok(format!("{name}: {first}{then}"));
        return;
    }
    if ability.barred.is_empty() {
        section.note(format!("{name}: no {what}; install {package}"));
    } else {
        section.note(format!(
            "{name}: no {what} may be used; of too low a rank for that is {} (see GST_PLUGIN_FEATURE_RANK); another one is in {package}",
            ability.barred.join(", ")
        ));
    }
}

fn fact(ability: &Ability) -> Value {
    json!({
        "name": ability.name,
        "elements": ability.elements.iter().map(|element| json!({
            "element": element.element,
            "hardware": element.hardware,
        })).collect::<Value>(),
        "barred": ability.barred,
        "package": ability.package.to_string(),
    })
}

//! `wp_color_manager_v1`: tells the compositor of primaries and transfer curves beyond those of SDR video.
//!
//! A surface without an image description counts as sRGB, which is right for BT.709. Others are described by named primaries
//! and a named curve, if the compositor lists both. A description may be used only when the compositor has said that it is
//! ready; so all that may be needed are made at once, and only those that are ready are spoken of.

use crate::{
    buffer::{Quiet, no_events},
    desktop::{Desktop, Event},
};
use smithay_client_toolkit::dispatch2::Dispatch2;
use veil_frame::{Colorimetry, Labels, Primaries, Transfer};
use wayland_client::{Connection, QueueHandle, WEnum, globals::GlobalList, protocol::wl_surface::WlSurface};
use wayland_protocols::wp::color_management::v1::client::{
    wp_color_management_surface_v1::WpColorManagementSurfaceV1,
    wp_color_manager_v1::{self as manager, Feature, RenderIntent, TransferFunction, WpColorManagerV1},
    wp_image_description_creator_params_v1::WpImageDescriptionCreatorParamsV1,
    wp_image_description_v1::{self as description, WpImageDescriptionV1},
};

/// Primaries and a curve.
type Colours = (Primaries, Transfer);

const PRIMARIES: [(Primaries, manager::Primaries); 3] = [
    (Primaries::Bt709, manager::Primaries::Srgb),
    (Primaries::Bt2020, manager::Primaries::Bt2020),
    (Primaries::DisplayP3, manager::Primaries::DisplayP3),
];

/// SDR's curve is to be the screen's own, so that greys pass unchanged: KWin (6.7) shows those of BT.1886 darker.
const CURVES: [(Transfer, TransferFunction); 3] = [
    (Transfer::Sdr, TransferFunction::Gamma22),
    (Transfer::Pq, TransferFunction::St2084Pq),
    (Transfer::Hlg, TransferFunction::Hlg),
];

#[derive(Debug)]
struct Description {
    colours: Colours,
    object: WpImageDescriptionV1,
    ready: bool,
}

impl Drop for Description {
    fn drop(&mut self) {
        self.object.destroy();
    }
}

/// What the compositor can be told.
#[derive(Debug, Default)]
pub(crate) struct ColorManagement {
    manager: Option<WpColorManagerV1>,
    parametric: bool,
    perceptual: bool,
    primaries: Vec<manager::Primaries>,
    curves: Vec<TransferFunction>,
    descriptions: Vec<Description>,
}

impl ColorManagement {
    pub(crate) fn bind(globals: &GlobalList, qh: &QueueHandle<Desktop>) -> Self {
        Self {
            manager: globals.bind(qh, 1..=1, Quiet).ok(),
            ..Self::default()
        }
    }

    /// What can be told of, beyond BT.709 in SDR.
    pub(crate) fn colours(&self) -> Vec<Colours> {
        let ready = self.descriptions.iter().filter(|description| description.ready);
        ready.map(|description| description.colours).collect()
    }

    fn ready(&self, colours: Colours) -> Option<&WpImageDescriptionV1> {
        let mut ready = self.descriptions.iter().filter(|description| description.ready);
        let found = ready.find(|description| description.colours == colours)?;
        Some(&found.object)
    }

    /// All that the compositor offers has been told.
    fn describe(&mut self, qh: &QueueHandle<Desktop>) {
        let Some(manager) = self
            .manager
            .as_ref()
            .filter(|_| self.parametric && self.perceptual)
        else {
            return;
        };
        for (primaries, named) in PRIMARIES
            .iter()
            .filter(|(_, named)| self.primaries.contains(named))
        {
            for (transfer, curve) in CURVES.iter().filter(|(_, curve)| self.curves.contains(curve)) {
                let colours = (*primaries, *transfer);
                if colours == (Primaries::Bt709, Transfer::Sdr) {
                    continue;
                }
                let creator = manager.create_parametric_creator(qh, Quiet);
                creator.set_primaries_named(*named);
                creator.set_tf_named(*curve);
                self.descriptions.push(Description {
                    colours,
                    object: creator.create(qh, Quiet),
                    ready: false,
                });
            }
        }
    }
}

/// What is told of one surface.
#[derive(Debug, Default)]
pub(crate) struct Image(Option<(WpColorManagementSurfaceV1, Colours)>);

impl Image {
    /// Tells it of what is attached next, where it is another than before. Takes effect with the surface's commit.
    pub(crate) fn set(
        &mut self,
        management: &ColorManagement,
        qh: &QueueHandle<Desktop>,
        surface: &WlSurface,
        labels: Option<Labels>,
    ) {
        let beyond = labels
            .map(|labels| labels.colorimetry)
            .filter(|colour| Colorimetry::needs_linear_light(*colour));
        let colours = beyond.map(|colour| (colour.primaries, colour.transfer));
        if self.0.as_ref().map(|(_, colours)| *colours) == colours {
            return;
        }
        let ready = colours.and_then(|colours| Some((management.ready(colours)?, colours)));
        let (Some(manager), Some((description, colours))) = (&management.manager, ready) else {
            self.clear();
            return;
        };
        let object = match self.0.take() {
            Some((object, _)) => object,
            None => manager.get_surface(surface, qh, Quiet),
        };
        object.set_image_description(description, RenderIntent::Perceptual);
        self.0 = Some((object, colours));
    }

    /// Takes back what was told.
    pub(crate) fn clear(&mut self) {
        if let Some((object, _)) = self.0.take() {
            object.destroy();
        }
    }
}

impl Dispatch2<WpColorManagerV1, Desktop> for Quiet {
    fn event(
        &self,
        desktop: &mut Desktop,
        _: &WpColorManagerV1,
        event: manager::Event,
        _: &Connection,
        qh: &QueueHandle<Desktop>,
    ) {
        let management = &mut desktop.globals.color_management;
        match event {
            manager::Event::SupportedIntent {
                render_intent: WEnum::Value(RenderIntent::Perceptual),
            } => management.perceptual = true,
            manager::Event::SupportedFeature {
                feature: WEnum::Value(Feature::Parametric),
            } => management.parametric = true,
            manager::Event::SupportedTfNamed { tf: WEnum::Value(tf) } => management.curves.push(tf),
            manager::Event::SupportedPrimariesNamed {
                primaries: WEnum::Value(primaries),
            } => management.primaries.push(primaries),
            manager::Event::Done => management.describe(qh),
            _ => {}
        }
    }
}

impl Dispatch2<WpImageDescriptionV1, Desktop> for Quiet {
    fn event(
        &self,
        desktop: &mut Desktop,
        object: &WpImageDescriptionV1,
        event: description::Event,
        _: &Connection,
        _: &QueueHandle<Desktop>,
    ) {
        let descriptions = &mut desktop.globals.color_management.descriptions;
        match event {
            description::Event::Ready { .. } => {
                for known in descriptions.iter_mut().filter(|known| known.object == *object) {
                    known.ready = true;
                }
                for id in desktop.surfaces.keys().copied().collect::<Vec<_>>() {
                    desktop.push(Event::SupportChanged(id));
                }
            }
            description::Event::Failed { msg, .. } => {
                tracing::debug!("the compositor cannot show an image description: {msg}");
                descriptions.retain(|known| known.object != *object);
            }
            _ => {}
        }
    }
}

no_events!(WpColorManagementSurfaceV1, WpImageDescriptionCreatorParamsV1);

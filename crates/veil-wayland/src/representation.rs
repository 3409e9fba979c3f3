//! `wp_color_representation_v1`: tells the compositor what the numbers of a YCbCr buffer mean.
//!
//! Without it that is the compositor's guess. Named are matrix and range, of which the compositor lists those that it takes,
//! and the place of chroma samples. An RGB buffer must not have any of it (error `pixel_format`), so the object is destroyed
//! before one is shown.

use crate::{buffer::Quiet, desktop::Desktop};
use smithay_client_toolkit::dispatch2::Dispatch2;
use veil_frame::{ChromaSite, Labels, Matrix, Range, Siting};
use wayland_client::{Connection, QueueHandle, WEnum, protocol::wl_surface::WlSurface};
use wayland_protocols::wp::color_representation::v1::client::{
    wp_color_representation_manager_v1::{self, WpColorRepresentationManagerV1},
    wp_color_representation_surface_v1::{
        self as surface, ChromaLocation, Coefficients, WpColorRepresentationSurfaceV1,
    },
};

fn coefficients(matrix: Matrix) -> Option<Coefficients> {
    match matrix {
        Matrix::Rgb => None,
        Matrix::Bt601 => Some(Coefficients::Bt601),
        Matrix::Bt709 => Some(Coefficients::Bt709),
        Matrix::Bt2020 => Some(Coefficients::Bt2020),
        Matrix::Smpte240m => Some(Coefficients::Smpte240),
        Matrix::Fcc => Some(Coefficients::Fcc),
    }
}

fn matrix(coefficients: Coefficients) -> Option<Matrix> {
    [
        Matrix::Bt601,
        Matrix::Bt709,
        Matrix::Bt2020,
        Matrix::Smpte240m,
        Matrix::Fcc,
    ]
    .into_iter()
    .find(|matrix| self::coefficients(*matrix) == Some(coefficients))
}

/// H.273's Chroma420SampleLocType, by where the sites are.
fn location(site: ChromaSite) -> ChromaLocation {
    use Siting::{Centered, Cosited};
    match (site.horizontal, site.vertical) {
        (Cosited, Centered) => ChromaLocation::Type0,
        (Centered, Centered) => ChromaLocation::Type1,
        (Cosited, Cosited) => ChromaLocation::Type2,
        (Centered, Cosited) => ChromaLocation::Type3,
    }
}

/// What is told of one surface.
#[derive(Debug, Default)]
pub(crate) struct Representation(Option<(WpColorRepresentationSurfaceV1, Labels)>);

impl Representation {
    /// Tells it of what is attached next, where it is another than before. Takes effect with the surface's commit.
    pub(crate) fn set(
        &mut self,
        manager: Option<&WpColorRepresentationManagerV1>,
        qh: &QueueHandle<Desktop>,
        surface: &WlSurface,
        labels: Option<Labels>,
    ) {
        if self.0.as_ref().map(|(_, labels)| *labels) == labels {
            return;
        }
        let coefficients = labels.and_then(|labels| coefficients(labels.colorimetry.matrix));
        let (Some(manager), Some(labels), Some(coefficients)) = (manager, labels, coefficients) else {
            self.clear();
            return;
        };
        let object = match self.0.take() {
            Some((object, _)) => object,
            None => manager.get_surface(surface, qh, Quiet),
        };
        let range = match labels.colorimetry.range {
            Range::Full => surface::Range::Full,
            Range::Limited => surface::Range::Limited,
        };
        object.set_coefficients_and_range(coefficients, range);
        object.set_chroma_location(location(labels.site));
        self.0 = Some((object, labels));
    }

    /// Takes back what was told.
    pub(crate) fn clear(&mut self) {
        if let Some((object, _)) = self.0.take() {
            object.destroy();
        }
    }
}

impl Dispatch2<WpColorRepresentationManagerV1, Desktop> for Quiet {
    fn event(
        &self,
        desktop: &mut Desktop,
        _: &WpColorRepresentationManagerV1,
        event: wp_color_representation_manager_v1::Event,
        _: &Connection,
        _: &QueueHandle<Desktop>,
    ) {
        if let wp_color_representation_manager_v1::Event::SupportedCoefficientsAndRanges {
            coefficients: WEnum::Value(coefficients),
            range: WEnum::Value(range),
        } = event
        {
            let range = match range {
                surface::Range::Full => Range::Full,
                surface::Range::Limited => Range::Limited,
                _ => return,
            };
            if let Some(matrix) = matrix(coefficients) {
                desktop.globals.dmabufs.codings.push((matrix, range));
            }
        }
    }
}

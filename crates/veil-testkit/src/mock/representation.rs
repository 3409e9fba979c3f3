//! `wp_color_representation_manager_v1`: what the numbers of YCbCr buffers mean.

use veil_frame::{ChromaSite, Colorimetry, Matrix, Model, Range, Siting};
use wayland_protocols::wp::color_representation::v1::server::{
    wp_color_representation_manager_v1::{self as manager, WpColorRepresentationManagerV1},
    wp_color_representation_surface_v1::{
        self as surface, AlphaMode, Coefficients, Error, WpColorRepresentationSurfaceV1,
    },
};
use wayland_server::backend::ClientId;
use wayland_server::{Client, DataInit, Dispatch, DisplayHandle, Resource, WEnum};

use super::buffer::Buffer;
use super::record::SurfaceId;
use super::state::State;
use super::surface::surface_id;

/// What was told of a surface's buffers, in the protocol's numbers; 0 is nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Representation {
    /// `wp_color_representation_surface_v1.coefficients`: 2 is BT.709, 4 BT.601, 6 BT.2020.
    pub coefficients: u32,
    /// `range`: 1 is full, 2 limited.
    pub range: u32,
    /// `chroma_location`.
    pub chroma: u32,
}

/// Those that it can draw.
const OFFERED: [(Coefficients, Matrix); 3] = [
    (Coefficients::Bt601, Matrix::Bt601),
    (Coefficients::Bt709, Matrix::Bt709),
    (Coefficients::Bt2020, Matrix::Bt2020),
];

impl Representation {
    /// The colours of a buffer of which this was told; what it was not told is as in `untold`.
    pub(super) fn colours(told: Option<Self>, untold: Colorimetry) -> (Colorimetry, ChromaSite) {
        let told = told.unwrap_or_default();
        let named = OFFERED.iter().find(|(of, _)| *of as u32 == told.coefficients);
        let colorimetry = match named {
            Some((_, matrix)) => Colorimetry {
                matrix: *matrix,
                range: if told.range == surface::Range::Full as u32 {
                    Range::Full
                } else {
                    Range::Limited
                },
                ..untold
            },
            None => untold,
        };
        let (horizontal, vertical) = match told.chroma {
            2 => (Siting::Centered, Siting::Centered),
            3 => (Siting::Cosited, Siting::Cosited),
            4 => (Siting::Centered, Siting::Cosited),
            _ => (Siting::Cosited, Siting::Centered),
        };
        let site = ChromaSite { horizontal, vertical };
        (colorimetry, site)
    }
}

impl State {
    pub(super) fn tell_representations(manager: &WpColorRepresentationManagerV1) {
        manager.supported_alpha_mode(AlphaMode::PremultipliedElectrical);
        for (coefficients, _) in OFFERED {
            for range in [surface::Range::Limited, surface::Range::Full] {
                manager.supported_coefficients_and_ranges(coefficients, range);
            }
        }
        manager.done();
    }

    /// What a surface shows must be what was told of it.
    pub(super) fn check_representation(&mut self, id: SurfaceId) {
        let Some(node) = self.surfaces.get(&id) else {
            return;
        };
        let (Some(buffer), Some(told)) = (&node.buffer, node.representation) else {
            return;
        };
        let is_ycbcr = matches!(
            buffer.data::<Buffer>(),
            Some(Buffer::Dmabuf(dmabuf)) if dmabuf.pixels.info().model == Model::Yuv
        );
        if (told.coefficients != 0 || told.chroma != 0) && !is_ycbcr {
            let text = format!("pixel_format: {told:?} of an RGB buffer");
            self.complaints.push(text.clone());
            match &node.represents {
                Some(object) => object.post_error(Error::PixelFormat, text),
                None => node.resource.post_error(Error::PixelFormat, text),
            }
        }
    }
}

impl Dispatch<WpColorRepresentationManagerV1, ()> for State {
    fn request(
        state: &mut Self,
        _: &Client,
        resource: &WpColorRepresentationManagerV1,
        request: manager::Request,
        (): &(),
        _: &DisplayHandle,
        init: &mut DataInit<'_, Self>,
    ) {
        if let manager::Request::GetSurface { id, surface } = request {
            let surface = surface_id(&surface);
            let object = init.init(id, surface);
            if let Some(node) = state.surfaces.get_mut(&surface)
                && node.represents.replace(object).is_some()
            {
                resource.post_error(manager::Error::SurfaceExists, "it has such an object already");
            }
        }
    }
}

impl Dispatch<WpColorRepresentationSurfaceV1, SurfaceId> for State {
    fn request(
        state: &mut Self,
        _: &Client,
        object: &WpColorRepresentationSurfaceV1,
        request: surface::Request,
        id: &SurfaceId,
        _: &DisplayHandle,
        _: &mut DataInit<'_, Self>,
    ) {
        let Some(node) = state.surfaces.get_mut(id) else {
            if !matches!(request, surface::Request::Destroy) {
                object.post_error(Error::Inert, "its surface is gone");
            }
            return;
        };
        let mut told = node.pending.representation.unwrap_or(node.representation);
        match request {
            surface::Request::SetCoefficientsAndRange { coefficients, range } => {
                let (WEnum::Value(coefficients), WEnum::Value(range)) = (coefficients, range) else {
                    object.post_error(Error::Coefficients, "unheard of");
                    return;
                };
                if !OFFERED.iter().any(|(offered, _)| *offered == coefficients) {
                    object.post_error(Error::Coefficients, format!("{coefficients:?} was not offered"));
                    return;
                }
                let told = told.get_or_insert_default();
                told.coefficients = coefficients as u32;
                told.range = range as u32;
            }
            surface::Request::SetChromaLocation { chroma_location } => {
                let WEnum::Value(location) = chroma_location else {
                    object.post_error(Error::ChromaLocation, "unheard of");
                    return;
                };
                told.get_or_insert_default().chroma = location as u32;
            }
            surface::Request::Destroy => {
                told = None;
                node.represents = None;
            }
            _ => return,
        }
        node.pending.representation = Some(told);
    }

    fn destroyed(state: &mut Self, _: ClientId, object: &WpColorRepresentationSurfaceV1, id: &SurfaceId) {
        if let Some(node) = state.surfaces.get_mut(id) {
            node.represents.take_if(|known| known == object);
        }
    }
}

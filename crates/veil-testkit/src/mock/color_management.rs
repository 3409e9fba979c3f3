//! `wp_color_manager_v1`: named primaries and curves. They are noted, and change nothing of what is drawn.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use wayland_protocols::wp::color_management::v1::server::{
    wp_color_management_surface_v1::{self as surface, WpColorManagementSurfaceV1},
    wp_color_manager_v1::{
        self as manager, Feature, Primaries, RenderIntent, TransferFunction, WpColorManagerV1,
    },
    wp_image_description_creator_params_v1::{self as params, WpImageDescriptionCreatorParamsV1},
    wp_image_description_v1::{self as description, Cause, WpImageDescriptionV1},
};
use wayland_server::backend::ClientId;
use wayland_server::{Client, DataInit, Dispatch, DisplayHandle, Resource, WEnum};

use super::record::SurfaceId;
use super::state::State;
use super::surface::surface_id;

const PRIMARIES: [Primaries; 2] = [Primaries::Srgb, Primaries::Bt2020];
const CURVES: [TransferFunction; 2] = [TransferFunction::Gamma22, TransferFunction::St2084Pq];

/// Primaries and a curve, in the protocol's numbers: 6 is BT.2020; 2 is a gamma of 2.2, 11 PQ.
pub type ImageDescription = (u32, u32);

/// An image description, and whether it can be used.
#[derive(Debug)]
pub(super) struct Described {
    told: ImageDescription,
    ready: AtomicBool,
}

impl State {
    pub(super) fn tell_colours(manager: &WpColorManagerV1) {
        manager.supported_intent(RenderIntent::Perceptual);
        manager.supported_feature(Feature::Parametric);
        for curve in CURVES {
            manager.supported_tf_named(curve);
        }
        for primaries in PRIMARIES {
            manager.supported_primaries_named(primaries);
        }
        manager.done();
    }
}

/// What a creator was told so far.
pub(super) type Telling = Mutex<(Option<Primaries>, Option<TransferFunction>)>;

impl Dispatch<WpColorManagerV1, ()> for State {
    fn request(
        state: &mut Self,
        _: &Client,
        resource: &WpColorManagerV1,
        request: manager::Request,
        (): &(),
        _: &DisplayHandle,
        init: &mut DataInit<'_, Self>,
    ) {
        match request {
            manager::Request::GetSurface { id, surface } => {
                let surface = surface_id(&surface);
                let object = init.init(id, surface);
                if let Some(node) = state.surfaces.get_mut(&surface)
                    && node.described.replace(object).is_some()
                {
                    resource.post_error(manager::Error::SurfaceExists, "it has such an object already");
                }
            }
            manager::Request::CreateParametricCreator { obj } => {
                init.init(obj, Telling::default());
            }
            manager::Request::Destroy => {}
            _ => resource.post_error(manager::Error::UnsupportedFeature, "only parametric descriptions"),
        }
    }
}

impl Dispatch<WpImageDescriptionCreatorParamsV1, Telling> for State {
    fn request(
        _: &mut Self,
        _: &Client,
        resource: &WpImageDescriptionCreatorParamsV1,
        request: params::Request,
        telling: &Telling,
        _: &DisplayHandle,
        init: &mut DataInit<'_, Self>,
    ) {
        let mut telling = telling.lock().unwrap_or_else(PoisonError::into_inner);
        match request {
            params::Request::SetPrimariesNamed {
                primaries: WEnum::Value(primaries),
            } if PRIMARIES.contains(&primaries) => telling.0 = Some(primaries),
            params::Request::SetTfNamed { tf: WEnum::Value(tf) } if CURVES.contains(&tf) => {
                telling.1 = Some(tf);
            }
            params::Request::Create { image_description } => {
                let told = (telling.0.map(|it| it as u32), telling.1.map(|it| it as u32));
                let (Some(primaries), Some(curve)) = told else {
                    resource.post_error(params::Error::IncompleteSet, format!("{told:?}"));
                    return;
                };
                // PQ makes no sense with the primaries of sRGB: not every combination can be had.
                let supported = (primaries, curve) != (1, 11);
                let described = Described {
                    told: (primaries, curve),
                    ready: AtomicBool::new(supported),
                };
                let object = init.init(image_description, described);
                if supported {
                    object.ready(primaries * 100 + curve);
                } else {
                    object.failed(Cause::Unsupported, "not these two".into());
                }
            }
            _ => resource.post_error(params::Error::UnsupportedFeature, "it was not offered"),
        }
    }
}

impl Dispatch<WpImageDescriptionV1, Described> for State {
    fn request(
        _: &mut Self,
        _: &Client,
        _: &WpImageDescriptionV1,
        _: description::Request,
        _: &Described,
        _: &DisplayHandle,
        _: &mut DataInit<'_, Self>,
    ) {
    }
}

impl Dispatch<WpColorManagementSurfaceV1, SurfaceId> for State {
    fn request(
        state: &mut Self,
        _: &Client,
        object: &WpColorManagementSurfaceV1,
        request: surface::Request,
        id: &SurfaceId,
        _: &DisplayHandle,
        _: &mut DataInit<'_, Self>,
    ) {
        let Some(node) = state.surfaces.get_mut(id) else {
            if !matches!(request, surface::Request::Destroy) {
                object.post_error(surface::Error::Inert, "its surface is gone");
            }
            return;
        };
        match request {
            surface::Request::SetImageDescription {
                image_description,
                render_intent,
            } => {
                let described = image_description.data::<Described>();
                match described.filter(|described| described.ready.load(Ordering::Relaxed)) {
                    _ if render_intent != WEnum::Value(RenderIntent::Perceptual) => {
                        object.post_error(surface::Error::RenderIntent, "it was not offered");
                    }
                    Some(described) => node.pending.image = Some(Some(described.told)),
                    None => object.post_error(surface::Error::ImageDescription, "it is not ready"),
                }
            }
            surface::Request::UnsetImageDescription => node.pending.image = Some(None),
            surface::Request::Destroy => {
                node.pending.image = Some(None);
                node.described = None;
            }
            _ => {}
        }
    }

    fn destroyed(state: &mut Self, _: ClientId, object: &WpColorManagementSurfaceV1, id: &SurfaceId) {
        if let Some(node) = state.surfaces.get_mut(id) {
            node.described.take_if(|known| known == object);
        }
    }
}

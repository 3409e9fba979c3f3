//! What is drawn, and by which route: decided when the picture, the stream or the demand changes, and kept until then.

use crate::{
    Capabilities,
    caps::StreamFormat,
    description::RouteDescription,
    route::{Asked, Route, RouteError, Source, Wanted},
};
use drm_fourcc::DrmFormat;
use std::sync::Arc;
use veil_frame::{Orientation, Picture, PictureError, TargetPlan, presentable::Released};

/// How often a stream's GPU may be lost, and is opened anew.
const MOST_LOST: u32 = 3;

/// There is no plan for a picture.
#[derive(Debug, thiserror::Error)]
pub(crate) enum PlanError {
    /// There is nothing to see.
    #[error(transparent)]
    Picture(#[from] PictureError),
    /// No route can be taken.
    #[error(transparent)]
    Route(#[from] RouteError),
}

/// A plan, for what it was made, and the route that follows it.
#[derive(Debug)]
pub(crate) struct Planned {
    picture: Picture,
    /// The dmabufs that frames come in.
    format: Option<DrmFormat>,
    capabilities: Arc<Capabilities>,
    /// Made for another stream: only what fits of the route may be kept.
    stale: bool,
    /// What is drawn.
    pub(crate) plan: TargetPlan,
    /// By what.
    pub(crate) route: Route,
    /// What there is to say of the route, until somebody took it.
    pub(crate) news: Option<RouteDescription>,
}

impl Planned {
    /// Whether it still holds.
    fn serves(&self, wanted: Wanted<'_>) -> bool {
        if self.stale || self.picture != wanted.picture || self.format != wanted.source.format() {
            return false;
        }
        // Many changes of the demand do not change what is drawn.
        let before = &self.capabilities;
        before.generation == wanted.capabilities.generation || self.route.serves(&self.plan, before, wanted)
    }
}

/// Makes plans, and keeps the present one.
#[derive(Debug)]
pub(crate) struct Planner {
    released: Arc<Released>,
    asked: Asked,
    /// Why a GPU is not tried again.
    no_gpu: Option<String>,
    /// How often one was lost.
    lost: u32,
    planned: Option<Planned>,
}

impl Planner {
    /// One without a plan; `released` is told of targets that became free.
    pub(crate) fn new(released: Arc<Released>, asked: Asked) -> Self {
        Self {
            released,
            asked,
            no_gpu: None,
            lost: 0,
            planned: None,
        }
    }

    /// The next picture is of another stream than the ones before.
    pub(crate) fn stream_changed(&mut self) {
        if let Some(planned) = &mut self.planned {
            planned.stale = true;
        }
    }

    /// Lets go of plan, route and targets.
    pub(crate) fn reset(&mut self) {
        self.planned = None;
    }

    /// A frame could not be drawn. Whether there is another way to try: of a GPU that fails no use is made any more; one that
    /// was lost is opened anew when the next plan is made, but not without end.
    pub(crate) fn failed(&mut self, error: &RouteError) -> bool {
        let (Some(planned), RouteError::Gpu(_)) = (&self.planned, error) else {
            return false;
        };
        self.lost += u32::from(planned.route.lost_device());
        if !planned.route.lost_device() || self.lost > MOST_LOST {
            self.no_gpu = Some(error.to_string());
        }
        tracing::warn!("{error}; another way is tried");
        self.planned = None;
        true
    }

    /// The plan for this frame.
    pub(crate) fn plan(
        &mut self,
        stream: &StreamFormat,
        source: &Source<'_>,
        orientation: Orientation,
        capabilities: &Arc<Capabilities>,
    ) -> Result<&mut Planned, PlanError> {
        let picture = checked(source.layout.picture(stream.pixel_aspect, orientation))?;
        let wanted = Wanted {
            stream,
            source,
            picture,
            capabilities,
            asked: &self.asked,
            no_gpu: self.no_gpu.as_deref(),
        };
        let before = match self.planned.take() {
            Some(mut planned) if planned.serves(wanted) => {
                planned.capabilities = Arc::clone(capabilities);
                return Ok(self.planned.insert(planned));
            }
            before => before,
        };
        let before = before.map(|planned| planned.route);
        let (route, plan) = Route::choose(before, wanted, &self.released)?;
        let news = Some(route.description());
        Ok(self.planned.insert(Planned {
            picture,
            format: source.format(),
            capabilities: Arc::clone(capabilities),
            stale: false,
            plan,
            route,
            news,
        }))
    }
}

/// A picture that can be shown. Pixels of an absurd shape count as square: a wrong number in a file is no reason to show
/// nothing.
fn checked(picture: Picture) -> Result<Picture, PictureError> {
    match picture.checked() {
        Err(PictureError::PixelAspect(..)) => Picture {
            pixel_aspect: (1, 1),
            ..picture
        }
        .checked(),
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use veil_frame::Size;

    #[test]
    fn pixels_of_an_absurd_shape_count_as_square() {
        let picture = Picture {
            pixel_aspect: (1, 65536),
            ..Picture::plain(Size::new(8, 8))
        };
        assert_eq!(checked(picture).unwrap().pixel_aspect, (1, 1));
        let sane = Picture {
            pixel_aspect: (16, 11),
            ..picture
        };
        assert_eq!(checked(sane).unwrap(), sane);
        assert!(checked(Picture::plain(Size::new(8, 0))).is_err());
    }
}

//! What is drawn, and by which route: decided when the picture, the stream or the demand changes, and kept until then.

use crate::{
    Capabilities,
    caps::StreamFormat,
    description::RouteDescription,
    route::{Route, RouteError},
};
use std::sync::Arc;
use veil_frame::{Picture, PictureError, TargetPlan, presentable::Released};

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
    generation: u64,
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
    fn serves(&self, picture: Picture, capabilities: &Capabilities) -> Result<bool, PlanError> {
        if self.stale || self.picture != picture {
            return Ok(false);
        }
        // Many changes of the demand do not change what is drawn.
        Ok(self.generation == capabilities.generation
            || TargetPlan::new(checked(picture)?, &capabilities.demand) == self.plan)
    }
}

/// Makes plans, and keeps the present one.
#[derive(Debug)]
pub(crate) struct Planner {
    released: Arc<Released>,
    planned: Option<Planned>,
}

impl Planner {
    /// One without a plan; `released` is told of targets that became free.
    pub(crate) fn new(released: Arc<Released>) -> Self {
        Self {
            released,
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

    /// The plan for this picture.
    pub(crate) fn plan(
        &mut self,
        stream: &StreamFormat,
        picture: Picture,
        capabilities: &Capabilities,
    ) -> Result<&mut Planned, PlanError> {
        let generation = capabilities.generation;
        let before = match self.planned.take() {
            Some(mut planned) if planned.serves(picture, capabilities)? => {
                planned.generation = generation;
                return Ok(self.planned.insert(planned));
            }
            before => before,
        };
        let plan = TargetPlan::new(checked(picture)?, &capabilities.demand);
        let route = Route::choose(before.map(|planned| planned.route), stream, &plan, &self.released)?;
        let news = Some(route.description());
        Ok(self.planned.insert(Planned {
            picture,
            generation,
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

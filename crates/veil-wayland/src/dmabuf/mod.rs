//! What the compositor takes in dmabufs: `zwp_linux_dmabuf_v1`.
//!
//! Since version 4 each surface has its own feedback, which may come anew at any time; until it has come the default
//! feedback holds. Version 3 lists pairs of format and modifier once. A pair outside of these must not be sent. A pair inside
//! may be refused all the same: so the first buffer of a pair is asked for by `create`, which answers, and only when that
//! went well are further ones made by `create_immed`, for which a refusal may be a fatal error.

mod feedback;

pub(crate) use feedback::{Feedback, FeedbackOf};

use crate::{
    buffer::{InFlight, Quiet},
    desktop::{Desktop, Event},
    surface::SurfaceId,
};
use drm_fourcc::{DrmFormat, DrmFourcc, DrmModifier};
use smithay_client_toolkit::dispatch2::Dispatch2;
use std::sync::Arc;
use veil_frame::{DmabufSupport, Matrix, Range};
use wayland_client::{
    Connection, Proxy, QueueHandle, backend::ObjectData, globals::GlobalList, protocol::wl_buffer::WlBuffer,
};
use wayland_protocols::wp::{
    color_representation::v1::client::wp_color_representation_manager_v1::WpColorRepresentationManagerV1,
    linux_dmabuf::zv1::client::{
        zwp_linux_buffer_params_v1::{self, EVT_CREATED_OPCODE, ZwpLinuxBufferParamsV1},
        zwp_linux_dmabuf_feedback_v1::ZwpLinuxDmabufFeedbackV1,
        zwp_linux_dmabuf_v1::{self, ZwpLinuxDmabufV1},
    },
};

/// The version from which on there is feedback.
const FEEDBACK: u32 = 4;

/// A pair as the protocol sends it; `None` of formats that are unheard of, and of buffers without a modifier.
pub(super) fn pair(format: u32, modifier: u64) -> Option<DrmFormat> {
    let modifier = DrmModifier::from(modifier);
    let code = DrmFourcc::try_from(format).ok()?;
    // A buffer of the driver's own choice: what that is, nobody says. It is not LINEAR.
    (modifier != DrmModifier::Invalid).then_some(DrmFormat { code, modifier })
}

/// What is known of dmabufs on this connection.
#[derive(Debug, Default)]
pub(crate) struct Dmabufs {
    manager: Option<ZwpLinuxDmabufV1>,
    pub(crate) representation: Option<WpColorRepresentationManagerV1>,
    /// Never destroyed before the connection is: it goes on telling what new surfaces take.
    _default_feedback: Option<ZwpLinuxDmabufFeedbackV1>,
    /// What every surface takes unless its own feedback says otherwise; by versions before 4, what all take.
    everywhere: Feedback,
    /// Codings of YCbCr that `wp_color_representation_v1` can name here.
    pub(crate) codings: Vec<(Matrix, Range)>,
    proven: Vec<DrmFormat>,
    rejected: Vec<DrmFormat>,
}

impl Dmabufs {
    pub(crate) fn bind(globals: &GlobalList, qh: &QueueHandle<Desktop>) -> Self {
        let manager: Option<ZwpLinuxDmabufV1> = globals.bind(qh, 3..=5, Quiet).ok();
        let default_feedback = manager
            .as_ref()
            .filter(|manager| manager.version() >= FEEDBACK)
            .map(|manager| manager.get_default_feedback(qh, FeedbackOf::default()));
        Self {
            representation: manager.as_ref().and_then(|_| globals.bind(qh, 1..=1, Quiet).ok()),
            manager,
            _default_feedback: default_feedback,
            ..Self::default()
        }
    }

    /// The device of what every surface takes.
    pub(crate) fn device(&self) -> Option<u64> {
        self.everywhere.device
    }

    /// Asks for the feedback of a surface.
    pub(crate) fn feedback_of(
        &self,
        qh: &QueueHandle<Desktop>,
        surface: &wayland_client::protocol::wl_surface::WlSurface,
        id: SurfaceId,
    ) -> Option<ZwpLinuxDmabufFeedbackV1> {
        let manager = self.manager.as_ref()?;
        (manager.version() >= FEEDBACK)
            .then(|| manager.get_surface_feedback(surface, qh, FeedbackOf::surface(id)))
    }

    /// What a surface takes, whose own feedback this is, if it has come.
    pub(crate) fn support(&self, own: Option<&Feedback>) -> Option<DmabufSupport> {
        self.manager.as_ref()?;
        let feedback = own.unwrap_or(&self.everywhere);
        let taken = |format: &&DrmFormat| !self.rejected.contains(format);
        Some(DmabufSupport {
            device: feedback.device,
            formats: feedback.formats.iter().filter(taken).copied().collect(),
            codings: self.codings.clone(),
            colours: Vec::new(),
            explicit_sync: false,
        })
    }

    /// Whether a surface, whose own feedback this is, takes this pair.
    pub(crate) fn takes(&self, own: Option<&Feedback>, format: DrmFormat) -> bool {
        let feedback = own.unwrap_or(&self.everywhere);
        feedback.formats.contains(&format) && !self.rejected.contains(&format)
    }

    /// Whether a buffer of this pair was made before.
    pub(crate) fn is_proven(&self, format: DrmFormat) -> bool {
        self.proven.contains(&format)
    }

    /// What buffers are made with.
    pub(crate) fn params(&self, qh: &QueueHandle<Desktop>, wanted: Wanted) -> Option<ZwpLinuxBufferParamsV1> {
        Some(self.manager.as_ref()?.create_params(qh, wanted))
    }
}

/// Which buffer was asked for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wanted {
    pub(crate) surface: SurfaceId,
    /// The target's number.
    pub(crate) target: u64,
    pub(crate) format: DrmFormat,
}

impl Dispatch2<ZwpLinuxBufferParamsV1, Desktop> for Wanted {
    fn event(
        &self,
        desktop: &mut Desktop,
        params: &ZwpLinuxBufferParamsV1,
        event: zwp_linux_buffer_params_v1::Event,
        _: &Connection,
        _: &QueueHandle<Desktop>,
    ) {
        params.destroy();
        match event {
            zwp_linux_buffer_params_v1::Event::Created { buffer } => {
                let proven = &mut desktop.globals.dmabufs.proven;
                if !proven.contains(&self.format) {
                    proven.push(self.format);
                }
                desktop.buffer_created(*self, buffer);
            }
            zwp_linux_buffer_params_v1::Event::Failed => {
                let rejected = &mut desktop.globals.dmabufs.rejected;
                if !rejected.contains(&self.format) {
                    rejected.push(self.format);
                }
                desktop.buffer_rejected(*self);
            }
            _ => {}
        }
    }

    fn event_created_child(opcode: u16, qh: &QueueHandle<Desktop>) -> Arc<dyn ObjectData> {
        debug_assert_eq!(opcode, EVT_CREATED_OPCODE, "the only event with a new object");
        qh.make_data::<WlBuffer, _>(InFlight::default())
    }
}

impl Dispatch2<ZwpLinuxDmabufV1, Desktop> for Quiet {
    fn event(
        &self,
        desktop: &mut Desktop,
        manager: &ZwpLinuxDmabufV1,
        event: zwp_linux_dmabuf_v1::Event,
        _: &Connection,
        _: &QueueHandle<Desktop>,
    ) {
        let zwp_linux_dmabuf_v1::Event::Modifier {
            format,
            modifier_hi,
            modifier_lo,
        } = event
        else {
            // Formats without modifiers, which `modifier` repeats since version 3.
            return;
        };
        let modifier = u64::from(modifier_hi) << 32 | u64::from(modifier_lo);
        let formats = &mut desktop.globals.dmabufs.everywhere.formats;
        if manager.version() < FEEDBACK
            && let Some(pair) = pair(format, modifier)
            && !formats.contains(&pair)
        {
            formats.push(pair);
        }
    }
}

impl Desktop {
    /// Feedback has come: of a surface, or the default.
    fn feedback(&mut self, of: Option<SurfaceId>, feedback: Feedback) {
        match of {
            None => {
                self.globals.dmabufs.everywhere = feedback;
                let others = self
                    .surfaces
                    .iter()
                    .filter(|(_, on)| on.tree.feedback().is_none());
                let ids: Vec<_> = others.map(|(id, _)| *id).collect();
                for id in ids {
                    self.push(Event::SupportChanged(id));
                }
            }
            Some(id) => {
                if let Some(surface) = self.surfaces.get_mut(&id)
                    && surface.tree.set_feedback(feedback)
                {
                    self.push(Event::SupportChanged(id));
                }
            }
        }
    }

    fn support_changed_everywhere(&mut self) {
        let ids: Vec<_> = self.surfaces.keys().copied().collect();
        for id in ids {
            self.push(Event::SupportChanged(id));
        }
    }

    fn buffer_created(&mut self, wanted: Wanted, buffer: WlBuffer) {
        match self.surfaces.get_mut(&wanted.surface) {
            Some(surface) => {
                surface.tree.buffer_created(wanted.target, buffer);
                self.show_awaited(wanted.surface);
            }
            None => buffer.destroy(),
        }
    }

    fn buffer_rejected(&mut self, wanted: Wanted) {
        let given_up = self
            .surfaces
            .get_mut(&wanted.surface)
            .and_then(|surface| surface.tree.buffer_rejected(wanted.target));
        self.give_up(wanted.surface, given_up);
        self.push(Event::BufferRejected {
            surface: wanted.surface,
            format: wanted.format,
        });
        self.support_changed_everywhere();
    }
}

//! `zwp_linux_dmabuf_v1`: what is taken, as a test says it, and how clients are told.

use std::fs::File;
use std::io::Write;
use std::os::fd::{AsFd, AsRawFd};

use drm_fourcc::DrmFormat;
use rustix::fs::{MemfdFlags, memfd_create};
use wayland_protocols::wp::linux_dmabuf::zv1::server::{
    zwp_linux_dmabuf_feedback_v1::{self, TrancheFlags, ZwpLinuxDmabufFeedbackV1},
    zwp_linux_dmabuf_v1::{self, ZwpLinuxDmabufV1},
};
use wayland_server::backend::ClientId;
use wayland_server::{Client, DataInit, Dispatch, DisplayHandle, Resource};

use super::params::Params;
use super::record::SurfaceId;
use super::state::State;
use super::surface::surface_id;

/// The version from which on there is feedback.
const FEEDBACK: u32 = 4;

/// What a [`Mock`](super::Mock) takes in dmabufs.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MockDmabuf {
    /// The main device, a `dev_t`.
    pub device: u64,
    /// What it takes, best first.
    pub tranches: Vec<MockTranche>,
    /// Pairs that are in the table of formats, and in no tranche: it does not take them.
    pub table_only: Vec<DrmFormat>,
    /// Pairs that it lists, and then refuses: `failed` for `create`, the client's end for `create_immed`.
    pub refused: Vec<DrmFormat>,
    /// Surfaces do not hear of what is theirs before [`Mock::set_surface_dmabuf`](super::Mock::set_surface_dmabuf).
    pub silent: bool,
    /// `create` is answered only by [`Mock::answer_creations`](super::Mock::answer_creations).
    pub by_hand: bool,
}

/// A tranche of feedback.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MockTranche {
    /// The target device, a `dev_t`.
    pub device: u64,
    /// Whether its buffers may be scanned out.
    pub scanout: bool,
    /// Its pairs.
    pub formats: Vec<DrmFormat>,
}

impl MockDmabuf {
    /// One that takes these on one device.
    pub fn new(device: u64, formats: impl IntoIterator<Item = DrmFormat>) -> Self {
        Self {
            device,
            tranches: vec![MockTranche {
                device,
                scanout: false,
                formats: formats.into_iter().collect(),
            }],
            ..Self::default()
        }
    }

    /// One more tranche, better than those before.
    pub fn before(mut self, tranche: MockTranche) -> Self {
        self.tranches.insert(0, tranche);
        self
    }

    pub(super) fn takes(&self, format: DrmFormat) -> bool {
        let mut formats = self.tranches.iter().flat_map(|tranche| &tranche.formats);
        formats.any(|taken| *taken == format)
    }

    /// The table of formats, for reading only, its bytes, and which entries of it a tranche has. What is in no tranche is in
    /// front, so that an index is never right by chance.
    fn table(&self) -> std::io::Result<(File, u32, Vec<Vec<u8>>)> {
        let mut file = File::from(memfd_create(c"formats", MemfdFlags::CLOEXEC)?);
        let mut entries = 0u16;
        let mut add = |format: &DrmFormat| -> std::io::Result<u16> {
            file.write_all(&(format.code as u32).to_ne_bytes())?;
            // Bytes that nobody must look at.
            file.write_all(&[0xa5; 4])?;
            file.write_all(&u64::from(format.modifier).to_ne_bytes())?;
            entries += 1;
            Ok(entries - 1)
        };
        for format in &self.table_only {
            add(format)?;
        }
        let mut indices = Vec::new();
        for tranche in &self.tranches {
            let mut bytes = Vec::new();
            for format in &tranche.formats {
                bytes.extend(add(format)?.to_ne_bytes());
            }
            indices.push(bytes);
        }
        let reader = File::open(format!("/proc/self/fd/{}", file.as_raw_fd()))?;
        Ok((reader, u32::from(entries) * 16, indices))
    }

    fn tell(&self, feedback: &ZwpLinuxDmabufFeedbackV1) -> std::io::Result<()> {
        let (table, size, indices) = self.table()?;
        feedback.format_table(table.as_fd(), size);
        feedback.main_device(self.device.to_ne_bytes().to_vec());
        for (tranche, indices) in self.tranches.iter().zip(indices) {
            feedback.tranche_target_device(tranche.device.to_ne_bytes().to_vec());
            let flags = if tranche.scanout {
                TrancheFlags::Scanout
            } else {
                TrancheFlags::empty()
            };
            feedback.tranche_flags(flags);
            feedback.tranche_formats(indices);
            feedback.tranche_done();
        }
        feedback.done();
        Ok(())
    }
}

/// What is known of dmabufs.
#[derive(Debug, Default)]
pub(super) struct Dmabufs {
    pub(super) everywhere: MockDmabuf,
    pub(super) own: Vec<(SurfaceId, MockDmabuf)>,
    feedback: Vec<(ZwpLinuxDmabufFeedbackV1, Option<SurfaceId>)>,
}

impl Dmabufs {
    /// Whether any surface takes this.
    pub(super) fn takes(&self, format: DrmFormat) -> bool {
        let own = self.own.iter().map(|(_, own)| own);
        own.chain([&self.everywhere]).any(|all| all.takes(format))
    }
}

impl State {
    /// Formats and modifiers as they were told before there was feedback.
    pub(super) fn tell_modifiers(&self, dmabuf: &ZwpLinuxDmabufV1) {
        if dmabuf.version() >= FEEDBACK {
            return;
        }
        for format in self.dmabufs.everywhere.tranches.iter().flat_map(|t| &t.formats) {
            let modifier = u64::from(format.modifier);
            dmabuf.format(format.code as u32);
            dmabuf.modifier(format.code as u32, (modifier >> 32) as u32, modifier as u32);
        }
    }

    fn tell_feedback(&mut self, feedback: &ZwpLinuxDmabufFeedbackV1, of: Option<SurfaceId>) {
        let own = self.dmabufs.own.iter().find(|(id, _)| Some(*id) == of);
        let told = match (own, of) {
            (Some((_, own)), _) => own,
            (None, Some(_)) if self.dmabufs.everywhere.silent => return,
            (None, _) => &self.dmabufs.everywhere,
        };
        if let Err(error) = told.tell(feedback) {
            self.complaints.push(format!("no table of formats: {error}"));
        }
    }

    /// Tells whom it concerns that this is taken now: everybody, or a surface.
    pub(super) fn set_dmabuf(&mut self, of: Option<SurfaceId>, dmabuf: MockDmabuf) {
        match of {
            None => self.dmabufs.everywhere = dmabuf,
            Some(id) => {
                self.dmabufs.own.retain(|(known, _)| *known != id);
                self.dmabufs.own.push((id, dmabuf));
            }
        }
        for (feedback, whose) in self.dmabufs.feedback.clone() {
            let own = self.dmabufs.own.iter().any(|(id, _)| Some(*id) == whose);
            if whose == of || (of.is_none() && !own) {
                self.tell_feedback(&feedback, whose);
            }
        }
    }
}

impl Dispatch<ZwpLinuxDmabufV1, ()> for State {
    fn request(
        state: &mut Self,
        _: &Client,
        dmabuf: &ZwpLinuxDmabufV1,
        request: zwp_linux_dmabuf_v1::Request,
        (): &(),
        _: &DisplayHandle,
        init: &mut DataInit<'_, Self>,
    ) {
        let (id, of) = match request {
            zwp_linux_dmabuf_v1::Request::CreateParams { params_id } => {
                init.init(params_id, Params::new(dmabuf.version()));
                return;
            }
            zwp_linux_dmabuf_v1::Request::GetDefaultFeedback { id } => (id, None),
            zwp_linux_dmabuf_v1::Request::GetSurfaceFeedback { id, surface } => {
                (id, Some(surface_id(&surface)))
            }
            _ => return,
        };
        let feedback = init.init(id, ());
        state.dmabufs.feedback.push((feedback.clone(), of));
        state.tell_feedback(&feedback, of);
    }
}

impl Dispatch<ZwpLinuxDmabufFeedbackV1, ()> for State {
    fn request(
        _: &mut Self,
        _: &Client,
        _: &ZwpLinuxDmabufFeedbackV1,
        _: zwp_linux_dmabuf_feedback_v1::Request,
        (): &(),
        _: &DisplayHandle,
        _: &mut DataInit<'_, Self>,
    ) {
    }

    fn destroyed(state: &mut Self, _: ClientId, feedback: &ZwpLinuxDmabufFeedbackV1, (): &()) {
        state.dmabufs.feedback.retain(|(known, _)| known != feedback);
    }
}

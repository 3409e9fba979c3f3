//! What is upstream of the sink: which device decodes.
//!
//! Only the decoder knows. Elements of VA-API and its like say so in a property, the path of a render node. Those that
//! decode by the CPU have none.

use gstreamer as gst;

use gst::{glib, prelude::*};
use std::path::Path;

/// The property that names the render node.
const PROPERTY: &str = "device-path";
/// More elements than there are between a decoder and its sink.
const MOST: usize = 32;

/// The number (`dev_t`) of the node of the device that decodes what comes to this pad; `None` where nobody says.
pub(crate) fn device(sink: &gst::Pad) -> Option<u64> {
    let mut pad = sink.peer()?;
    for _ in 0..MOST {
        let element = pad.parent_element()?;
        if element
            .find_property(PROPERTY)
            .is_some_and(|spec| spec.value_type() == glib::Type::STRING)
        {
            let path = element.property::<Option<String>>(PROPERTY)?;
            return veil_dmabuf::node::number(Path::new(&path));
        }
        if let Some(ghost) = pad.downcast_ref::<gst::GhostPad>() {
            // Into the bin.
            pad = ghost.target()?;
            continue;
        }
        let input = pad.iterate_internal_links().into_iter().flatten().next()?;
        pad = source(input)?;
    }
    None
}

/// The pad that feeds this one, also from outside of the bin that it is in.
fn source(input: gst::Pad) -> Option<gst::Pad> {
    let mut peer = input.peer()?;
    // The inner side of a bin's pad; what is linked to its outer side feeds it.
    while let Some(proxy) = peer
        .downcast_ref::<gst::ProxyPad>()
        .filter(|_| !peer.is::<gst::GhostPad>())
    {
        peer = proxy.internal()?.upcast::<gst::Pad>().peer()?;
    }
    Some(peer)
}

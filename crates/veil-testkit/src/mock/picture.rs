//! What an output would show: surfaces laid over each other, as a compositor with nearest-neighbour scaling does.

use anyhow::{Context, Result};
use image::{Rgb, RgbImage};

use super::buffer::Buffer;
use super::node::Node;
use super::record::{Role, SurfaceId};
use super::state::State;
use crate::screenshot::Shot;

impl State {
    /// An upright picture of an output, in its own pixels. Black where nothing is.
    pub(super) fn picture(&self, name: &str) -> Result<Shot> {
        let screen = self
            .screen(name)
            .with_context(|| format!("there is no output {name}"))?;
        let (w, h) = screen.spec.pixels();
        let logical = screen.spec.logical();
        let scale = (
            f64::from(w) / f64::from(logical.0),
            f64::from(h) / f64::from(logical.1),
        );
        let mut image = RgbImage::new(w, h);
        let mut roots: Vec<(u32, SurfaceId)> = self
            .surfaces
            .iter()
            .filter_map(|(id, node)| match &node.role {
                Role::Layer(layer) if layer.output == name => Some((layer.layer, *id)),
                // Windows are above the two lower layers.
                Role::Window { .. } if self.output_of(*id) == Some(name) => Some((2, *id)),
                _ => None,
            })
            .collect();
        roots.sort();
        for (_, root) in roots {
            if self.is_mapped(root) {
                self.draw(&mut image, root, (0, 0), scale)?;
            }
        }
        Ok(Shot::from_image(image))
    }

    fn draw(&self, image: &mut RgbImage, id: SurfaceId, at: (i32, i32), scale: (f64, f64)) -> Result<()> {
        let Some(node) = self.surfaces.get(&id) else {
            return Ok(());
        };
        draw_surface(image, node, at, scale)?;
        for child in &node.children {
            if let Some(Role::Subsurface { position, .. }) = self.surfaces.get(child).map(|node| &node.role) {
                self.draw(image, *child, (at.0 + position.0, at.1 + position.1), scale)?;
            }
        }
        Ok(())
    }
}

fn draw_surface(image: &mut RgbImage, node: &Node, at: (i32, i32), scale: (f64, f64)) -> Result<()> {
    let Some(buffer) = node
        .buffer
        .as_ref()
        .and_then(|buffer| wayland_server::Resource::data::<Buffer>(buffer))
    else {
        return Ok(());
    };
    let pixels = buffer.pixels(node.representation)?;
    let (buffer_w, buffer_h) = buffer.size();
    let (content_w, content_h) = node.content_size().unwrap_or((1, 1));
    let [source_x, source_y, source_w, source_h] =
        node.source
            .unwrap_or([0.0, 0.0, f64::from(content_w), f64::from(content_h)]);
    let (dest_w, dest_h) = node.destination.unwrap_or((source_w as i32, source_h as i32));
    // Edges go to the nearest pixel, as real compositors have it.
    let edge = |logical: i32, scale: f64, limit: u32| {
        ((f64::from(logical) * scale).round().max(0.0) as u32).min(limit)
    };
    let (left, right) = (
        edge(at.0, scale.0, image.width()),
        edge(at.0 + dest_w, scale.0, image.width()),
    );
    let (top, bottom) = (
        edge(at.1, scale.1, image.height()),
        edge(at.1 + dest_h, scale.1, image.height()),
    );
    let (origin, size) = (
        (
            (f64::from(at.0) * scale.0).round(),
            (f64::from(at.1) * scale.1).round(),
        ),
        (
            (f64::from(at.0 + dest_w) * scale.0).round() - (f64::from(at.0) * scale.0).round(),
            (f64::from(at.1 + dest_h) * scale.1).round() - (f64::from(at.1) * scale.1).round(),
        ),
    );
    let (upright_w, upright_h) = (f64::from(content_w), f64::from(content_h));
    for y in top..bottom {
        for x in left..right {
            let sx = source_x + (f64::from(x) + 0.5 - origin.0) / size.0 * source_w;
            let sy = source_y + (f64::from(y) + 0.5 - origin.1) / size.1 * source_h;
            let (bx, by) = turned(node.transform, (sx, sy), (upright_w, upright_h));
            let factor = f64::from(node.scale);
            let column = ((bx * factor) as i32).clamp(0, buffer_w - 1);
            let row = ((by * factor) as i32).clamp(0, buffer_h - 1);
            let [r, g, b, alpha] = pixels[(row * buffer_w + column) as usize];
            let below = image.get_pixel_mut(x, y);
            let rest = 255 - u32::from(alpha);
            let over =
                |new: u8, old: u8| (u32::from(new) + (u32::from(old) * rest + 127) / 255).min(255) as u8;
            *below = Rgb([over(r, below.0[0]), over(g, below.0[1]), over(b, below.0[2])]);
        }
    }
    Ok(())
}

/// Where in the buffer a point of the upright content lies. A transform of 90 says that the client has turned its content
/// by 90 degrees against the clock.
fn turned(transform: u32, (x, y): (f64, f64), (w, h): (f64, f64)) -> (f64, f64) {
    match transform {
        1 => (y, w - x),
        2 => (w - x, h - y),
        3 => (h - y, x),
        4 => (w - x, y),
        5 => (y, x),
        6 => (x, h - y),
        7 => (h - y, w - x),
        _ => (x, y),
    }
}

use veil_convert::*;
use veil_frame::*;
fn main() {
    let a: Vec<String> = std::env::args().collect();
    let f = PixelFormat::from_name(&a[1]).unwrap();
    let n: Vec<u32> = a[2..6].iter().map(|v| v.parse().unwrap()).collect();
    let stored = Size::new(n[0], n[1]);
    let size = Size::new(n[2], n[3]);
    let tr = if a.len() > 6 { Transfer::Pq } else { Transfer::Sdr };
    let spec = Spec {
        format: f,
        stored,
        colorimetry: Colorimetry {
            transfer: tr,
            ..Colorimetry::assumed(1080)
        },
        site: ChromaSite::LEFT,
        crop: RectF {
            x: 0.0,
            y: 0.0,
            w: stored.w as f64,
            h: stored.h as f64,
        },
        size,
    };
    let mut c = Converter::new(&spec).unwrap();
    let i = f.info();
    let fr: Vec<Vec<u8>> = (0..i.planes as usize)
        .map(|p| vec![77u8; i.plane_row_bytes(p, stored.w) * i.plane_rows(p, stored.h) as usize])
        .collect();
    let mut out = vec![0u8; (size.w * size.h * 4) as usize];
    let mut p = Planes::default();
    for (k, d) in fr.iter().enumerate() {
        p.data[k] = d;
        p.stride[k] = i.plane_row_bytes(k, stored.w);
    }
    let t = std::time::Instant::now();
    for _ in 0..500 {
        c.convert(&p, &mut out, size.w as usize * 4).unwrap();
    }
    println!("{:.3} ms", t.elapsed().as_secs_f64() * 2.0);
}

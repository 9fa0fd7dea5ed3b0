//! Conversion of drawn digits to MNIST images.

/// Point on the drawing board, measured from its top left corner.
pub type PenPoint = (f32, f32);

/// Side of the square drawing board.
pub const BOARD: f32 = 100.0;
/// Width of the pen, in the same unit.
pub const PEN: f32 = 11.0;

/// Side of an image, in pixels.
const SIDE: usize = 28;
/// Side of the box that a digit fits into, in pixels.
const BOX: usize = 20;
/// Rows and columns of samples per pixel of the box.
const SAMPLES: usize = 4;
const GRID: usize = BOX * SAMPLES;

/// Converts a drawing to an MNIST image: one byte per pixel, white on black. Returns `None` for an empty drawing.
///
/// The drawing is prepared like the digits of MNIST: scaled to fit a box of 20 × 20 pixels without changing its aspect
/// ratio, antialiased to gray levels, and placed with its center of mass at the center of 28 × 28 pixels. Source:
/// LeCun, Bottou, Bengio and Haffner (1998), Gradient-Based Learning Applied to Document Recognition, section III A.
pub fn image(strokes: &[Vec<PenPoint>]) -> Option<Vec<u8>> {
    let ink = rasterize(strokes)?;
    let mut levels = [[0; BOX]; BOX];
    for (y, row) in levels.iter_mut().enumerate() {
        for (x, level) in row.iter_mut().enumerate() {
            let rows = ink[y * SAMPLES..][..SAMPLES].iter();
            *level = rows.flat_map(|row| &row[x * SAMPLES..][..SAMPLES]).filter(|is_ink| **is_ink).count();
        }
    }
    let left = margin(|along| levels.iter().map(|row| row[along]).sum());
    let top = margin(|along| levels[along].iter().sum());
    let mut image = vec![0; SIDE * SIDE];
    for (y, row) in levels.iter().enumerate() {
        for (x, &level) in row.iter().enumerate().filter(|(_, level)| **level > 0) {
            let byte = level * 255 / (SAMPLES * SAMPLES);
            image[(top + y) * SIDE + left + x] = u8::try_from(byte).unwrap_or(u8::MAX);
        }
    }
    Some(image)
}

/// Returns the margin in pixels that centers the ink along one axis; `mass` is the ink of a row or column.
fn margin(mass: impl Fn(usize) -> usize) -> usize {
    let masses = (0..BOX).map(mass);
    let (mut sum, mut moment, mut extent) = (0, 0, 0);
    for (place, mass) in masses.enumerate().filter(|(_, mass)| *mass > 0) {
        sum += mass;
        // Twice the position of the pixel's center, which is an integer.
        moment += mass * (2 * place + 1);
        extent = place + 1;
    }
    // `SIDE / 2 - moment / sum / 2`, rounded to a whole pixel.
    let margin = ((SIDE + 1) * sum).saturating_sub(moment) / (2 * sum).max(1);
    margin.min(SIDE - extent)
}

type Ink = [[bool; GRID]; GRID];

/// Rasterizes the drawing, scaled so that its longer side fills the box.
fn rasterize(strokes: &[Vec<PenPoint>]) -> Option<Box<Ink>> {
    let points = || strokes.iter().flatten();
    points().next()?;
    let bounds = |of: fn(&PenPoint) -> f32| {
        let (low, high) = points().map(of).fold((f32::MAX, f32::MIN), |(low, high), at| (low.min(at), high.max(at)));
        (low - PEN / 2.0, high + PEN / 2.0)
    };
    let ((left, right), (top, bottom)) = (bounds(|point| point.0), bounds(|point| point.1));
    let scale = GRID as f32 / (right - left).max(bottom - top);
    let place = |&(x, y): &PenPoint| ((x - left) * scale, (y - top) * scale);
    let mut ink = Box::new([[false; GRID]; GRID]);
    for stroke in strokes {
        // A dot is a line from a point to itself.
        for (from, to) in stroke.first().into_iter().chain(stroke).zip(stroke) {
            draw_line(&mut ink, place(from), place(to), PEN / 2.0 * scale);
        }
    }
    Some(ink)
}

fn draw_line(ink: &mut Ink, from: PenPoint, to: PenPoint, radius: f32) {
    let (dx, dy) = (to.0 - from.0, to.1 - from.1);
    let squared = (dx * dx + dy * dy).max(f32::MIN_POSITIVE);
    let (top, bottom) = (from.1.min(to.1) - radius, from.1.max(to.1) + radius);
    for (y, row) in ink.iter_mut().enumerate() {
        let y = y as f32 + 0.5;
        if !(top..=bottom).contains(&y) {
            continue;
        }
        for (x, is_ink) in row.iter_mut().enumerate() {
            let (x, y) = (x as f32 + 0.5 - from.0, y - from.1);
            let along = ((x * dx + y * dy) / squared).clamp(0.0, 1.0);
            let (x, y) = (x - along * dx, y - along * dy);
            *is_ink |= x * x + y * y <= radius * radius;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drawn(strokes: &[Vec<PenPoint>]) -> Vec<Vec<u8>> {
        image(strokes).unwrap().chunks_exact(SIDE).map(<[u8]>::to_vec).collect()
    }

    fn extent(is_ink: impl Fn(usize) -> bool) -> (usize, usize) {
        let places: Vec<usize> = (0..SIDE).filter(|&place| is_ink(place)).collect();
        (places[0], places[places.len() - 1])
    }

    fn rows(image: &[Vec<u8>]) -> (usize, usize) {
        extent(|y| image[y].iter().any(|&level| level > 0))
    }

    fn columns(image: &[Vec<u8>]) -> (usize, usize) {
        extent(|x| image.iter().any(|row| row[x] > 0))
    }

    #[test]
    fn empty_drawing_has_no_image() {
        assert_eq!(image(&[]), None);
        assert_eq!(image(&[Vec::new()]), None);
    }

    #[test]
    fn centers_stroke_in_corner_and_fills_box() {
        let image = drawn(&[vec![(5.0, 5.0), (5.0, 20.0), (5.0, 35.0)]]);
        assert_eq!(rows(&image), (4, 23));
        let (first, last) = columns(&image);
        assert!((SIDE - 2..=SIDE).contains(&(first + last)), "{first} to {last} is not the middle");
        assert!((5..=6).contains(&(last - first + 1)), "11 of 41 units are 5.4 of 20 pixels: {first} to {last}");
    }

    #[test]
    fn wide_drawing_keeps_aspect_ratio() {
        let image = drawn(&[vec![(10.0, 50.0), (90.0, 50.0)]]);
        assert_eq!(columns(&image), (4, 23));
        let (first, last) = rows(&image);
        assert!(last - first <= 3, "{first} to {last}");
    }

    #[test]
    fn center_of_mass_is_centered() {
        // A seven has most of its ink at the top.
        let image = drawn(&[vec![(30.0, 20.0), (70.0, 20.0), (45.0, 80.0)]]);
        let mut sums = [0.0; 3];
        for (y, row) in image.iter().enumerate() {
            for (x, &level) in row.iter().enumerate() {
                let level = f64::from(level);
                sums = [sums[0] + level, sums[1] + level * (x as f64 + 0.5), sums[2] + level * (y as f64 + 0.5)];
            }
        }
        for moment in &sums[1..] {
            let center = moment / sums[0];
            assert!((center - 14.0).abs() <= 0.51, "{center}");
        }
        assert!(rows(&image).0 > 4, "the ink reaches further down than up");
    }

    #[test]
    fn edges_are_gray_and_interior_is_white() {
        let image = image(&[vec![(20.0, 20.0), (80.0, 80.0)], vec![(80.0, 20.0)]]).unwrap();
        assert!(image.contains(&255) && image.contains(&0));
        assert!(image.iter().any(|level| (64..192).contains(level)));
    }
}

//! Splits CIFAR-10 into two files that compress to 49 MiB each with xz, for machines that receive little at a time
//! (docs/comparisons/gpu).
//!
//! Each color is replaced by its difference from a prediction, which compresses to two thirds.

use std::path::Path;
use std::{env, fs};

use anyhow::{Context, Result, bail, ensure};

const USAGE: &str = "usage: halves split DATA OUT     reads cifar10-train.bin and cifar10-test.bin in DATA
       halves join HALVES DATA   restores them from cifar10-half-1 and cifar10-half-2 in HALVES";

/// Names and numbers of samples. Both files have a header, one byte per row, column and channel, and one per label.
const FILES: [(&str, usize); 2] = [("cifar10-train.bin", 50_000), ("cifar10-test.bin", 10_000)];
const HALVES: [&str; 2] = ["cifar10-half-1", "cifar10-half-2"];
const HEADER: usize = 32;
const SIDE: usize = 32;
const PIXELS: usize = SIDE * SIDE;

fn main() -> Result<()> {
    let arguments: Vec<String> = env::args().skip(1).collect();
    match &arguments[..] {
        [verb, data, out] if verb == "split" => split(Path::new(data), Path::new(out)),
        [verb, halves, data] if verb == "join" => join(Path::new(halves), Path::new(data)),
        _ => bail!("{USAGE}"),
    }
}

fn split(data: &Path, out: &Path) -> Result<()> {
    let mut all = Vec::new();
    for (name, samples) in FILES {
        let mut file = read(&data.join(name))?;
        ensure!(file.len() == length(samples), "{name} has {} bytes; fetch it again", file.len());
        file[HEADER..].chunks_exact_mut(3 * PIXELS).for_each(to_errors);
        all.extend(file);
    }
    let (first, second) = all.split_at(all.len() / 2);
    for (name, half) in HALVES.iter().zip([first, second]) {
        fs::write(out.join(name), half).with_context(|| format!("cannot write {name}"))?;
    }
    Ok(())
}

fn join(halves: &Path, data: &Path) -> Result<()> {
    let [first, second] = HALVES.map(|name| read(&halves.join(name)));
    let mut all = [first?, second?].concat();
    for (name, samples) in FILES {
        ensure!(all.len() >= length(samples), "the halves are truncated");
        let rest = all.split_off(length(samples));
        all[HEADER..].chunks_exact_mut(3 * PIXELS).for_each(to_colors);
        fs::write(data.join(name), all).with_context(|| format!("cannot write {name}"))?;
        all = rest;
    }
    Ok(())
}

fn length(samples: usize) -> usize {
    HEADER + samples * (3 * PIXELS + 1)
}

fn read(path: &Path) -> Result<Vec<u8>> {
    fs::read(path).with_context(|| format!("cannot read {}", path.display()))
}

/// Replaces the pixels of an image by prediction errors, channel after channel. Red and blue are relative to green.
fn to_errors(image: &mut [u8]) {
    let channel = |index: usize| image.iter().skip(index).step_by(3).copied();
    let relative = |index| channel(index).zip(channel(1)).map(|(color, green)| color.wrapping_sub(green));
    let planes: [Vec<u8>; 3] = [channel(1).collect(), relative(0).collect(), relative(2).collect()];
    for (plane, errors) in planes.iter().zip(image.chunks_exact_mut(PIXELS)) {
        (0..PIXELS).for_each(|at| errors[at] = plane[at].wrapping_sub(predict(plane, at)));
    }
}

/// Inverse of [`to_errors`].
fn to_colors(image: &mut [u8]) {
    for plane in image.chunks_exact_mut(PIXELS) {
        (0..PIXELS).for_each(|at| plane[at] = plane[at].wrapping_add(predict(plane, at)));
    }
    let planes = image.to_vec();
    let [green, red, blue] = [0, 1, 2].map(|index| &planes[index * PIXELS..][..PIXELS]);
    for (at, pixel) in image.chunks_exact_mut(3).enumerate() {
        pixel.copy_from_slice(&[red[at].wrapping_add(green[at]), green[at], blue[at].wrapping_add(green[at])]);
    }
}

/// Returns the median of the left value, the upper value and the plane through both and the corner, as JPEG-LS does
/// (ITU-T T.87, A.4.1).
fn predict(plane: &[u8], at: usize) -> u8 {
    let value = |at: Option<usize>| at.map_or(0, |at| plane[at]);
    let (left, up) = ((!at.is_multiple_of(SIDE)).then(|| at - 1), at.checked_sub(SIDE));
    let (west, north) = (value(left.or(up)), value(up.or(left)));
    let corner = value(left.and(up).map(|up| up - 1).or(left).or(up));
    let plane = i16::from(west) + i16::from(north) - i16::from(corner);
    let median = plane.clamp(west.min(north).into(), west.max(north).into());
    u8::try_from(median).expect("between two bytes")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colors_are_restored_from_errors() {
        let noise = (0..3 * PIXELS).map(|at| (at * 2_654_435_761).to_le_bytes()[2]);
        let gradient = (0..3 * PIXELS).map(|at| (at / 96 + at % 96).to_le_bytes()[0]);
        for image in [noise.collect::<Vec<u8>>(), gradient.collect()] {
            let mut changed = image.clone();
            to_errors(&mut changed);
            assert_ne!(changed, image);
            to_colors(&mut changed);
            assert_eq!(changed, image);
        }
    }
}

//! Packs CIFAR-10 losslessly into two files of 46 MB, for machines that receive little at a time
//! (docs/comparisons/gpu).
//!
//! Each color is predicted from its neighbors. The errors are arithmetically coded, with probabilities that adapt to
//! the contrast nearby.

use std::path::Path;
use std::{env, fs, thread};

use anyhow::{Context, Result, bail, ensure};

const USAGE: &str = "usage: halves pack DATA OUT      reads cifar10-train.bin and cifar10-test.bin in DATA
       halves unpack HALVES DATA   restores them from cifar10-half-1 and cifar10-half-2 in HALVES";

/// Names and numbers of samples. Both files have a header, one byte per row, column and channel, and one per label.
const FILES: [(&str, usize); 2] = [("cifar10-train.bin", 50_000), ("cifar10-test.bin", 10_000)];
const HALVES: [&str; 2] = ["cifar10-half-1", "cifar10-half-2"];
const HEADER: usize = 32;
const SIDE: usize = 32;
const IMAGE: usize = 3 * SIDE * SIDE;
/// Number of parts of all images, which are coded by one thread each.
const PARTS: usize = 16;
/// Bytes of headers and labels.
const OTHERS: usize = FILES[0].1 + FILES[1].1 + 2 * HEADER;
const PART: usize = (FILES[0].1 + FILES[1].1) / PARTS * IMAGE;

fn main() -> Result<()> {
    let arguments: Vec<String> = env::args().skip(1).collect();
    match &arguments[..] {
        [verb, data, out] if verb == "pack" => pack(Path::new(data), Path::new(out)),
        [verb, halves, data] if verb == "unpack" => unpack(Path::new(halves), Path::new(data)),
        _ => bail!("{USAGE}"),
    }
}

/// Writes both halves. Each has the lengths of its parts, and the parts; the first begins with headers and labels.
fn pack(data: &Path, out: &Path) -> Result<()> {
    let (mut images, mut others) = (Vec::new(), Vec::new());
    for (name, samples) in FILES {
        let file = read(&data.join(name))?;
        ensure!(file.len() == HEADER + samples * (IMAGE + 1), "{name} has {} bytes; fetch it again", file.len());
        let (header, body) = file.split_at(HEADER);
        let (pixels, labels) = body.split_at(samples * IMAGE);
        images.extend_from_slice(pixels);
        others.extend([header, labels].concat());
    }
    let parts = in_parallel(images.chunks_mut(PART), |part| encode(part));
    for (name, parts) in HALVES.iter().zip(parts.chunks(PARTS / 2)) {
        let lengths = parts.iter().flat_map(|part| part.len().to_le_bytes());
        let half: Vec<u8> = others.drain(..).chain(lengths).chain(parts.concat()).collect();
        fs::write(out.join(name), half).with_context(|| format!("cannot write {name}"))?;
    }
    Ok(())
}

/// Restores both files.
fn unpack(halves: &Path, data: &Path) -> Result<()> {
    let [first, second] = HALVES.map(|name| read(&halves.join(name)));
    let (first, second) = (first?, second?);
    let (others, first) = first.split_at_checked(OTHERS).context("the first half is truncated")?;
    let mut images = vec![0; PARTS * PART];
    let parts = [parts(first)?, parts(&second)?].concat();
    in_parallel(images.chunks_mut(PART).zip(parts), |(part, bytes)| decode(bytes, part));
    let (mut images, mut others) = (&images[..], others);
    for (name, samples) in FILES {
        let file;
        (file, others) = others.split_at(HEADER + samples);
        let (header, labels) = file.split_at(HEADER);
        let pixels;
        (pixels, images) = images.split_at(samples * IMAGE);
        fs::write(data.join(name), [header, pixels, labels].concat())
            .with_context(|| format!("cannot write {name}"))?;
    }
    Ok(())
}

fn read(path: &Path) -> Result<Vec<u8>> {
    fs::read(path).with_context(|| format!("cannot read {}", path.display()))
}

/// Returns the parts of a half.
fn parts(half: &[u8]) -> Result<Vec<&[u8]>> {
    let (lengths, mut bytes) = half.split_at_checked(PARTS / 2 * size_of::<usize>()).context("a half is truncated")?;
    let mut part = |length: &[u8; size_of::<usize>()]| {
        let part;
        (part, bytes) = bytes.split_at_checked(usize::from_le_bytes(*length)).context("a half is truncated")?;
        Ok(part)
    };
    lengths.as_chunks().0.iter().map(|length| part(length)).collect()
}

fn in_parallel<T: Send, R: Send>(items: impl Iterator<Item = T>, work: impl Fn(T) -> R + Sync) -> Vec<R> {
    thread::scope(|scope| {
        let threads: Vec<_> = items.map(|item| scope.spawn(|| work(item))).collect();
        threads.into_iter().map(|thread| thread.join().expect("coding does not panic")).collect()
    })
}

/// An arithmetic encoder, or a decoder, which ignores the bit it is given.
trait Coder {
    /// Codes a bit that is 1 with `probability` / 65,536.
    fn bit(&mut self, bit: bool, probability: u32) -> bool;
}

struct Encoder {
    low: u32,
    high: u32,
    bytes: Vec<u8>,
}

struct Decoder<'a> {
    low: u32,
    high: u32,
    value: u32,
    bytes: std::slice::Iter<'a, u8>,
}

/// Returns the last value of the lower part of the interval, which stands for 1.
fn split(low: u32, high: u32, probability: u32) -> u32 {
    let share = u64::from(high - low) * u64::from(probability) >> 16;
    low + u32::try_from(share).expect("a part of a 32-bit interval")
}

impl Coder for Encoder {
    fn bit(&mut self, bit: bool, probability: u32) -> bool {
        let middle = split(self.low, self.high, probability);
        if bit {
            self.high = middle
        } else {
            self.low = middle + 1
        }
        while (self.low ^ self.high) >> 24 == 0 {
            self.bytes.push(self.high.to_be_bytes()[0]);
            self.low <<= 8;
            self.high = self.high << 8 | 255;
        }
        bit
    }
}

impl Coder for Decoder<'_> {
    fn bit(&mut self, _: bool, probability: u32) -> bool {
        let middle = split(self.low, self.high, probability);
        let bit = self.value <= middle;
        if bit {
            self.high = middle
        } else {
            self.low = middle + 1
        }
        while (self.low ^ self.high) >> 24 == 0 {
            self.low <<= 8;
            self.high = self.high << 8 | 255;
            self.value = self.value << 8 | u32::from(self.bytes.next().copied().unwrap_or(0));
        }
        bit
    }
}

/// Probability of a 1, as the mean of a fast and a slow running average.
#[derive(Clone, Copy)]
struct Adaptive(u16, u16);

impl Adaptive {
    fn code(&mut self, coder: &mut impl Coder, bit: bool) -> bool {
        let probability = (u32::from(self.0) + u32::from(self.1)) / 2;
        let bit = coder.bit(bit, probability.clamp(32, 65_535 - 32));
        for (average, shift) in [(&mut self.0, 4), (&mut self.1, 7)] {
            *average = if bit { *average + ((65_535 - *average) >> shift) } else { *average - (*average >> shift) };
        }
        bit
    }
}

/// Probabilities of the bits of a byte, the highest first, each given those before it.
type Tree = [Adaptive; 256];

fn code_byte(tree: &mut Tree, coder: &mut impl Coder, byte: u8) -> u8 {
    let mut node = 1;
    for place in (0..8).rev() {
        let bit = tree[node].code(coder, byte >> place & 1 == 1);
        node = 2 * node + usize::from(bit);
    }
    u8::try_from(node - 256).expect("eight bits after the leading one")
}

/// Upper limits of the classes of contrasts, and of errors.
const CONTRASTS: [i32; 16] = [0, 2, 4, 7, 10, 14, 18, 23, 29, 37, 47, 61, 81, 114, 169, i32::MAX];
const ERRORS: [i32; 6] = [0, 2, 6, 12, 23, i32::MAX];

/// A color of an image, and the errors of its predictions, which tell how much contrast there is.
#[derive(Default)]
struct Plane {
    values: [[i32; SIDE]; SIDE],
    errors: [[i32; SIDE]; SIDE],
}

/// Codes images; a decoder overwrites them.
fn code(images: &mut [u8], coder: &mut impl Coder) {
    let mut trees = vec![[Adaptive(32_768, 32_768); 256]; 3 * CONTRASTS.len() * ERRORS.len()];
    for image in images.chunks_exact_mut(IMAGE) {
        // Green, and red and blue relative to it.
        let mut planes = [Plane::default(), Plane::default(), Plane::default()];
        for (y, x) in (0..IMAGE / 3).map(|at| (at / SIDE, at % SIDE)) {
            let pixel = &mut image[3 * (SIDE * y + x)..][..3];
            let mut error_before = if y > 0 { planes[0].errors[y - 1][x] } else { 0 };
            for (index, channel) in [1, 0, 2].into_iter().enumerate() {
                let base = if index == 0 { 0 } else { i32::from(pixel[1]) };
                let (guess, contrast) = planes[index].predict(y, x);
                let context = (index * CONTRASTS.len() + class(&CONTRASTS, contrast)) * ERRORS.len()
                    + class(&ERRORS, error_before.abs());
                let guess = u8::try_from((guess + base).clamp(0, 255)).expect("clamped to a byte");
                let error = code_byte(&mut trees[context], coder, fold(pixel[channel].wrapping_sub(guess)));
                pixel[channel] = guess.wrapping_add(unfold(error));
                error_before = i32::from(unfold(error).cast_signed());
                planes[index].values[y][x] = i32::from(pixel[channel]) - base;
                planes[index].errors[y][x] = error_before;
            }
        }
    }
}

fn class(limits: &[i32], value: i32) -> usize {
    limits.partition_point(|limit| *limit < value).min(limits.len() - 1)
}

impl Plane {
    /// Returns the median of the left and the upper value and the plane through all three, as in JPEG-LS, and the
    /// contrast nearby.
    fn predict(&self, y: usize, x: usize) -> (i32, i32) {
        let values = &self.values;
        let [west, north, corner, east] = match (y, x) {
            (0, 0) => [0; 4],
            (0, _) => [values[0][x - 1]; 4],
            (_, 0) => [values[y - 1][0], values[y - 1][0], values[y - 1][0], values[y - 1][1]],
            _ => [values[y][x - 1], values[y - 1][x], values[y - 1][x - 1], values[y - 1][(x + 1).min(SIDE - 1)]],
        };
        let error = if x > 0 { self.errors[y][x - 1] } else { 0 };
        let contrast = (west - corner).abs() + (north - corner).abs() + (north - east).abs() + error.abs();
        ((west + north - corner).clamp(west.min(north), west.max(north)), contrast)
    }
}

/// Maps 0, −1, 1, −2, … to 0, 1, 2, 3, …
fn fold(error: u8) -> u8 {
    error << 1 ^ if error >= 128 { 255 } else { 0 }
}

fn unfold(folded: u8) -> u8 {
    folded >> 1 ^ if folded & 1 == 1 { 255 } else { 0 }
}

fn encode(part: &mut [u8]) -> Vec<u8> {
    let mut encoder = Encoder { low: 0, high: u32::MAX, bytes: Vec::new() };
    code(part, &mut encoder);
    encoder.bytes.extend(encoder.high.to_be_bytes());
    encoder.bytes
}

fn decode(bytes: &[u8], part: &mut [u8]) {
    let mut bytes = bytes.iter();
    let value = (0..4).fold(0, |value, _| value << 8 | u32::from(bytes.next().copied().unwrap_or(0)));
    code(part, &mut Decoder { low: 0, high: u32::MAX, value, bytes });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decoder_restores_noise_and_gradients() {
        let noise = (0..u32::try_from(2 * IMAGE).unwrap()).map(|at| at.wrapping_mul(2_654_435_761).to_be_bytes()[0]);
        let gradient = (0..IMAGE).map(|at| (at / 96 + at % 96).to_le_bytes()[0]);
        let images: Vec<u8> = noise.chain(gradient).collect();
        let coded = encode(&mut images.clone());
        let mut restored = vec![0; images.len()];
        decode(&coded, &mut restored);
        assert!(coded.len() < images.len(), "{}", coded.len());
        assert_eq!(restored, images);
    }

    #[test]
    fn errors_fold_by_magnitude() {
        assert_eq!([0, 255, 1, 254, 2].map(fold), [0, 1, 2, 3, 4]);
        assert!((0..=255).all(|error| unfold(fold(error)) == error));
    }
}

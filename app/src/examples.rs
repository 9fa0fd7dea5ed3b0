//! A few test images with what a network answers on them.

use crate::t;

/// Of a file header and an information header.
const HEADERS: u32 = 14 + 40;

/// Test images of a workload, and what they show.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Examples {
    /// Of the workload.
    data_set: &'static str,
    images: Vec<Image>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Image {
    bitmap: Vec<u8>,
    label: u16,
}

/// One of them as it is shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Example {
    /// What the network answers, as short as it can be said.
    pub answer: String,
    pub is_right: bool,
    /// The same in words, with what the image shows.
    pub words: String,
}

impl Examples {
    /// `shape` is height, width, channels; `images` are bytes in row-major order, image after image.
    pub fn new(workload: &str, shape: [u32; 3], images: &[u8], labels: &[u16]) -> Self {
        let [height, width, channels] = shape;
        let features = (height * width * channels).max(1) as usize;
        let images = images.chunks_exact(features).zip(labels);
        let images =
            images.map(|(pixels, &label)| Image { bitmap: bitmap(width, channels as usize, pixels), label }).collect();
        Self { data_set: engine::workload(workload).map_or("", |workload| workload.data_set), images }
    }

    /// The content of a file for each image, in the format BMP.
    pub fn bitmaps(&self) -> impl Iterator<Item = &[u8]> {
        self.images.iter().map(|image| image.bitmap.as_slice())
    }

    /// Each image with what the network answers; only what it shows before there are answers.
    pub fn answered(&self, answers: &[u16]) -> Vec<Option<Example>> {
        let example = |(place, image): (usize, &Image)| {
            let answer = *answers.get(place)?;
            let (label, is_right) = (class(self.data_set, image.label), answer == image.label);
            let answer = class(self.data_set, answer);
            let words = if is_right {
                t!(running_example_right, label = label)
            } else {
                t!(running_example_wrong, label = label, answer = answer)
            };
            Some(Example { answer, is_right, words })
        };
        self.images.iter().enumerate().map(example).collect()
    }
}

/// What a class of a data set is called; its number where that is all.
fn class(data_set: &str, number: u16) -> String {
    let name = match (data_set, number) {
        ("cifar10", 0) => t!(class_airplane),
        ("cifar10", 1) => t!(class_automobile),
        ("cifar10", 2) => t!(class_bird),
        ("cifar10", 3) => t!(class_cat),
        ("cifar10", 4) => t!(class_deer),
        ("cifar10", 5) => t!(class_dog),
        ("cifar10", 6) => t!(class_frog),
        ("cifar10", 7) => t!(class_horse),
        ("cifar10", 8) => t!(class_ship),
        ("cifar10", 9) => t!(class_truck),
        _ => return number.to_string(),
    };
    name.to_owned()
}

/// A picture of 24 bits a pixel, uncompressed, from the lowest row to the highest, blue before green before red, each row
/// padded to four bytes: <https://learn.microsoft.com/windows/win32/gdi/bitmap-storage>. One channel is grey.
fn bitmap(width: u32, channels: usize, pixels: &[u8]) -> Vec<u8> {
    let row_bytes = (width as usize * channels).max(1);
    let height = u32::try_from(pixels.len() / row_bytes).unwrap_or_default();
    let padded = (3 * width).next_multiple_of(4);
    let size = HEADERS + padded * height;
    let mut file = Vec::with_capacity(size as usize);
    file.extend(b"BM");
    for number in [size, 0, HEADERS, HEADERS - 14, width, height, 1 | 24 << 16, 0, padded * height, 0, 0, 0, 0] {
        file.extend(number.to_le_bytes());
    }
    for row in pixels.chunks_exact(row_bytes).rev() {
        for pixel in row.chunks_exact(channels.max(1)) {
            let channel = |place: usize| pixel[place.min(pixel.len() - 1)];
            file.extend([channel(2), channel(1), channel(0)]);
        }
        file.resize(file.len() + (padded - 3 * width) as usize, 0);
    }
    file
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::words::{Language, speak};

    #[test]
    fn a_bitmap_has_its_size_in_its_head_and_its_rows_from_below() {
        // Two rows of one pixel, red above blue; each row has a byte of padding.
        let file = bitmap(1, 3, &[255, 0, 0, 0, 0, 255]);
        assert_eq!(&file[..2], b"BM");
        assert_eq!(u32::from_le_bytes(file[2..6].try_into().unwrap()) as usize, file.len());
        assert_eq!(u32::from_le_bytes(file[10..14].try_into().unwrap()), 54);
        assert_eq!((file[18], file[22], file[26], file[28]), (1, 2, 1, 24), "width, height, planes, bits");
        assert_eq!(file[54..], [255, 0, 0, 0, 0, 0, 255, 0]);
        assert_eq!(bitmap(4, 1, &[7, 8, 9, 10])[54..], [7, 7, 7, 8, 8, 8, 9, 9, 9, 10, 10, 10], "grey, no padding");
    }

    #[test]
    fn an_answer_is_told_in_words_whether_it_is_right_or_wrong() {
        let digits = Examples::new("caffe-mnist", [1, 1, 1], &[0, 255], &[7, 2]);
        let answered = digits.answered(&[7, 3]).into_iter().flatten().collect::<Vec<_>>();
        assert_eq!((answered[0].is_right, answered[0].words.as_str()), (true, "7, answered rightly"));
        assert_eq!((answered[1].is_right, answered[1].words.as_str()), (false, "2, wrongly answered 3"));
        assert_eq!(digits.answered(&[]), [None, None]);
        assert_eq!(digits.bitmaps().count(), 2);
        let pictures = Examples::new("caffe-cifar10", [1, 1, 3], &[0; 3], &[8]);
        assert_eq!(pictures.answered(&[0])[0].as_ref().unwrap().words, "ship, wrongly answered airplane");
        speak(Language::German);
        assert_eq!(pictures.answered(&[8])[0].as_ref().unwrap().words, "Schiff, richtig beantwortet");
    }
}

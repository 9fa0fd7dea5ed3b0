//! The back ends that the page trains with, and the bundle that brings those which are not in the page.

use training_worker::Loaded;

use crate::text;

/// A back end of the page.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PageBackend {
    #[default]
    Wgsl,
    BurnWgpu,
    BurnFlex,
}

impl PageBackend {
    /// As they are offered.
    pub const ALL: [Self; 3] = [Self::Wgsl, Self::BurnWgpu, Self::BurnFlex];

    /// As the engine calls it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Wgsl => "wgsl",
            Self::BurnWgpu => "burn-wgpu",
            Self::BurnFlex => "burn-flex",
        }
    }

    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|backend| backend.name() == name)
    }

    /// For people.
    pub const fn title(self) -> &'static str {
        match self {
            Self::Wgsl => "Our WGSL kernels",
            Self::BurnWgpu => "Burn on WebGPU",
            Self::BurnFlex => "Burn on the processor",
        }
    }

    pub const fn description(self) -> &'static str {
        match self {
            Self::Wgsl => "Written for these networks; part of this page.",
            Self::BurnWgpu => "An established framework, with kernels that it makes itself.",
            Self::BurnFlex => "The same framework without your GPU, on one core.",
        }
    }

    pub const fn uses_gpu(self) -> bool {
        !matches!(self, Self::BurnFlex)
    }

    /// Whether it comes with [`Bundle`].
    pub const fn is_burn(self) -> bool {
        !matches!(self, Self::Wgsl)
    }
}

/// The worker with Burn in it, which is fetched when it is chosen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bundle {
    /// Where it lies; the name has a digest of what is in it.
    folder: String,
    /// Of all its files, as a browser fetches them.
    pub compressed_bytes: u64,
    /// Of its module, unpacked.
    pub bytes: u64,
}

impl Bundle {
    /// Name of the `<meta>` of the page that describes it; `cargo xtask` writes its content.
    pub const META: &str = "gradmark-burn";

    /// Reads `FOLDER COMPRESSED_BYTES BYTES`; a page that was built without Burn says nothing.
    pub fn parse(text: &str) -> Option<Self> {
        let mut words = text.split_whitespace();
        let (folder, compressed, bytes) = (words.next()?, words.next()?, words.next()?);
        let is_plain = folder.chars().all(|c| c.is_ascii_alphanumeric() || c == '-');
        let (compressed_bytes, bytes) = (compressed.parse().ok()?, bytes.parse().ok()?);
        (is_plain && words.next().is_none()).then(|| Self { folder: folder.to_owned(), compressed_bytes, bytes })
    }

    /// Address of the script that starts the worker.
    pub fn loader(&self) -> String {
        format!("/{}/loader.js", self.folder)
    }
}

/// The second bundle on its way into a run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Arrival {
    /// Bytes of the module so far, and of all of it.
    Coming {
        bytes: u64,
        total: u64,
    },
    Started(Loaded),
}

impl Arrival {
    /// Share of the module that is there.
    pub fn fraction(self) -> f64 {
        match self {
            Self::Coming { bytes, total } => (bytes as f64 / total.max(1) as f64).min(1.0),
            Self::Started(_) => 1.0,
        }
    }

    /// What has come and how long it took.
    pub fn sentence(self) -> String {
        match self {
            Self::Coming { bytes: 0, .. } => "Burn is being fetched.".to_owned(),
            Self::Coming { bytes, total } if bytes >= total => "Burn is being compiled.".to_owned(),
            Self::Coming { .. } => format!("Burn: {:.0} % is here.", self.fraction() * 100.0),
            Self::Started(Loaded { compressed_bytes, bytes, cached, seconds }) => {
                let unpacked = text::megabytes(bytes);
                let size = match compressed_bytes {
                    Some(compressed) => format!("{} ({unpacked} unpacked)", text::megabytes(compressed)),
                    None => format!("{unpacked} unpacked"),
                };
                let from = if cached == Some(true) { "from the browser's cache" } else { "fetched" };
                format!("Burn: {size} {from} and started in {seconds:.1} s.")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_back_end_of_the_page_is_one_of_the_engines() {
        for backend in PageBackend::ALL {
            let known = engine::KNOWN_BACKENDS.iter().find(|known| known.name == backend.name()).unwrap();
            assert_eq!(known.uses_adapter, backend.uses_gpu(), "{backend:?}");
            assert_eq!(PageBackend::named(backend.name()), Some(backend));
            assert_eq!(backend.is_burn(), backend.name().starts_with("burn-"));
        }
    }

    #[test]
    fn the_pages_note_of_its_second_bundle_is_read() {
        let bundle = Bundle::parse("burn-0123456789abcdef 3400000 12000000").unwrap();
        assert_eq!(bundle.loader(), "/burn-0123456789abcdef/loader.js");
        assert_eq!((bundle.compressed_bytes, bundle.bytes), (3_400_000, 12_000_000));
        for wrong in ["", "burn-1 2", "burn-1 2 3 4", "//elsewhere 1 2", "burn-1 many 2"] {
            assert_eq!(Bundle::parse(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn what_was_fetched_and_how_long_it_took_is_said() {
        let half = Arrival::Coming { bytes: 6_000_000, total: 12_000_000 };
        assert_eq!(half.sentence(), "Burn: 50 % is here.");
        let loaded =
            Loaded { compressed_bytes: Some(3_440_000), bytes: 12_000_000, cached: Some(false), seconds: 2.345 };
        assert_eq!(
            Arrival::Started(loaded).sentence(),
            "Burn: 3.4 MB (12.0 MB unpacked) fetched and started in 2.3 s."
        );
        let untold = Loaded { compressed_bytes: None, cached: None, ..loaded };
        assert_eq!(Arrival::Started(untold).sentence(), "Burn: 12.0 MB unpacked fetched and started in 2.3 s.");
        let again = Loaded { cached: Some(true), ..loaded };
        assert!(Arrival::Started(again).sentence().contains("from the browser's cache"));
    }
}

/// How browser and server are set up.
#[derive(Clone, Copy, Debug)]
pub struct Setup {
    /// Whether the browser offers WebGPU: Chromium on SwiftShader, Firefox on the machine's Vulkan driver.
    pub webgpu: bool,
    /// Whether its owner likes dark pages.
    pub dark: bool,
    /// Width and height of the page, CSS pixels.
    pub size: (u32, u32),
    /// Device pixels for a CSS pixel.
    pub scale: u32,
    /// Files of the page that the server does not have.
    pub missing: &'static [&'static str],
    /// Data files that the server does not have.
    pub missing_data: &'static [&'static str],
    /// What the page's `burn.json` says; none for what the built page says.
    pub burn: Option<&'static str>,
    /// A script that the training worker runs before anything else, as if the browser itself were so.
    pub in_worker: Option<&'static str>,
}

impl Setup {
    /// What there is where nothing else is said.
    pub const USUAL: Self = Self {
        webgpu: true,
        dark: false,
        size: (1280, 900),
        scale: 1,
        missing: &[],
        missing_data: &[],
        burn: None,
        in_worker: None,
    };
}

impl Default for Setup {
    fn default() -> Self {
        Self::USUAL
    }
}

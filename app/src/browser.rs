//! Browser detection from the user-agent string, and advice if WebGPU is missing or the adapter is slow.

use results::{Client, ClientKind, UNKNOWN};

use crate::t;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Browser {
    /// Name in [`results::BROWSERS`], or [`UNKNOWN`].
    pub family: &'static str,
    /// Major version, such as `142`; empty if the string has none.
    pub major: String,
    /// Name in [`results::SYSTEMS`], or [`UNKNOWN`].
    pub system: &'static str,
}

/// Tokens in user-agent strings, the most specific ones first: browsers imitate each other.
const FAMILIES: &[(&str, &str)] = &[
    ("EdgA/", "Edge"),
    ("EdgiOS/", "Edge"),
    ("Edg/", "Edge"),
    ("OPR/", "Opera"),
    ("SamsungBrowser/", "Samsung Internet"),
    ("FxiOS/", "Firefox"),
    ("Firefox/", "Firefox"),
    ("CriOS/", "Chrome"),
    ("HeadlessChrome/", "Chrome"),
    ("Chrome/", "Chrome"),
    ("Version/", "Safari"),
];

/// Tokens of operating systems, in the same order: Android also claims to be Linux.
const SYSTEMS: &[(&str, &str)] = &[
    ("Android", "Android"),
    ("iPhone", "iOS"),
    ("iPad", "iOS"),
    ("Windows", "Windows"),
    ("Macintosh", "macOS"),
    ("Linux", "Linux"),
    ("CrOS", "Linux"),
];

impl Browser {
    /// Parses a user-agent string. An iPad claims to be a Macintosh, but has several `touch_points`.
    pub fn from_user_agent(text: &str, touch_points: u32) -> Self {
        let found = FAMILIES.iter().find_map(|&(word, family)| {
            let rest = text.split_once(word)?.1;
            Some((family, rest.chars().take_while(char::is_ascii_digit).collect::<String>()))
        });
        let system = SYSTEMS.iter().find(|(word, _)| text.contains(word)).map_or(UNKNOWN, |known| known.1);
        let system = if system == "macOS" && touch_points > 1 { "iOS" } else { system };
        let (family, major) = found.unwrap_or((UNKNOWN, String::new()));
        Self { family, major, system }
    }

    /// True for browsers with the settings of Chrome.
    fn is_chromium(&self) -> bool {
        matches!(self.family, "Chrome" | "Edge" | "Opera")
    }

    pub fn client(&self, logical_processors: Option<u32>, has_battery: Option<bool>) -> Client {
        Client {
            kind: ClientKind::Browser,
            name: self.family.to_owned(),
            version: if self.major.is_empty() { "unknown".to_owned() } else { self.major.clone() },
            operating_system: self.system.to_owned(),
            logical_processors,
            has_battery,
        }
    }

    /// Title such as `Chrome 142 on Linux`, as far as known.
    pub fn title(&self) -> String {
        let Self { family, major, system } = self;
        let name = if *family == UNKNOWN { t!(device_this_browser) } else { family };
        let version = if major.is_empty() { String::new() } else { format!(" {major}") };
        let browser = format!("{name}{version}");
        if *system == UNKNOWN { browser } else { t!(device_browser_on, browser, system) }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GpuObstacle {
    InsecurePage,
    /// The browser lacks WebGPU, or it is disabled.
    NoInterface,
    NoAdapter,
}

impl GpuObstacle {
    /// Describes the obstacle in one sentence, which is also the note of the start button.
    pub fn sentence(self) -> &'static str {
        match self {
            Self::InsecurePage => t!(advice_insecure),
            Self::NoInterface => t!(advice_no_interface),
            Self::NoAdapter => t!(advice_no_adapter),
        }
    }
}

/// Steps to try, in order; never empty.
pub fn advice(browser: &Browser, obstacle: GpuObstacle) -> Vec<String> {
    if obstacle == GpuObstacle::InsecurePage {
        return vec![t!(advice_open_securely).to_owned()];
    }
    [particular(browser, obstacle), vec![t!(advice_native).to_owned()]].concat()
}

/// Month in which all steps that depend on a browser, driver or system were last checked (docs/BROWSERS.md).
const CHECKED: &str = "2026-11";
/// Versions of Chrome that offer GPUs on Linux by default.
const LINUX_VERSIONS: &str = "Chrome 144 (Intel Gen12+), Chrome 147 (NVIDIA 535.183.01+, Wayland)";

fn dated(step: &str) -> String {
    t!(advice_dated, step, month = CHECKED)
}

fn texts<const COUNT: usize>(steps: [&str; COUNT]) -> Vec<String> {
    steps.map(dated).into()
}

fn update(version: &str) -> String {
    dated(&t!(advice_update, version))
}

/// Steps to try if the browser offers a software adapter although the device may have a GPU.
pub fn advice_on_software(browser: &Browser) -> Vec<String> {
    let mut steps = match (browser.system, browser.family) {
        // Chrome falls back to this adapter if it does not trust the driver.
        ("Linux", _) if browser.is_chromium() => vec![update(LINUX_VERSIONS), dated(t!(advice_linux_unsafe))],
        _ if browser.is_chromium() => texts([t!(advice_acceleration), t!(advice_driver_blocked)]),
        (_, "Firefox") => texts([t!(advice_firefox_support)]),
        _ => vec![t!(advice_update_system).to_owned()],
    };
    steps.extend([dated(t!(advice_two_gpus)), t!(advice_native).to_owned()]);
    steps
}

/// Chromium's names for the architectures of Intel's discrete GPUs.
const DISCRETE_OF_INTEL: [&str; 3] = ["gen-12-hp", "xe-hpg", "xe-2-hpg"];

/// True for an integrated GPU on a device that may have a faster one. AMD's discrete GPUs have the same architectures,
/// so only a battery distinguishes them.
pub fn is_integrated(browser: &Browser, vendor: &str, architecture: &str, is_laptop: bool) -> bool {
    // Other devices have a single GPU.
    let may_have_two = matches!(browser.system, "Linux" | "Windows") || browser.system == "macOS" && vendor == "intel";
    may_have_two
        && match vendor {
            "intel" => !DISCRETE_OF_INTEL.contains(&architecture),
            "amd" | "qualcomm" => is_laptop,
            _ => false,
        }
}

pub fn advice_on_integrated(browser: &Browser) -> Vec<String> {
    let of_system = match browser.system {
        "Windows" => Some(t!(advice_windows_faster)),
        "macOS" => Some(t!(advice_mac_faster)),
        "Linux" => Some(t!(advice_linux_faster)),
        _ => None,
    };
    let of_browser = browser.is_chromium().then(|| t!(advice_force_faster));
    let steps = [of_system, of_browser].into_iter().flatten().map(dated);
    steps.chain([t!(advice_native).to_owned()]).collect()
}

fn particular(browser: &Browser, obstacle: GpuObstacle) -> Vec<String> {
    let or_chrome = || t!(advice_chrome).to_owned();
    match (browser.system, browser.family) {
        // Every browser on these devices uses Safari's engine.
        ("iOS", _) => vec![update("iOS 26"), dated(t!(advice_ios_18))],
        ("Android", family) if browser.is_chromium() || family == "Samsung Internet" => {
            vec![update("Chrome 121, Android 12")]
        }
        ("Android", _) => vec![or_chrome()],
        ("Linux", _) if browser.is_chromium() => {
            let others = texts([t!(advice_linux_unsafe), t!(advice_linux_vulkaninfo), t!(advice_acceleration)]);
            [vec![update(LINUX_VERSIONS)], others].concat()
        }
        ("Linux", "Firefox") => vec![dated(t!(advice_linux_firefox)), or_chrome()],
        _ if browser.is_chromium() && obstacle == GpuObstacle::NoAdapter => {
            texts([t!(advice_acceleration), t!(advice_driver_blocked)])
        }
        _ if browser.is_chromium() => vec![update("Chrome 113")],
        ("Windows", "Firefox") => vec![update("Firefox 141")],
        (_, "Firefox") => vec![update("Firefox 147"), or_chrome()],
        (_, "Safari") => vec![update("Safari 26"), or_chrome()],
        _ => vec![t!(advice_current).to_owned()],
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    fn browser(user_agent: &str) -> Browser {
        Browser::from_user_agent(user_agent, 0)
    }

    #[test]
    fn leaderboard_filters_by_every_family_and_system() {
        let names = |tokens: &[(&str, &'static str)]| tokens.iter().map(|(_, name)| *name).collect::<BTreeSet<_>>();
        assert_eq!(names(FAMILIES), BTreeSet::from(results::BROWSERS));
        assert_eq!(names(SYSTEMS), BTreeSet::from(results::SYSTEMS));
    }

    #[test]
    fn recognizes_browsers_that_imitate_each_other() {
        const WEBKIT: &str = "AppleWebKit/537.36 (KHTML, like Gecko)";
        let windows = format!("(Windows NT 10.0; Win64; x64) {WEBKIT} Chrome/142.0.0.0 Safari/537.36");
        let safari = format!("(Macintosh; Intel Mac OS X 10_15_7) {WEBKIT} Version/26.0 Safari/605.1.15");
        for (words, touch_points, title) in [
            (windows.as_str(), 0, "Chrome 142 on Windows"),
            (&format!("{windows} Edg/142.0.0.0"), 0, "Edge 142 on Windows"),
            (&format!("{windows} OPR/125.0.0.0"), 0, "Opera 125 on Windows"),
            ("(X11; Linux x86_64) HeadlessChrome/140.0.0.0 Safari/537.36", 0, "Chrome 140 on Linux"),
            ("(Linux; Android 10; K) SamsungBrowser/29.0 Chrome/136.0.0.0 Mobile", 5, "Samsung Internet 29 on Android"),
            ("(Macintosh; Intel Mac OS X 10.15; rv:145.0) Gecko/20100101 Firefox/145.0", 0, "Firefox 145 on macOS"),
            (&safari, 0, "Safari 26 on macOS"),
            // An iPad claims to be a Macintosh, but has a touch screen.
            (&safari, 5, "Safari 26 on iOS"),
            ("(iPhone; CPU iPhone OS 26_0 like Mac OS X) CriOS/142.0 Mobile", 5, "Chrome 142 on iOS"),
        ] {
            let user_agent = format!("Mozilla/5.0 {words}");
            assert_eq!(Browser::from_user_agent(&user_agent, touch_points).title(), title, "{user_agent}");
        }
    }

    #[test]
    fn record_has_only_family_and_major_version() {
        let text = "Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Gecko/20100101 Firefox/145.0.3";
        let client = browser(text).client(Some(8), None);
        assert_eq!((client.name.as_str(), client.version.as_str()), ("Firefox", "145"));
        assert_eq!(browser("Lynx").client(None, None).version, "unknown");
    }

    #[test]
    fn each_browser_and_system_gets_its_own_advice() {
        let no_webgpu = |browser: &Browser| advice(browser, GpuObstacle::NoInterface);
        let insecure = |browser: &Browser| advice(browser, GpuObstacle::InsecurePage);
        let check = |advice: &dyn Fn(&Browser) -> Vec<String>, user_agent: &str, expected: &str| {
            let text = advice(&browser(user_agent)).join("\n");
            assert!(text.contains(expected), "{user_agent}: {text}");
        };
        check(&no_webgpu, "X11; Linux x86_64 Chrome/142.0", "chrome://flags");
        check(&no_webgpu, "X11; Linux x86_64 Firefox/145.0", "about:config");
        check(&no_webgpu, "Windows NT 10.0 Firefox/140.0", "Firefox 141");
        check(&no_webgpu, "iPhone CriOS/142.0", "iOS 18");
        check(&no_webgpu, "Android 14 Firefox/145.0", "in Chrome");
        check(&no_webgpu, "Macintosh Version/18.0 Safari", "Safari 26");
        check(&no_webgpu, "Windows NT 10.0 Edg/110.0", "113");
        check(&insecure, "Windows NT 10.0 Edg/142.0", "https://");
        check(&advice_on_software, "X11; Linux x86_64 Chrome/142.0", "chrome://flags");
        check(&advice_on_software, "X11; Linux x86_64 Chrome/142.0", "Chrome 147 (NVIDIA");
        check(&no_webgpu, "X11; Linux x86_64 Chrome/142.0", "(As of 2026-11)");
        check(&advice_on_software, "Windows NT 10.0 Edg/142.0", "graphics acceleration");
        check(&advice_on_software, "X11; Linux x86_64 Firefox/145.0", "about:support");
        check(&advice_on_integrated, "Windows NT 10.0 Edg/142.0", "High performance");
        check(&advice_on_integrated, "X11; Linux x86_64 Firefox/145.0", "DRI_PRIME=1");
        check(&advice_on_integrated, "Macintosh Chrome/142.0", "chrome://flags");
        let firefox = advice_on_integrated(&browser("X11; Linux x86_64 Firefox/145.0"));
        assert!(!firefox.join("\n").contains("chrome://flags"));
    }

    #[test]
    fn distinguishes_integrated_from_discrete_gpus() {
        let windows = browser("Windows NT 10.0 Chrome/142.0");
        let is = |vendor, architecture, is_laptop| is_integrated(&windows, vendor, architecture, is_laptop);
        assert!(is("intel", "xe-lpg", false) && is("intel", "", false) && !is("intel", "xe-hpg", true));
        assert!(is("amd", "rdna-3", true) && !is("amd", "rdna-3", false) && !is("nvidia", "ampere", true));
        assert!(!is("", "", true), "a browser that hides it");
        let phone = Browser::from_user_agent("Android 14 Chrome/142.0", 5);
        assert!(!is_integrated(&phone, "qualcomm", "adreno-7xx", true));
    }
}

//! What to do in this browser when it offers no WebGPU.

use crate::browser::{Browser, Family, System};
use crate::t;

/// Why there is no WebGPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Obstacle {
    /// Browsers hide WebGPU from pages that were not fetched securely.
    InsecurePage,
    /// The browser does not have the interface, or it is turned off.
    NoInterface,
    /// The interface is there, but no device stands behind it.
    NoAdapter,
}

impl Obstacle {
    /// One sentence for the page and for the reason beside the button.
    pub fn sentence(self) -> &'static str {
        match self {
            Self::InsecurePage => t!(advice_insecure),
            Self::NoInterface => t!(advice_no_interface),
            Self::NoAdapter => t!(advice_no_adapter),
        }
    }
}

/// What to try, in this order; never empty.
pub fn advice(browser: &Browser, obstacle: Obstacle) -> Vec<&'static str> {
    if obstacle == Obstacle::InsecurePage {
        return vec![t!(advice_open_securely)];
    }
    let mut steps = particular(browser, obstacle);
    steps.push(t!(advice_native));
    steps
}

/// What to try where the browser offers a software adapter although there may be a GPU. Browsers do not say why.
pub fn advice_on_software(browser: &Browser) -> Vec<&'static str> {
    let mut steps = match (browser.system, browser.family) {
        (System::Linux, Family::Chrome | Family::Edge | Family::Opera) => {
            vec![t!(advice_linux_flags), t!(advice_linux_check)]
        }
        (_, Family::Chrome | Family::Edge | Family::Opera) => vec![t!(advice_acceleration), t!(advice_driver_blocked)],
        (_, Family::Firefox) => {
            vec![t!(advice_firefox_support)]
        }
        _ => vec![t!(advice_update_system)],
    };
    steps.push(t!(advice_two_gpus));
    steps.push(t!(advice_native_adapter));
    steps
}

/// Architectures of Intel's discrete GPUs, as Chromium names them.
const DISCRETE_OF_INTEL: [&str; 3] = ["gen-12-hp", "xe-hpg", "xe-2-hpg"];

/// Whether a GPU with these words of WebGPU is the one inside a processor, where there may be a faster one beside it. AMD's
/// have the same architectures on cards: those are told apart by the battery only.
pub fn is_integrated(browser: &Browser, vendor: &str, architecture: &str, is_laptop: bool) -> bool {
    // Elsewhere there is one GPU, which is the device's.
    let may_have_two = matches!(browser.system, System::Linux | System::Windows)
        || browser.system == System::MacOs && vendor == "intel";
    may_have_two
        && match vendor {
            "intel" => !DISCRETE_OF_INTEL.contains(&architecture),
            "amd" | "qualcomm" => is_laptop,
            _ => false,
        }
}

/// What to try where the browser offers the GPU inside the processor.
pub fn advice_on_integrated(browser: &Browser) -> Vec<&'static str> {
    let of_system = match browser.system {
        System::Windows => Some(t!(advice_windows_faster)),
        System::MacOs => Some(t!(advice_mac_faster)),
        System::Linux => Some(t!(advice_linux_faster)),
        _ => None,
    };
    let is_chromium = matches!(browser.family, Family::Chrome | Family::Edge | Family::Opera);
    let of_browser = is_chromium.then(|| t!(advice_force_faster));
    [of_system, of_browser, Some(t!(advice_native_adapter))].into_iter().flatten().collect()
}

fn particular(browser: &Browser, obstacle: Obstacle) -> Vec<&'static str> {
    match (browser.system, browser.family) {
        // Every browser on these devices is Safari inside.
        (System::Ios, _) => vec![t!(advice_ios_26), t!(advice_ios_18)],
        (System::Android, Family::Chrome | Family::Edge | Family::Opera | Family::SamsungInternet) => {
            vec![t!(advice_android_121), t!(advice_android_old_chips)]
        }
        (System::Android, _) => vec![t!(advice_android_chrome)],
        (System::Linux, Family::Chrome | Family::Edge | Family::Opera) => {
            vec![t!(advice_linux_unsafe), t!(advice_linux_vulkaninfo), t!(advice_acceleration_too)]
        }
        (System::Linux, Family::Firefox) => vec![t!(advice_linux_firefox), t!(advice_linux_firefox_chrome)],
        (_, Family::Chrome | Family::Edge | Family::Opera) if obstacle == Obstacle::NoAdapter => {
            vec![t!(advice_acceleration), t!(advice_driver_blocked)]
        }
        (_, Family::Chrome | Family::Edge | Family::Opera) => {
            vec![t!(advice_chrome_113)]
        }
        (System::Windows, Family::Firefox) => {
            vec![t!(advice_firefox_141)]
        }
        (_, Family::Firefox) => vec![t!(advice_firefox_145), t!(advice_old_mac)],
        (_, Family::Safari) => vec![t!(advice_safari_26), t!(advice_old_macos)],
        _ => vec![t!(advice_current)],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn advice_for(user_agent: &str, obstacle: Obstacle) -> String {
        advice(&Browser::from_user_agent(user_agent, 0), obstacle).join("\n")
    }

    #[test]
    fn each_browser_is_told_its_own_way() {
        let check = |user_agent: &str, expected: &str| {
            let text = advice_for(user_agent, Obstacle::NoInterface);
            assert!(text.contains(expected), "{user_agent}: {text}");
        };
        check("X11; Linux x86_64 Chrome/142.0", "chrome://flags");
        check("X11; Linux x86_64 Firefox/145.0", "about:config");
        check("Windows NT 10.0 Firefox/140.0", "version 141");
        check("iPhone CriOS/142.0", "iOS 18");
        check("Android 14 Firefox/145.0", "in Chrome");
        check("Macintosh Version/18.0 Safari", "Safari 26");
        check("Windows NT 10.0 Edg/110.0", "113");
    }

    #[test]
    fn a_software_adapter_on_linux_is_explained() {
        let advised = |user_agent: &str| advice_on_software(&Browser::from_user_agent(user_agent, 0)).join("\n");
        assert!(advised("X11; Linux x86_64 Chrome/142.0").contains("NVIDIA"));
        assert!(advised("Windows NT 10.0 Edg/142.0").contains("graphics acceleration"));
        assert!(advised("X11; Linux x86_64 Firefox/145.0").contains("about:support"));
    }

    #[test]
    fn a_gpu_inside_the_processor_is_told_from_cards() {
        let windows = Browser::from_user_agent("Windows NT 10.0 Chrome/142.0", 0);
        let is = |vendor, architecture, is_laptop| is_integrated(&windows, vendor, architecture, is_laptop);
        assert!(is("intel", "xe-lpg", false) && is("intel", "", false) && !is("intel", "xe-hpg", true));
        assert!(is("amd", "rdna-3", true) && !is("amd", "rdna-3", false) && !is("nvidia", "ampere", true));
        assert!(!is("", "", true), "a browser that hides it");
        let phone = Browser::from_user_agent("Android 14 Chrome/142.0", 5);
        assert!(!is_integrated(&phone, "qualcomm", "adreno-7xx", true));
    }

    #[test]
    fn each_system_has_its_own_way_to_the_faster_gpu() {
        let advised = |user_agent: &str| advice_on_integrated(&Browser::from_user_agent(user_agent, 0)).join("\n");
        assert!(advised("Windows NT 10.0 Edg/142.0").contains("High performance"));
        assert!(advised("X11; Linux x86_64 Firefox/145.0").contains("DRI_PRIME=1"));
        assert!(advised("Macintosh Chrome/142.0").contains("chrome://flags"));
        assert!(!advised("X11; Linux x86_64 Firefox/145.0").contains("chrome://flags"));
    }

    #[test]
    fn an_insecure_page_is_not_blamed_on_the_browser() {
        assert!(advice_for("Windows NT 10.0 Edg/142.0", Obstacle::InsecurePage).contains("https://"));
    }
}

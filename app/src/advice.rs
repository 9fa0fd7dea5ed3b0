//! What to do in this browser when it offers no WebGPU.

use crate::browser::{Browser, Family, System};

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
            Self::InsecurePage => "Browsers offer WebGPU only to pages that came over a secure connection.",
            Self::NoInterface => "This browser does not offer WebGPU, which the benchmark needs to reach your GPU.",
            Self::NoAdapter => "This browser knows WebGPU, but found no GPU that it may use.",
        }
    }
}

/// What to try, in this order; never empty.
pub fn advice(browser: &Browser, obstacle: Obstacle) -> Vec<&'static str> {
    if obstacle == Obstacle::InsecurePage {
        return vec![
            "Open this page with https:// in front, or on this machine as http://localhost or http://127.0.0.1.",
        ];
    }
    let mut steps = particular(browser, obstacle);
    steps.push("Nothing helps? The native-runner program trains the same networks without a browser.");
    steps
}

/// What to try where the browser offers a software adapter although there may be a GPU. Browsers do not say why.
pub fn advice_on_software(browser: &Browser) -> Vec<&'static str> {
    let mut steps = match (browser.system, browser.family) {
        (System::Linux, Family::Chrome | Family::Edge | Family::Opera) => vec![
            "Chrome on Linux takes this adapter without a word where it does not trust the driver, as with many of \
             NVIDIA's: open chrome://flags, turn on “Vulkan” and “Unsafe WebGPU Support”, and restart the browser.",
            "Check chrome://gpu: behind “WebGPU” and “Vulkan” it should say “Hardware accelerated” or “Enabled”.",
        ],
        (_, Family::Chrome | Family::Edge | Family::Opera) => vec![
            "In Settings → System, turn on “Use graphics acceleration when available” and restart the browser.",
            "Update the graphics driver; chrome://gpu says whether the browser blocks the present one.",
        ],
        (_, Family::Firefox) => {
            vec![
                "Update the graphics driver; about:support says which adapters Firefox sees, and why it leaves one out.",
            ]
        }
        _ => vec!["Update the operating system, and with it the graphics driver."],
    };
    steps.push("Two GPUs? A browser offers pages one of them: the system's graphics settings say which.");
    steps.push("native-runner --adapter discrete takes the GPU itself, or says that there is none.");
    steps
}

fn particular(browser: &Browser, obstacle: Obstacle) -> Vec<&'static str> {
    match (browser.system, browser.family) {
        // Every browser on these devices is Safari inside.
        (System::Ios, _) => vec![
            "Update to iOS or iPadOS 26: WebGPU is on from there, in Safari and in every other browser.",
            "On iOS 18: Settings → Apps → Safari → Advanced → Feature Flags → WebGPU.",
        ],
        (System::Android, Family::Chrome | Family::Edge | Family::Opera | Family::SamsungInternet) => vec![
            "Update the browser: Chrome has WebGPU since version 121, on Android 12 and newer.",
            "Older graphics chips are left out; chrome://gpu says whether yours is.",
        ],
        (System::Android, _) => vec!["Open this page in Chrome: version 121 or newer, on Android 12 or newer."],
        (System::Linux, Family::Chrome | Family::Edge | Family::Opera) => vec![
            "Open chrome://flags, turn on “Unsafe WebGPU Support” and “Vulkan”, and restart the browser.",
            "Check that a Vulkan driver is installed: the command vulkaninfo lists your GPU.",
            "In Settings → System, turn on “Use graphics acceleration when available”.",
        ],
        (System::Linux, Family::Firefox) => vec![
            "Open about:config, set dom.webgpu.enabled to true and restart; Firefox Nightly has it on.",
            "Or open this page in Chrome, with “Unsafe WebGPU Support” and “Vulkan” turned on in chrome://flags.",
        ],
        (_, Family::Chrome | Family::Edge | Family::Opera) if obstacle == Obstacle::NoAdapter => vec![
            "In Settings → System, turn on “Use graphics acceleration when available” and restart the browser.",
            "Update the graphics driver; chrome://gpu says whether the browser blocks the present one.",
        ],
        (_, Family::Chrome | Family::Edge | Family::Opera) => {
            vec!["Update the browser: WebGPU is on since version 113. Then reload this page."]
        }
        (System::Windows, Family::Firefox) => {
            vec![
                "Update Firefox: WebGPU is on since version 141. Then update the graphics driver if this page still appears.",
            ]
        }
        (_, Family::Firefox) => vec![
            "Update Firefox: WebGPU is on since version 145 on Macs with Apple silicon.",
            "On an older Mac, open this page in Chrome or Edge.",
        ],
        (_, Family::Safari) => vec![
            "Update to Safari 26, which comes with macOS 26: WebGPU is on from there.",
            "On an older macOS, open this page in Chrome or Edge.",
        ],
        _ => vec!["Open this page in a current Chrome, Edge, Firefox or Safari."],
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
    fn an_insecure_page_is_not_blamed_on_the_browser() {
        assert!(advice_for("Windows NT 10.0 Edg/142.0", Obstacle::InsecurePage).contains("https://"));
    }
}

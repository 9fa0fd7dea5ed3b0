//! Family, major version and operating system of a browser; nothing else of its user-agent string is kept.

use crate::t;
use results::{Client, ClientKind};

/// A browser as far as a record knows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Browser {
    pub family: Family,
    /// Major version, such as `142`; empty where the string has none.
    pub major: String,
    pub system: System,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Family {
    Chrome,
    Edge,
    Firefox,
    Opera,
    Safari,
    SamsungInternet,
    Unknown,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum System {
    Android,
    Ios,
    Linux,
    MacOs,
    Windows,
    Unknown,
}

/// Words of user-agent strings, the more particular before those that others imitate.
const FAMILIES: &[(&str, Family)] = &[
    ("EdgA/", Family::Edge),
    ("EdgiOS/", Family::Edge),
    ("Edg/", Family::Edge),
    ("OPR/", Family::Opera),
    ("SamsungBrowser/", Family::SamsungInternet),
    ("FxiOS/", Family::Firefox),
    ("Firefox/", Family::Firefox),
    ("CriOS/", Family::Chrome),
    ("HeadlessChrome/", Family::Chrome),
    ("Chrome/", Family::Chrome),
    ("Version/", Family::Safari),
];

/// Likewise: Android calls itself Linux as well.
const SYSTEMS: &[(&str, System)] = &[
    ("Android", System::Android),
    ("iPhone", System::Ios),
    ("iPad", System::Ios),
    ("Windows", System::Windows),
    ("Macintosh", System::MacOs),
    ("Linux", System::Linux),
    ("CrOS", System::Linux),
];

impl Browser {
    /// Reads a user-agent string. An iPad calls itself a Macintosh, but has several `touch_points`.
    pub fn from_user_agent(text: &str, touch_points: u32) -> Self {
        let found = FAMILIES.iter().find_map(|&(word, family)| {
            let rest = text.split_once(word)?.1;
            Some((family, rest.chars().take_while(char::is_ascii_digit).collect::<String>()))
        });
        let system =
            SYSTEMS.iter().find(|(word, _)| text.contains(word)).map_or(System::Unknown, |&(_, system)| system);
        let system = if system == System::MacOs && touch_points > 1 { System::Ios } else { system };
        let (family, major) = found.unwrap_or((Family::Unknown, String::new()));
        Self { family, major, system }
    }

    /// How a record names it.
    pub fn client(&self, logical_processors: Option<u32>) -> Client {
        Client {
            kind: ClientKind::Browser,
            name: self.family.name().to_owned(),
            version: if self.major.is_empty() { "unknown".to_owned() } else { self.major.clone() },
            operating_system: self.system.name().to_owned(),
            logical_processors,
        }
    }

    /// `Chrome 142 on Linux`, as far as known.
    pub fn title(&self) -> String {
        let Self { family, major, system } = self;
        let name = if *family == Family::Unknown { t!(device_this_browser) } else { family.name() };
        let version = if major.is_empty() { String::new() } else { format!(" {major}") };
        match system {
            System::Unknown => format!("{name}{version}"),
            _ => t!(device_browser_on, browser = format!("{name}{version}"), system = system.name()),
        }
    }
}

impl Family {
    pub fn name(self) -> &'static str {
        match self {
            Self::Chrome => "Chrome",
            Self::Edge => "Edge",
            Self::Firefox => "Firefox",
            Self::Opera => "Opera",
            Self::Safari => "Safari",
            Self::SamsungInternet => "Samsung Internet",
            Self::Unknown => "unknown",
        }
    }
}

impl System {
    pub fn name(self) -> &'static str {
        match self {
            Self::Android => "Android",
            Self::Ios => "iOS",
            Self::Linux => "Linux",
            Self::MacOs => "macOS",
            Self::Windows => "Windows",
            Self::Unknown => "unknown",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_leaderboard_filters_by_every_family() {
        let mut families = FAMILIES.iter().map(|(_, family)| family.name());
        assert!(families.all(|name| results::BROWSERS.contains(&name)));
        let mut systems = SYSTEMS.iter().map(|(_, system)| system.name());
        assert!(systems.all(|name| results::SYSTEMS.contains(&name)));
        assert_eq!((Family::Unknown.name(), System::Unknown.name()), (results::UNKNOWN, results::UNKNOWN));
    }

    fn check(user_agent: &str, touch_points: u32, title: &str) {
        assert_eq!(Browser::from_user_agent(user_agent, touch_points).title(), title, "{user_agent}");
    }

    #[test]
    fn browsers_are_told_apart_although_they_imitate_each_other() {
        const WEBKIT: &str = "AppleWebKit/537.36 (KHTML, like Gecko)";
        let windows = format!("Mozilla/5.0 (Windows NT 10.0; Win64; x64) {WEBKIT} Chrome/142.0.0.0 Safari/537.36");
        check(&windows, 0, "Chrome 142 on Windows");
        check(&format!("{windows} Edg/142.0.0.0"), 0, "Edge 142 on Windows");
        check(&format!("{windows} OPR/125.0.0.0"), 0, "Opera 125 on Windows");
        let linux = format!("Mozilla/5.0 (X11; Linux x86_64) {WEBKIT} HeadlessChrome/140.0.0.0 Safari/537.36");
        check(&linux, 0, "Chrome 140 on Linux");
        let samsung =
            format!("Mozilla/5.0 (Linux; Android 10; K) {WEBKIT} SamsungBrowser/29.0 Chrome/136.0.0.0 Mobile");
        check(&samsung, 5, "Samsung Internet 29 on Android");
        check(
            "Mozilla/5.0 (Macintosh; Intel Mac OS X 10.15; rv:145.0) Gecko/20100101 Firefox/145.0",
            0,
            "Firefox 145 on macOS",
        );
    }

    #[test]
    fn an_ipad_that_calls_itself_a_macintosh_is_recognised_by_its_touch_screen() {
        let safari = "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) \
                      Version/26.0 Safari/605.1.15";
        check(safari, 0, "Safari 26 on macOS");
        check(safari, 5, "Safari 26 on iOS");
        let chrome = "Mozilla/5.0 (iPhone; CPU iPhone OS 26_0 like Mac OS X) AppleWebKit/605.1.15 CriOS/142.0 Mobile";
        check(chrome, 5, "Chrome 142 on iOS");
    }

    #[test]
    fn a_record_holds_family_and_major_version_only() {
        let text = "Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Gecko/20100101 Firefox/145.0.3";
        let client = Browser::from_user_agent(text, 0).client(Some(8));
        assert_eq!((client.name.as_str(), client.version.as_str()), ("Firefox", "145"));
        assert_eq!(Browser::from_user_agent("Lynx", 0).client(None).version, "unknown");
    }
}

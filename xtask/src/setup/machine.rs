//! What is known about the machine, gathered in one value so that every decision about it can be tested.

use crate::workspace::find_program;
use std::ffi::OsString;
use std::fs;
use std::path::PathBuf;
use std::process::{Command, Stdio};

/// The operating system as far as packages depend on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum System {
    /// Debian 12, whose own Mesa is too old for us.
    Bookworm,
    /// Ubuntu, or something built on it: some packages have other names than Debian's.
    Ubuntu,
    Other,
}

#[derive(Clone, Debug)]
pub(super) struct Machine {
    pub system: System,
    /// What starts a shell with an administrator's rights without asking for a password, where something does.
    pub administrator: Option<&'static [&'static str]>,
    /// Where programs are looked for, in the form of the PATH variable.
    pub path: OsString,
    /// The root of the file system; a test's own folder in tests.
    pub root: PathBuf,
    /// The version of the package `mesa-vulkan-drivers`, where dpkg knows one.
    pub mesa: Option<String>,
}

impl Machine {
    pub(super) fn this_one() -> Self {
        let is_root = answer("id", &["-u"]).is_some_and(|user| user.trim() == "0");
        let may_become_root = || answer("sudo", &["-n", "true"]).is_some();
        let mesa = answer("dpkg-query", &["-W", "-f", "${db:Status-Status} ${Version}", "mesa-vulkan-drivers"]);
        Self {
            system: System::from_os_release(&fs::read_to_string("/etc/os-release").unwrap_or_default()),
            administrator: if is_root { Some(&["sh"]) } else { may_become_root().then_some(&["sudo", "-n", "sh"]) },
            path: std::env::var_os("PATH").unwrap_or_default(),
            root: PathBuf::from("/"),
            mesa: mesa.and_then(|text| text.strip_prefix("installed ").map(str::to_owned)),
        }
    }

    pub(super) fn has_program(&self, name: &str) -> bool {
        find_program(name, &self.path).is_some()
    }
}

impl System {
    /// Reads the text of `/etc/os-release`, which only Linux has.
    fn from_os_release(text: &str) -> Self {
        let says = |name: &str, word: &str| {
            let values = text.lines().filter_map(|line| line.strip_prefix(name)?.strip_prefix('='));
            values.flat_map(|value| value.trim_matches(['"', '\'']).split_whitespace()).any(|said| said == word)
        };
        if says("ID", "ubuntu") || says("ID_LIKE", "ubuntu") {
            Self::Ubuntu
        } else if says("ID", "debian") && says("VERSION_ID", "12") {
            Self::Bookworm
        } else {
            Self::Other
        }
    }
}

/// What a program prints, if it is there and ends well.
pub(super) fn answer(program: &str, arguments: &[&str]) -> Option<String> {
    let output = Command::new(program).args(arguments).stdin(Stdio::null()).stderr(Stdio::null()).output();
    String::from_utf8(output.ok().filter(|output| output.status.success())?.stdout).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn systems_are_told_apart_by_os_release() {
        let debian = |version: &str| {
            let text = format!("PRETTY_NAME=\"Debian GNU/Linux\"\nVERSION_ID=\"{version}\"\nID=debian\n");
            System::from_os_release(&text)
        };
        assert_eq!(debian("12"), System::Bookworm);
        assert_eq!(debian("13"), System::Other);
        let ubuntu = "NAME=\"Ubuntu\"\nVERSION_ID=\"24.04\"\nID=ubuntu\nID_LIKE=debian\n";
        let mint = "ID=linuxmint\nID_LIKE=\"ubuntu debian\"\nVERSION_ID=12\n";
        for text in [ubuntu, mint] {
            assert_eq!(System::from_os_release(text), System::Ubuntu);
        }
        for text in ["ID=fedora\nVERSION_ID=12\n", "ID=devuan\nID_LIKE=debian\nVERSION_ID=12\n", ""] {
            assert_eq!(System::from_os_release(text), System::Other);
        }
    }
}

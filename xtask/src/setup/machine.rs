//! What is known about the machine, gathered in one value so that every decision about it can be tested.

use super::apt::{self, AptSource};
use crate::workspace::find_program;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The operating system as far as package names depend on it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum System {
    /// Debian, or something built on it that keeps its package names.
    Debian {
        release: Option<u32>,
        codename: String,
    },
    Ubuntu,
    OtherLinux,
    MacOs,
    Windows,
}

/// How commands that need an administrator can be run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Authority {
    Root,
    /// `sudo` works without asking for a password.
    Sudo,
    Nobody,
}

#[derive(Clone, Debug)]
pub(super) struct Machine {
    pub system: System,
    pub authority: Authority,
    pub has_apt: bool,
    pub sources: Vec<AptSource>,
    /// Where programs are looked for, in the form of the PATH variable.
    pub path: OsString,
    /// The root of the file system; a test's own folder in tests.
    pub root: PathBuf,
    /// The version of the package `mesa-vulkan-drivers`, where dpkg knows one.
    pub mesa: Option<String>,
}

impl Machine {
    pub(super) fn this_one() -> Self {
        let path = std::env::var_os("PATH").unwrap_or_default();
        let root = PathBuf::from("/");
        Self {
            system: this_system(&root),
            authority: this_authority(),
            has_apt: find_program("apt-get", &path).is_some(),
            sources: apt::sources(&root.join("etc/apt")),
            mesa: package_version("mesa-vulkan-drivers"),
            path,
            root,
        }
    }

    pub(super) fn has_program(&self, name: &str) -> bool {
        find_program(name, &self.path).is_some()
    }
}

fn this_system(root: &Path) -> System {
    if cfg!(windows) {
        return System::Windows;
    }
    if cfg!(target_os = "macos") {
        return System::MacOs;
    }
    let release = fs::read_to_string(root.join("etc/os-release")).unwrap_or_default();
    system_from_os_release(&release)
}

/// Reads the text of `/etc/os-release`.
fn system_from_os_release(text: &str) -> System {
    let value = |name: &str| {
        text.lines()
            .find_map(|line| line.strip_prefix(name)?.strip_prefix('='))
            .map(|value| value.trim_matches(['"', '\'']).to_owned())
            .unwrap_or_default()
    };
    let like = value("ID_LIKE");
    match value("ID").as_str() {
        "debian" => System::Debian { release: value("VERSION_ID").parse().ok(), codename: value("VERSION_CODENAME") },
        "ubuntu" => System::Ubuntu,
        _ if like.split_whitespace().any(|id| id == "ubuntu") => System::Ubuntu,
        _ if like.split_whitespace().any(|id| id == "debian") => {
            System::Debian { release: None, codename: String::new() }
        }
        _ => System::OtherLinux,
    }
}

fn this_authority() -> Authority {
    let answers = |program: &str, arguments: &[&str]| {
        let output = Command::new(program).args(arguments).stdin(Stdio::null()).stderr(Stdio::null()).output();
        output.ok().filter(|output| output.status.success()).map(|output| output.stdout)
    };
    if answers("id", &["-u"]).is_some_and(|user| user.trim_ascii() == b"0") {
        Authority::Root
    } else if answers("sudo", &["-n", "true"]).is_some() {
        Authority::Sudo
    } else {
        Authority::Nobody
    }
}

/// The version of an installed Debian package.
fn package_version(package: &str) -> Option<String> {
    let output = Command::new("dpkg-query")
        .args(["-W", "-f", "${db:Status-Status} ${Version}", package])
        .stdin(Stdio::null())
        .output()
        .ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    text.strip_prefix("installed ").map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn systems_are_told_apart_by_os_release() {
        let debian =
            "PRETTY_NAME=\"Debian GNU/Linux 12 (bookworm)\"\nVERSION_ID=\"12\"\nVERSION_CODENAME=bookworm\nID=debian\n";
        let ubuntu = "NAME=\"Ubuntu\"\nVERSION_ID=\"24.04\"\nID=ubuntu\nID_LIKE=debian\n";
        let mint = "ID=linuxmint\nID_LIKE=\"ubuntu debian\"\n";
        let fedora = "ID=fedora\nVERSION_ID=42\n";
        assert_eq!(
            system_from_os_release(debian),
            System::Debian { release: Some(12), codename: "bookworm".to_owned() }
        );
        assert_eq!(system_from_os_release(ubuntu), System::Ubuntu);
        assert_eq!(system_from_os_release(mint), System::Ubuntu);
        assert_eq!(system_from_os_release(fedora), System::OtherLinux);
        assert_eq!(system_from_os_release(""), System::OtherLinux);
    }
}

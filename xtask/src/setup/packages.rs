//! Packages of the system: installed where we may, otherwise named in one line to paste.

use super::apt;
use super::machine::{Authority, Machine, System};
use super::vulkan;
use crate::say;
use anyhow::{Result, bail};
use std::process::{Command, Stdio};

/// Something that cargo cannot install.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Need {
    /// SQLite is compiled from C.
    CCompiler,
    /// The data sets are fetched with `npm pack`.
    Npm,
    /// The browser tests drive Chromium through its driver.
    Browser,
    /// The tests of GPU code run on Mesa's llvmpipe where there is no GPU.
    Vulkan,
}

/// Mesa's llvmpipe crashes on some of our shaders before this major version, and is several times slower.
const OLDEST_MESA: u32 = 24;
/// Debian 12's own Mesa is older than that; its backports are not.
const DEBIAN_WITH_OLD_MESA: u32 = 12;
const MESA: &str = "mesa-vulkan-drivers";

impl Need {
    fn is_met(self, machine: &Machine) -> bool {
        let any = |names: &[&str]| names.iter().any(|name| machine.has_program(name));
        match self {
            // On Windows the compiler is not on the PATH; Rust's own linker finds it, and so does the `cc` crate.
            Self::CCompiler => any(&["cc", "gcc", "clang"]) || machine.system == System::Windows,
            Self::Npm => any(&["npm"]),
            Self::Browser => {
                any(&["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"])
                    && any(&["chromedriver"])
                    || mac_chrome(machine) && any(&["chromedriver"])
            }
            Self::Vulkan => {
                vulkan::lavapipe(&machine.root).is_some()
                    && vulkan::has_loader(&machine.root)
                    && machine.mesa.as_deref().and_then(major_version).is_none_or(|major| major >= OLDEST_MESA)
            }
        }
    }

    /// The names of Debian's packages, and Ubuntu's where they differ.
    fn packages(self, system: &System) -> &'static [&'static str] {
        match (self, system) {
            (Self::CCompiler, _) => &["build-essential"],
            (Self::Npm, _) => &["npm"],
            (Self::Browser, System::Ubuntu) => &["chromium-browser", "chromium-chromedriver"],
            (Self::Browser, _) => &["chromium", "chromium-driver"],
            (Self::Vulkan, _) => &[MESA, "libvulkan1"],
        }
    }

    /// What to install where there is no apt.
    fn in_words(self) -> &'static str {
        match self {
            Self::CCompiler => "a C compiler (`cc`)",
            Self::Npm => "Node.js with `npm`",
            Self::Browser => "Chromium or Chrome, and `chromedriver` of the same version on the PATH",
            Self::Vulkan => {
                "Mesa's Vulkan drivers, version 24 or newer, with llvmpipe (lavapipe), and the Vulkan loader"
            }
        }
    }
}

fn mac_chrome(machine: &Machine) -> bool {
    machine.root.join("Applications/Google Chrome.app").exists()
        || machine.root.join("Applications/Chromium.app").exists()
}

/// The leading number of a Debian version such as `25.0.7-2~bpo12+1` or `1:24.2`.
fn major_version(version: &str) -> Option<u32> {
    let without_epoch = version.split_once(':').map_or(version, |(_, rest)| rest);
    without_epoch.split(|letter: char| !letter.is_ascii_digit()).next()?.parse().ok()
}

/// Installs what is missing, and looks again to be sure that it is there.
///
/// # Errors
/// When something is missing and cannot be installed from here; the error says what the person has to do.
pub(super) fn ensure(machine: &Machine, needs: &[Need], look_again: impl Fn() -> Machine) -> Result<()> {
    let missing = missing(machine, needs);
    if missing.is_empty() {
        return Ok(());
    }
    let words = in_words(&missing);
    if !machine.has_apt {
        bail!("this machine lacks {words}: install that and run the same command again");
    }
    let script = script(machine, &missing);
    let mut command = match machine.authority {
        Authority::Root => Command::new("sh"),
        Authority::Sudo => {
            let mut sudo = Command::new("sudo");
            sudo.args(["-n", "sh"]);
            sudo
        }
        Authority::Nobody => bail!(
            "this machine lacks {words}. Installing needs an administrator: paste this line, then run the same command \
             again\n\n    sudo sh -c '{script}'\n"
        ),
    };
    say::step("Installing", format!("{words} with apt-get"));
    // What apt prints goes to stderr: stdout belongs to the tests.
    let output = command.args(["-c", &script]).stdin(Stdio::null()).stdout(std::io::stderr()).status()?;
    if !output.success() {
        bail!(
            "apt-get could not install {words}, see its messages above; this is what was run:\n\n    sh -c '{script}'\n"
        );
    }
    let still = super::packages::missing(&look_again(), needs);
    if !still.is_empty() {
        bail!("apt-get went well, but this machine still lacks {}: install that by other means", in_words(&still));
    }
    Ok(())
}

fn missing(machine: &Machine, needs: &[Need]) -> Vec<Need> {
    needs.iter().copied().filter(|need| !need.is_met(machine)).collect()
}

fn in_words(needs: &[Need]) -> String {
    needs.iter().map(|need| need.in_words()).collect::<Vec<_>>().join("; ")
}

/// The shell commands that install the missing, for an administrator. Free of single quotes, so that they can stand
/// inside some.
fn script(machine: &Machine, missing: &[Need]) -> String {
    let backports = backports_suite(machine, missing);
    let mut commands = Vec::new();
    if let Some((codename, suite)) = &backports
        && !apt::offers(&machine.sources, suite)
        && let Some(line) = apt::backports_line(&machine.sources, codename)
    {
        commands.push(format!("echo \"{line}\" > /etc/apt/sources.list.d/gradmark-backports.list"));
    }
    let packages: Vec<&str> = missing
        .iter()
        .flat_map(|need| need.packages(&machine.system))
        .copied()
        .filter(|package| backports.is_none() || *package != MESA)
        .collect();
    // A machine that has just started may be busy with updates of its own: wait for them instead of giving up.
    let install = "apt-get install -y --no-install-recommends -o DPkg::Lock::Timeout=300";
    // A package source of somebody else's that does not answer makes `update` fail and changes nothing for us: what
    // matters is whether the packages can be installed afterwards.
    commands.push("export DEBIAN_FRONTEND=noninteractive; apt-get update -q || true".to_owned());
    if !packages.is_empty() {
        commands.push(format!("{install} -q {}", packages.join(" ")));
    }
    if let Some((_, suite)) = &backports {
        commands.push(format!("{install} -q -t {suite} {MESA}"));
    }
    commands.join(" && ")
}

/// The codename and the backports suite to take Mesa from, where the release's own is too old.
fn backports_suite(machine: &Machine, missing: &[Need]) -> Option<(String, String)> {
    match &machine.system {
        System::Debian { release: Some(DEBIAN_WITH_OLD_MESA), codename } if missing.contains(&Need::Vulkan) => {
            Some((codename.clone(), format!("{codename}-backports")))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::path::Path;

    fn bare(root: &Path, system: System) -> Machine {
        Machine {
            system,
            authority: Authority::Nobody,
            has_apt: true,
            sources: vec![apt::AptSource {
                uri: "http://mirror.example/debian".to_owned(),
                suites: vec!["bookworm".to_owned()],
                components: vec!["main".to_owned()],
                signed_by: Some("/k.gpg".to_owned()),
            }],
            path: root.join("bin").into(),
            root: root.to_path_buf(),
            mesa: None,
        }
    }

    fn bookworm() -> System {
        System::Debian { release: Some(12), codename: "bookworm".to_owned() }
    }

    const ALL: [Need; 4] = [Need::CCompiler, Need::Npm, Need::Browser, Need::Vulkan];

    #[test]
    fn without_an_administrator_one_line_to_paste_installs_everything() {
        let root = tempfile::tempdir().unwrap();
        let machine = bare(root.path(), bookworm());
        let error = ensure(&machine, &ALL, || unreachable!("nothing was installed")).unwrap_err().to_string();
        let lines: Vec<&str> = error.lines().map(str::trim).filter(|line| line.starts_with("sudo")).collect();
        assert_eq!(
            lines,
            ["sudo sh -c 'echo \"deb [signed-by=/k.gpg] http://mirror.example/debian bookworm-backports main\" > \
              /etc/apt/sources.list.d/gradmark-backports.list && export DEBIAN_FRONTEND=noninteractive; apt-get update \
              -q || true && apt-get install -y --no-install-recommends -o DPkg::Lock::Timeout=300 -q build-essential npm chromium \
              chromium-driver libvulkan1 && apt-get install -y --no-install-recommends -o DPkg::Lock::Timeout=300 -q -t \
              bookworm-backports mesa-vulkan-drivers'"]
        );
    }

    #[test]
    fn a_newer_debian_and_ubuntu_take_their_own_mesa() {
        let root = tempfile::tempdir().unwrap();
        let trixie = System::Debian { release: Some(13), codename: "trixie".to_owned() };
        for system in [trixie, System::Ubuntu] {
            let script = script(&bare(root.path(), system), &[Need::Vulkan]);
            assert!(script.ends_with(" -q mesa-vulkan-drivers libvulkan1"), "{script}");
            assert!(!script.contains("backports"), "{script}");
        }
    }

    #[test]
    fn backports_that_are_there_already_are_not_added_again() {
        let root = tempfile::tempdir().unwrap();
        let mut machine = bare(root.path(), bookworm());
        machine.sources[0].suites.push("bookworm-backports".to_owned());
        let script = script(&machine, &[Need::Vulkan]);
        assert!(!script.contains("sources.list.d") && script.contains("-t bookworm-backports"), "{script}");
    }

    #[test]
    fn without_apt_the_missing_things_are_named() {
        let root = tempfile::tempdir().unwrap();
        let mut machine = bare(root.path(), System::OtherLinux);
        machine.has_apt = false;
        let error = ensure(&machine, &ALL, || unreachable!("nothing was installed")).unwrap_err().to_string();
        for part in ["C compiler", "npm", "chromedriver", "llvmpipe"] {
            assert!(error.contains(part), "{part:?} is not in {error:?}");
        }
    }

    #[cfg(unix)]
    #[test]
    fn what_is_there_is_left_alone_and_an_old_mesa_is_not_enough() {
        use std::os::unix::fs::PermissionsExt;
        let root = tempfile::tempdir().unwrap();
        let mut machine = bare(root.path(), bookworm());
        for folder in ["bin", "usr/share/vulkan/icd.d", "usr/lib/x86_64-linux-gnu"] {
            fs::create_dir_all(root.path().join(folder)).unwrap();
        }
        for program in ["cc", "npm", "chromium", "chromedriver"] {
            let path = root.path().join("bin").join(program);
            fs::write(&path, "").unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        }
        fs::write(root.path().join("usr/share/vulkan/icd.d/lvp_icd.json"), "{}").unwrap();
        fs::write(root.path().join("usr/lib/x86_64-linux-gnu/libvulkan.so.1"), "").unwrap();
        machine.mesa = Some("25.0.7-2~bpo12+1".to_owned());
        ensure(&machine, &ALL, || unreachable!("nothing is missing")).unwrap();
        machine.mesa = Some("22.3.6-1+deb12u1".to_owned());
        assert_eq!(missing(&machine, &ALL), [Need::Vulkan]);
    }

    #[test]
    fn versions_of_debian_packages_have_a_major_number() {
        assert_eq!(major_version("25.0.7-2~bpo12+1"), Some(25));
        assert_eq!(major_version("1:24.2.8-1ubuntu1"), Some(24));
        assert_eq!(major_version("unknown"), None);
    }
}

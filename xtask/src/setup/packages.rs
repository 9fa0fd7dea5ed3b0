//! Packages of the system: installed where we may, otherwise named in one line to paste.

use super::apt;
use super::machine::{Machine, System};
use super::vulkan;
use crate::say;
use anyhow::{Result, bail};
use std::process::{Command, Stdio};

/// Something that cargo cannot install.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Need {
    /// SQLite is compiled from C.
    CCompiler,
    /// The data sets are fetched from npm's registry.
    Download,
    /// The browser tests drive Chromium through its driver.
    Chromium,
    /// They drive Firefox, too, which needs no driver.
    Firefox,
    /// The tests of GPU code run on Mesa's llvmpipe where there is no GPU.
    Vulkan,
    /// The leaderboard's tests start a PostgreSQL server of their own.
    Postgres,
}

/// Mesa's llvmpipe crashes on some of our shaders before this major version, and is several times slower.
const OLDEST_MESA: u32 = 24;
const MESA: &str = "mesa-vulkan-drivers";
/// Comes first, to be told that no server is wanted that runs all the time.
const POSTGRES_COMMON: &str = "postgresql-common";

impl Need {
    fn is_met(self, machine: &Machine) -> bool {
        let any = |names: &[&str]| names.iter().any(|name| machine.has_program(name));
        let is_there = |path: &str| machine.root.join(path).exists();
        match self {
            // On Windows the compiler is not on the PATH; Rust's own linker finds it, and so does the `cc` crate.
            Self::CCompiler => any(&["cc", "gcc", "clang"]) || cfg!(windows),
            Self::Download => any(&["curl", "npm"]),
            Self::Chromium => {
                let on_the_path = any(&["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"]);
                let on_a_mac = ["Applications/Google Chrome.app", "Applications/Chromium.app"];
                (on_the_path || on_a_mac.into_iter().any(is_there)) && any(&["chromedriver"])
            }
            Self::Firefox => any(&["firefox-esr", "firefox"]) || is_there("Applications/Firefox.app"),
            // Debian keeps the programs of each version in a folder of its own.
            Self::Postgres => {
                any(&["initdb"])
                    || machine.root.join("usr/lib/postgresql").read_dir().is_ok_and(|mut versions| {
                        versions.any(|version| version.is_ok_and(|version| version.path().join("bin/initdb").exists()))
                    })
            }
            Self::Vulkan => {
                vulkan::lavapipe(&machine.root).is_some()
                    && vulkan::has_loader(&machine.root)
                    && machine.mesa.as_deref().and_then(major_version).is_none_or(|major| major >= OLDEST_MESA)
            }
        }
    }

    /// The names of Debian's packages, and Ubuntu's where they differ.
    fn packages(self, system: System) -> &'static [&'static str] {
        match self {
            Self::CCompiler => &["build-essential"],
            Self::Download => &["curl", "ca-certificates"],
            Self::Chromium if system == System::Ubuntu => &["chromium-browser", "chromium-chromedriver"],
            Self::Chromium => &["chromium", "chromium-driver"],
            Self::Firefox if system == System::Ubuntu => &["firefox"],
            Self::Firefox => &["firefox-esr"],
            Self::Vulkan => &[MESA, "libvulkan1"],
            Self::Postgres => &["postgresql"],
        }
    }

    /// What to install where there is no apt.
    fn in_words(self) -> &'static str {
        match self {
            Self::CCompiler => "a C compiler (`cc`)",
            Self::Download => "`curl` (or Node.js with `npm`)",
            Self::Chromium => "Chromium or Chrome, and `chromedriver` of the same version on the PATH",
            Self::Firefox => "Firefox",
            Self::Vulkan => {
                "Mesa's Vulkan drivers, version 24 or newer, with llvmpipe (lavapipe), and the Vulkan loader"
            }
            Self::Postgres => "PostgreSQL 15 or newer, with `initdb` and `pg_ctl` on the PATH",
        }
    }
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
    if !machine.has_program("apt-get") {
        bail!("this machine lacks {words}: install that and run the same command again");
    }
    let backports = || apt::backports_line(&machine.root.join("etc/apt"));
    let backports = needs_backports(machine.system, &missing).then(backports).flatten();
    let script = script(machine.system, &missing, backports.as_deref());
    let Some(shell) = machine.administrator else {
        bail!(
            "this machine lacks {words}. Installing needs an administrator: paste this line, then run the same command \
             again\n\n    sudo sh -c '{script}'\n"
        );
    };
    say::step("Installing", format!("{words} with apt-get"));
    // What apt prints goes to stderr: stdout belongs to the tests.
    let mut command = Command::new(shell[0]);
    command.args(&shell[1..]).args(["-c", &script]).stdin(Stdio::null()).stdout(std::io::stderr());
    if !command.status()?.success() {
        bail!(
            "apt-get could not install {words}, see its messages above; this is what was run:\n\n    sh -c '{script}'\n"
        );
    }
    let still = self::missing(&look_again(), needs);
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
/// inside some. `backports` is the source to add for the backports of Debian 12.
fn script(system: System, missing: &[Need], backports: Option<&str>) -> String {
    let needs_backports = needs_backports(system, missing);
    let packages = missing.iter().flat_map(|need| need.packages(system)).copied();
    let packages: Vec<&str> = packages.filter(|package| !needs_backports || *package != MESA).collect();
    // A machine that has just started may be busy with updates of its own: wait for them instead of giving up.
    let install = "apt-get install -y --no-install-recommends -o DPkg::Lock::Timeout=300 -q";
    let add = |line| format!("echo \"{line}\" > /etc/apt/sources.list.d/gradmark-backports.list");
    let mut commands: Vec<String> = backports.map(add).into_iter().collect();
    // A package source of somebody else's that does not answer makes `update` fail and changes nothing for us: what
    // matters is whether the packages can be installed afterwards.
    commands.push("export DEBIAN_FRONTEND=noninteractive; apt-get update -q || true".to_owned());
    if missing.contains(&Need::Postgres) {
        commands.push(format!("{install} {POSTGRES_COMMON}"));
        let file = "/etc/postgresql-common/createcluster.conf";
        commands.push(format!("echo \"create_main_cluster = false\" >> {file}"));
    }
    if !packages.is_empty() {
        commands.push(format!("{install} {}", packages.join(" ")));
    }
    if needs_backports {
        commands.push(format!("{install} -t bookworm-backports {MESA}"));
    }
    commands.join(" && ")
}

/// Whether Mesa has to come from Debian 12's backports, because its own is too old.
fn needs_backports(system: System, missing: &[Need]) -> bool {
    system == System::Bookworm && missing.contains(&Need::Vulkan)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::path::Path;

    const ALL: [Need; 6] =
        [Need::CCompiler, Need::Download, Need::Chromium, Need::Firefox, Need::Vulkan, Need::Postgres];

    /// A machine that has these programs and nothing else.
    fn machine(root: &Path, system: System, programs: &[&str]) -> Machine {
        fs::create_dir(root.join("bin")).unwrap();
        for program in programs {
            let path = root.join("bin").join(program);
            fs::write(&path, "").unwrap();
            #[cfg(unix)]
            fs::set_permissions(&path, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
        }
        Machine { system, administrator: None, path: root.join("bin").into(), root: root.to_path_buf(), mesa: None }
    }

    #[cfg(unix)]
    #[test]
    fn without_an_administrator_there_is_one_line_to_paste() {
        let root = tempfile::tempdir().unwrap();
        let machine = machine(root.path(), System::Other, &["apt-get"]);
        let error = ensure(&machine, &ALL, || unreachable!("nothing was installed")).unwrap_err().to_string();
        let lines: Vec<&str> = error.lines().map(str::trim).filter(|line| line.starts_with("sudo")).collect();
        assert_eq!(lines, [format!("sudo sh -c '{}'", script(System::Other, &ALL, None))]);
    }

    #[test]
    fn debian_12_gets_everything_and_mesa_from_its_backports() {
        let line = "deb [signed-by=/k.gpg] http://mirror.example/debian bookworm-backports main";
        let install = "apt-get install -y --no-install-recommends -o DPkg::Lock::Timeout=300 -q";
        let commands = format!(
            "export DEBIAN_FRONTEND=noninteractive; apt-get update -q || true && {install} postgresql-common && echo \
             \"create_main_cluster = false\" >> /etc/postgresql-common/createcluster.conf && {install} build-essential \
             curl ca-certificates chromium chromium-driver firefox-esr libvulkan1 postgresql && {install} -t \
             bookworm-backports mesa-vulkan-drivers"
        );
        let adding = format!("echo \"{line}\" > /etc/apt/sources.list.d/gradmark-backports.list && {commands}");
        assert_eq!(script(System::Bookworm, &ALL, Some(line)), adding);
        assert_eq!(script(System::Bookworm, &ALL, None), commands);
    }

    #[test]
    fn a_newer_debian_and_ubuntu_take_their_own_mesa() {
        for system in [System::Other, System::Ubuntu] {
            let script = script(system, &[Need::Vulkan], None);
            assert!(script.ends_with(" -q mesa-vulkan-drivers libvulkan1"), "{script}");
            assert!(!needs_backports(system, &ALL), "{system:?}");
        }
    }

    #[test]
    fn without_apt_the_missing_things_are_named() {
        let root = tempfile::tempdir().unwrap();
        let machine = machine(root.path(), System::Other, &[]);
        let error = ensure(&machine, &ALL, || unreachable!("nothing was installed")).unwrap_err().to_string();
        for part in ["C compiler", "curl", "chromedriver", "Firefox", "llvmpipe", "PostgreSQL"] {
            assert!(error.contains(part), "{part:?} is not in {error:?}");
        }
    }

    #[cfg(unix)]
    #[test]
    fn what_is_there_is_left_alone_and_an_old_mesa_is_not_enough() {
        let root = tempfile::tempdir().unwrap();
        let programs = ["cc", "curl", "chromium", "chromedriver", "firefox-esr"];
        let mut machine = machine(root.path(), System::Bookworm, &programs);
        let files =
            ["usr/share/vulkan/icd.d/lvp_icd.json", "usr/lib/libvulkan.so.1", "usr/lib/postgresql/15/bin/initdb"];
        for file in files {
            fs::create_dir_all(root.path().join(file).parent().unwrap()).unwrap();
            fs::write(root.path().join(file), "").unwrap();
        }
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

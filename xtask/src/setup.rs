//! Setup of the machine: installs what the commands need besides Rust and git. Keeps what is already installed.

use crate::say;
use crate::workspace::{self, WASM};
use anyhow::{Result, bail, ensure};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Needs of the current command, in addition to a C compiler, which compiles SQLite.
#[derive(Clone, Copy, Default)]
pub(crate) struct Wanted {
    /// A program that downloads archives of data sets.
    pub download: bool,
    /// Chromium, and the driver that tests use to control it.
    pub chromium: bool,
    pub firefox: bool,
    /// A Vulkan driver that works without a GPU.
    pub software_vulkan: bool,
    /// Programs of a PostgreSQL server, which tests start themselves.
    pub postgres: bool,
}

/// Dependency that cargo cannot install: its name for systems without apt, and its packages in Debian and in Ubuntu.
type Need = (&'static str, [&'static str; 2]);

/// Oldest supported major version of Mesa. Earlier versions of llvmpipe crash on some shaders and are several times
/// slower.
const MIN_MESA_VERSION: u32 = 24;
const MESA: &str = "mesa-vulkan-drivers";

// These commands contain no single quotes, because they are pasted between single quotes.
// The lock timeout waits for the updates that a machine installs after its start.
const INSTALL: &str = "apt-get install -y --no-install-recommends -o DPkg::Lock::Timeout=300 -q";
/// Enables Debian 12's backports if necessary, from the machine's mirror of Debian 12.
const ENABLE_BACKPORTS: &str = "\
    { apt-get indextargets \"Codename: bookworm-backports\" \"Component: main\" | grep -q . || { \
    mirror=$(apt-get indextargets --format \"\\$(REPO_URI)\" \"Created-By: Packages\" \"Codename: bookworm\" \
    \"Origin: Debian\" \"Component: main\" | head -n 1); \
    echo \"deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] ${mirror:?apt lists no mirror of Debian 12} \
    bookworm-backports main\" > /etc/apt/sources.list.d/gradmark-backports.list; \
    apt-get update -q; }; }";
/// Prevents the PostgreSQL package from starting a permanent server.
const CREATE_NO_CLUSTER: &str = "echo \"create_main_cluster = false\" >> /etc/postgresql-common/createcluster.conf";

/// Installs what is missing on this machine. If that needs an administrator or another tool than apt, the error says
/// what to do.
pub(crate) fn system(wanted: Wanted) -> Result<()> {
    let missing = find_missing(wanted);
    if missing.is_empty() {
        return Ok(());
    }
    let description = describe(&missing);
    ensure!(on_path(&["apt-get"]), "this machine lacks {description}: install it and run the same command again");
    let script = script(&fs::read_to_string("/etc/os-release").unwrap_or_default(), &missing);
    let shell = if output_of("id", &["-u"]).is_some_and(|user| user.trim() == "0") {
        &["sh", "-c"][..]
    } else if output_of("sudo", &["-n", "true"]).is_some() {
        &["sudo", "-n", "sh", "-c"]
    } else {
        bail!(
            "this machine lacks {description}. Installing it needs an administrator: paste this line, then run the same \
             command again\n\n    sudo sh -c '{script}'\n"
        );
    };
    say::step("Installing", format!("{description} with apt-get"));
    let mut command = Command::new(shell[0]);
    // Standard output is reserved for test results.
    command.args(&shell[1..]).arg(&script).stdin(Stdio::null()).stdout(std::io::stderr());
    workspace::run(&mut command, &format!("the installation with `sh -c '{script}'`"))?;
    let missing = describe(&find_missing(wanted));
    ensure!(missing.is_empty(), "apt-get succeeded, but this machine still lacks {missing}: install it yourself");
    Ok(())
}

fn find_missing(wanted: Wanted) -> Vec<Need> {
    let exists = |path: &str| Path::new(path).exists();
    let has_chromium = on_path(&["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"])
        || ["Google Chrome", "Chromium"].iter().any(|name| exists(&format!("/Applications/{name}.app")));
    let has_firefox = on_path(&["firefox-esr", "firefox"]) || exists("/Applications/Firefox.app");
    // Debian has one folder per version of PostgreSQL.
    let mut postgres_versions = fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten();
    let has_postgres = postgres_versions.any(|version| version.path().join("bin/initdb").exists());
    // On other systems, tests report that they are skipped.
    let is_linux = cfg!(target_os = "linux");
    let has_vulkan = || has_llvmpipe() && has_new_mesa();
    let needs = [
        // On Windows, the compiler is not on the PATH; the `cc` crate finds it.
        (!cfg!(windows) && !on_path(&["cc", "gcc", "clang"]), ("a C compiler (`cc`)", ["build-essential"; 2])),
        (
            wanted.download && !on_path(&["curl", "npm"]),
            ("`curl` (or Node.js with `npm`)", ["curl ca-certificates"; 2]),
        ),
        (
            wanted.chromium && !(has_chromium && on_path(&["chromedriver"])),
            (
                "Chromium or Chrome, and `chromedriver` of the same version on the PATH",
                ["chromium chromium-driver", "chromium-browser chromium-chromedriver"],
            ),
        ),
        (wanted.firefox && !has_firefox, ("Firefox", ["firefox-esr", "firefox"])),
        (
            wanted.software_vulkan && is_linux && !has_vulkan(),
            (
                "Mesa's Vulkan drivers, version 24 or newer, with llvmpipe (lavapipe), and the Vulkan loader",
                ["mesa-vulkan-drivers libvulkan1"; 2],
            ),
        ),
        (
            wanted.postgres && is_linux && !(has_postgres || on_path(&["initdb"])),
            ("PostgreSQL 15 or newer, with `initdb` and `pg_ctl` on the PATH", ["postgresql"; 2]),
        ),
    ];
    needs.into_iter().filter_map(|(is_missing, need)| is_missing.then_some(need)).collect()
}

fn describe(needs: &[Need]) -> String {
    needs.iter().map(|(description, _)| *description).collect::<Vec<_>>().join("; ")
}

/// Returns the shell commands that install the packages on the system described by `/etc/os-release`.
fn script(os_release: &str, missing: &[Need]) -> String {
    let is_ubuntu = os_release.lines().any(|line| line.starts_with("ID") && line.contains("ubuntu"));
    let has_line = |wanted: &str| os_release.lines().any(|line| line == wanted);
    let is_debian_12 = has_line("ID=debian") && has_line("VERSION_CODENAME=bookworm");
    let packages = missing.iter().map(|(_, packages)| packages[usize::from(is_ubuntu)]).collect::<Vec<_>>().join(" ");
    // `update` fails if any third-party source does not answer. If the needed sources do not answer, `install` fails.
    let mut commands = vec!["export DEBIAN_FRONTEND=noninteractive; apt-get update -q || true".to_owned()];
    if is_debian_12 && packages.contains(MESA) {
        commands.push(format!("{ENABLE_BACKPORTS} && {INSTALL} -t bookworm-backports {MESA}"));
    }
    if packages.contains("postgresql") {
        commands.push(format!("{INSTALL} postgresql-common && {CREATE_NO_CLUSTER}"));
    }
    commands.push(format!("{INSTALL} {packages}"));
    commands.join(" && ")
}

/// Returns true if the installed package of Mesa is new enough, or if there is none.
fn has_new_mesa() -> bool {
    let version = output_of("dpkg-query", &["-W", "-f", "${db:Status-Status} ${Version}", MESA]);
    let version = version.as_deref().and_then(|text| text.strip_prefix("installed "));
    version.and_then(major_version).is_none_or(|version| version >= MIN_MESA_VERSION)
}

/// Returns the leading number of a Debian version such as `25.0.7-2~bpo12+1` or `1:24.2`.
fn major_version(version: &str) -> Option<u32> {
    let without_epoch = version.split_once(':').map_or(version, |(_, rest)| rest);
    without_epoch.split(|letter: char| !letter.is_ascii_digit()).next()?.parse().ok()
}

fn on_path(programs: &[&str]) -> bool {
    programs.iter().any(|program| which::which(program).is_ok())
}

fn output_of(program: &str, arguments: &[&str]) -> Option<String> {
    workspace::output_of(Command::new(program).args(arguments)).ok()
}

/// Installs Rust's browser target, if rustup has not installed it because of `rust-toolchain.toml`.
pub(crate) fn wasm_target(top: &Path) -> Result<()> {
    let libraries = output_of("rustc", &["--print", "target-libdir", "--target", WASM]);
    if libraries.is_some_and(|folder| Path::new(folder.trim()).is_dir()) {
        return Ok(());
    }
    say::step("Installing", format!("Rust's target {WASM} with rustup"));
    let doing = "rustup (without it, install your distribution's package of that target)";
    workspace::run(Command::new("rustup").args(["target", "add", WASM]).current_dir(top), doing)
}

/// Folders that the Vulkan loader searches for driver descriptions (ICDs).
const DRIVER_FOLDERS: [&str; 3] = ["etc/vulkan/icd.d", "usr/local/share/vulkan/icd.d", "usr/share/vulkan/icd.d"];
/// Device files that show a GPU, besides DRM's render nodes.
const GPU_DEVICES: [&str; 3] = ["dev/nvidiactl", "dev/dxg", "dev/kgsl-3d0"];

/// Returns the description of Mesa's llvmpipe if it is the only choice: on Linux, if the kernel shows no GPU and the
/// environment selects no driver. With its path in `VK_DRIVER_FILES`, the loader skips the hardware drivers of the same
/// package, which print errors.
pub(crate) fn software_driver() -> Option<PathBuf> {
    let is_chosen = ["VK_DRIVER_FILES", "VK_ICD_FILENAMES"].iter().any(|name| std::env::var_os(name).is_some());
    let root = Path::new("/");
    (cfg!(target_os = "linux") && !is_chosen && !shows_gpu(root)).then(|| llvmpipe(root)).flatten()
}

/// Returns true if the kernel shows a GPU, for the machine with this root folder.
pub(crate) fn shows_gpu(root: &Path) -> bool {
    let mut nodes = fs::read_dir(root.join("dev/dri")).into_iter().flatten().flatten();
    nodes.any(|node| node.file_name().to_string_lossy().starts_with("renderD"))
        || GPU_DEVICES.iter().any(|device| root.join(device).exists())
}

fn has_llvmpipe() -> bool {
    let multiarch = format!("/usr/lib/{}-linux-gnu", std::env::consts::ARCH);
    let folders = ["/usr/lib", "/usr/lib64", "/usr/local/lib", &multiarch];
    let has_loader = folders.iter().any(|folder| Path::new(folder).join("libvulkan.so.1").exists());
    has_loader && llvmpipe(Path::new("/")).is_some()
}

/// Returns the description of llvmpipe for this processor architecture.
fn llvmpipe(root: &Path) -> Option<PathBuf> {
    let names = ["lvp_icd.json".to_owned(), format!("lvp_icd.{}.json", std::env::consts::ARCH)];
    let places = DRIVER_FOLDERS.iter().flat_map(|folder| names.iter().map(move |name| root.join(folder).join(name)));
    places.into_iter().find(|path| path.exists())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::tree;

    const DEBIAN_12: &str = "VERSION_CODENAME=bookworm\nID=debian\n";

    fn script_for(os_release: &str, packages: &'static str) -> String {
        script(os_release, &[("", [packages, "of Ubuntu"])])
    }

    #[test]
    fn takes_mesa_from_backports_on_debian_12_only_and_the_names_of_ubuntu_on_its_derivatives() {
        let debian = script_for(DEBIAN_12, "mesa-vulkan-drivers postgresql");
        let mesa = debian.find("-t bookworm-backports mesa-vulkan-drivers").unwrap();
        let cluster = debian.find("create_main_cluster = false").unwrap();
        let rest = debian.find("-q mesa-vulkan-drivers postgresql").unwrap();
        assert!(mesa < cluster && cluster < rest && !debian.contains('\''), "{debian}");
        let newer = DEBIAN_12.replace("bookworm", "trixie");
        assert!(
            !script_for(&newer, MESA).contains("backports") && !script_for(DEBIAN_12, "curl").contains("backports")
        );
        for os_release in ["ID=ubuntu\nID_LIKE=debian\n", "ID=linuxmint\nID_LIKE=\"ubuntu debian\"\n"] {
            assert!(script_for(os_release, "of Debian").ends_with(" -q of Ubuntu"));
        }
    }

    #[test]
    fn reads_the_major_version_of_a_package() {
        let versions = ["25.0.7-2~bpo12+1", "1:24.2.8-1ubuntu1", "unknown"];
        assert_eq!(versions.map(major_version), [Some(25), Some(24), None]);
    }

    #[test]
    fn finds_llvmpipe_of_this_architecture() {
        let foreign = "usr/share/vulkan/icd.d/lvp_icd.m68k.json";
        let native = format!("usr/share/vulkan/icd.d/lvp_icd.{}.json", std::env::consts::ARCH);
        let root = tree(&[(foreign, ""), (&native, "")]);
        assert_eq!(llvmpipe(root.path()), Some(root.path().join(native)));
        assert_eq!(llvmpipe(tree(&[(foreign, "")]).path()), None);
    }

    #[test]
    fn a_display_without_a_render_node_is_no_gpu() {
        let devices = ["dev/dri/renderD128", "dev/nvidiactl", "dev/dxg", "dev/dri/card0"];
        assert_eq!(devices.map(|device| shows_gpu(tree(&[(device, "")]).path())), [true, true, true, false]);
    }
}

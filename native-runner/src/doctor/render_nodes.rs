//! The files through which programs reach GPUs on Linux, and whether this user may open them.

use std::fs::{self, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};

use serde_json::json;

use super::{Chapter, Circumstances, Examination, Finding, Severity, files};

pub(super) const EXAMINATION: Examination = Examination { chapter: Chapter::Graphics, title: "render nodes", examine };

fn examine(circumstances: &mut Circumstances<'_>) -> Vec<Finding> {
    if !cfg!(target_os = "linux") {
        return Vec::new();
    }
    let nodes = nodes(circumstances);
    if nodes.is_empty() {
        // Without a GPU there is nothing that could be missing; `gpus` says where one has no driver.
        let advice = "That is as it should be without a GPU. In a container it is let in with `--device /dev/dri`.";
        return vec![Finding::note("render_nodes", "There is no render node in /dev/dri.").with_advice(advice)];
    }
    nodes.iter().map(|node| judge(&shown(circumstances, node), try_to_open(node), group(circumstances, node))).collect()
}

fn nodes(circumstances: &Circumstances<'_>) -> Vec<PathBuf> {
    let render = files::entries(circumstances.file("dev/dri"))
        .into_iter()
        .filter(|path| files::name(path).starts_with("renderD"));
    let is_nvidia = |path: &PathBuf| {
        files::name(path).strip_prefix("nvidia").is_some_and(|rest| rest == "ctl" || rest.parse::<u32>().is_ok())
    };
    render.chain(files::entries(circumstances.file("dev")).into_iter().filter(is_nvidia)).collect()
}

fn shown(circumstances: &Circumstances<'_>, node: &Path) -> String {
    let inside = node.strip_prefix(&circumstances.root).unwrap_or(node);
    format!("/{}", inside.display())
}

/// Opening one starts nothing.
fn try_to_open(node: &Path) -> io::Result<()> {
    OpenOptions::new().read(true).write(true).open(node).map(drop)
}

/// The group that may open it.
fn group(circumstances: &Circumstances<'_>, node: &Path) -> Option<String> {
    #[cfg(unix)]
    {
        let id = std::os::unix::fs::MetadataExt::gid(&fs::metadata(node).ok()?);
        let groups = files::text(circumstances.file("etc/group"))?;
        let name = groups.lines().find_map(|line| {
            let mut fields = line.split(':');
            let name = fields.next()?;
            (fields.nth(1)? == id.to_string()).then(|| name.to_owned())
        });
        Some(name.unwrap_or_else(|| id.to_string()))
    }
    #[cfg(not(unix))]
    {
        let _ = (circumstances, fs::metadata(node));
        None
    }
}

fn judge(node: &str, opened: io::Result<()>, group: Option<String>) -> Finding {
    let details = json!({ "path": node, "opens": opened.is_ok(), "group": group });
    let finding = match opened {
        Ok(()) => Finding::new(Severity::Fine, "render_node", format!("{node} can be opened.")),
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
            let group = group.unwrap_or_else(|| "render".to_owned());
            Finding::problem(
                "render_node",
                format!("{node} must not be opened by this user, only by the group {group}."),
            )
            .with_advice(format!("`sudo usermod -aG {group} \"$USER\"`, then log out and in again."))
        }
        Err(error) => Finding::problem("render_node", format!("{node} cannot be opened: {error}."))
            .with_advice("The kernel's driver may have failed: `sudo dmesg` says more."),
    };
    finding.with_details(details)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_node_that_must_not_be_opened_names_the_group_to_join() {
        let denied =
            judge("/dev/dri/renderD128", Err(io::ErrorKind::PermissionDenied.into()), Some("video".to_owned()));
        assert_eq!(denied.severity, Severity::Problem);
        assert!(denied.advice.is_some_and(|advice| advice.starts_with("`sudo usermod -aG video ")));
        assert_eq!(judge("/dev/dri/renderD128", Ok(()), None).severity, Severity::Fine);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn render_nodes_are_found_and_other_files_are_not() {
        use super::super::adapters::{Listing, severities};
        use crate::cli::DoctorArgs;

        let root = tempfile::tempdir().unwrap();
        let arguments = DoctorArgs::of_a_test();
        let found = || examine(&mut Circumstances::of_a_test(&arguments, root.path(), Listing::default(), |_| None));
        assert_eq!(severities(&found()), [("render_nodes", Severity::Note)]);
        fs::create_dir_all(root.path().join("dev/dri")).unwrap();
        for name in ["dev/dri/renderD128", "dev/dri/card0", "dev/nvidia0", "dev/nvidia-uvm"] {
            fs::write(root.path().join(name), "").unwrap();
        }
        let sentences: Vec<String> = found().into_iter().map(|finding| finding.sentence).collect();
        assert_eq!(sentences, ["/dev/dri/renderD128 can be opened.", "/dev/nvidia0 can be opened."]);
    }
}

//! Just enough of Cargo.toml: the members of the workspace, and what a crate depends on.

/// One dependency as a manifest states it.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Dependency {
    pub name: String,
    /// Needed only by the crate's own tests.
    pub dev: bool,
    /// Counted from 1.
    pub line: usize,
    /// Everything after the equals sign, or nothing for a table of its own.
    pub value: String,
}

/// The folders in `members = [...]` of the top manifest.
pub(super) fn members(manifest: &str) -> Vec<String> {
    let Some(list) = manifest.split_once("\nmembers").map(|(_, rest)| rest) else { return Vec::new() };
    let list = list.split_once(']').map_or(list, |(list, _)| list);
    list.split('"').skip(1).step_by(2).map(str::to_owned).collect()
}

/// The `name` of the package.
pub(super) fn package_name(manifest: &str) -> Option<String> {
    let package = manifest.split_once("[package]")?.1;
    let line = package.lines().find(|line| line.starts_with("name"))?;
    line.split('"').nth(1).map(str::to_owned)
}

/// All dependencies, in every section that states some: plain, build, dev, and those of particular targets.
pub(super) fn dependencies(manifest: &str) -> Vec<Dependency> {
    let mut found = Vec::new();
    let mut section: Option<bool> = None;
    for (number, line) in manifest.lines().enumerate() {
        let line = line.trim();
        let number = number + 1;
        if let Some(header) = line.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
            section = None;
            let Some((before, after)) = header.split_once("dependencies") else { continue };
            let dev = before.ends_with("dev-");
            match after.strip_prefix('.') {
                Some(name) => found.push(Dependency { name: name.to_owned(), dev, line: number, value: String::new() }),
                None => section = Some(dev),
            }
        } else if let (Some(dev), Some((name, value))) = (section, line.split_once('='))
            && !line.starts_with('#')
            && name.trim().split('.').next().is_some_and(is_name)
        {
            let name = name.trim().split('.').next().unwrap_or_default().to_owned();
            found.push(Dependency { name, dev, line: number, value: value.trim().to_owned() });
        }
    }
    found
}

fn is_name(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|letter| letter.is_ascii_alphanumeric() || "-_".contains(letter))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_and_names_are_read() {
        assert_eq!(
            members("[workspace]\nmembers = [\n  \"results\",\n  \"app/worker\",\n]\n"),
            ["results", "app/worker"]
        );
        assert_eq!(package_name("[package]\nname = \"engine\"\n").as_deref(), Some("engine"));
    }

    #[test]
    fn every_way_to_state_a_dependency_is_seen() {
        let manifest = "[dependencies]\n# wgpu = 1\na.workspace = true\nb = { path = \"../b\" }\n[dev-dependencies]\n\
                        c = \"1\"\n[target.'cfg(unix)'.dependencies]\nd = { version = \"1\", features = [\n  \"x\",\n] }\n\
                        [dependencies.e]\npath = \"../e\"\n[features]\nf = [\"dep:a\"]\n";
        let found: Vec<(String, bool)> =
            dependencies(manifest).into_iter().map(|found| (found.name, found.dev)).collect();
        let expected = [("a", false), ("b", false), ("c", true), ("d", false), ("e", false)];
        assert_eq!(found, expected.map(|(name, dev)| (name.to_owned(), dev)));
    }
}

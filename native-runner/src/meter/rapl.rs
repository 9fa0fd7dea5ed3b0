//! The energy that the packages of the processor count themselves: Intel's RAPL, which AMD has as well.

use std::fs;
use std::path::{Path, PathBuf};

use results::ResourceSample;

use super::sensors::Sensor;

/// All packages of the machine. Once one of them has not told, the sum is not known any more.
pub(super) struct Rapl {
    packages: Vec<Package>,
    broken: bool,
}

struct Package {
    folder: PathBuf,
    /// The counter begins again after this, where that is known.
    range_microjoules: Option<u64>,
    last_microjoules: u64,
    used_microjoules: u64,
}

impl Rapl {
    /// `None` where there is none, or where this user must not read it.
    pub(super) fn find(root: &Path) -> Option<Self> {
        let folders = fs::read_dir(root.join("sys/class/powercap")).ok()?.filter_map(Result::ok);
        let mut packages = Vec::new();
        for folder in folders.map(|entry| entry.path()) {
            // Parts of a package have two colons, and `psys` is the whole board.
            let is_package = fs::read_to_string(folder.join("name")).is_ok_and(|name| name.starts_with("package-"));
            if is_package {
                let range_microjoules = number(&folder.join("max_energy_range_uj"));
                let last_microjoules = number(&folder.join("energy_uj"))?;
                packages.push(Package { folder, range_microjoules, last_microjoules, used_microjoules: 0 });
            }
        }
        (!packages.is_empty()).then_some(Self { packages, broken: false })
    }
}

impl Sensor for Rapl {
    fn begin(&mut self) {
        self.broken = false;
        for package in &mut self.packages {
            package.used_microjoules = 0;
            match number(&package.folder.join("energy_uj")) {
                Some(microjoules) => package.last_microjoules = microjoules,
                None => self.broken = true,
            }
        }
    }

    fn sample(&mut self, sample: &mut ResourceSample) {
        self.broken |= self.packages.iter_mut().any(|package| package.count().is_none());
        if !self.broken {
            let used: u64 = self.packages.iter().map(|package| package.used_microjoules).sum();
            sample.processor_energy_joules = Some(used as f64 / 1e6);
        }
    }
}

impl Package {
    /// `None` where it does not tell, or where nobody knows how far it counted before it began again.
    fn count(&mut self) -> Option<()> {
        let now = number(&self.folder.join("energy_uj"))?;
        self.used_microjoules += match now.checked_sub(self.last_microjoules) {
            Some(used) => used,
            None => self.range_microjoules?.checked_sub(self.last_microjoules)? + now,
        };
        self.last_microjoules = now;
        Some(())
    }
}

fn number(path: &Path) -> Option<u64> {
    fs::read_to_string(path).ok()?.trim().parse().ok()
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// A package in a tree of files.
    pub(in crate::meter) fn package(root: &Path, place: u32, name: &str, microjoules: u64) -> PathBuf {
        let folder = root.join(format!("sys/class/powercap/intel-rapl:{place}"));
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join("name"), format!("{name}\n")).unwrap();
        fs::write(folder.join("max_energy_range_uj"), "10000000\n").unwrap();
        fs::write(folder.join("energy_uj"), format!("{microjoules}\n")).unwrap();
        folder
    }

    fn joules(rapl: &mut Rapl) -> Option<f64> {
        let mut sample = ResourceSample::default();
        rapl.sample(&mut sample);
        sample.processor_energy_joules
    }

    #[test]
    fn packages_are_summed_and_counters_that_begin_again_go_on() {
        let root = tempfile::tempdir().unwrap();
        let first = package(root.path(), 0, "package-0", 9_000_000);
        let second = package(root.path(), 1, "package-1", 1_000_000);
        package(root.path(), 2, "psys", 500);
        let mut rapl = Rapl::find(root.path()).unwrap();
        rapl.begin();
        assert_eq!(joules(&mut rapl), Some(0.0));
        fs::write(first.join("energy_uj"), "500000").unwrap();
        fs::write(second.join("energy_uj"), "2000000").unwrap();
        // The first went on from 9 J over the end at 10 J to half a joule.
        assert_eq!(joules(&mut rapl), Some(2.5));
        rapl.begin();
        assert_eq!(joules(&mut rapl), Some(0.0));
    }

    #[test]
    fn a_counter_that_began_again_nobody_knows_where_is_absent_from_then_on() {
        let root = tempfile::tempdir().unwrap();
        let folder = package(root.path(), 0, "package-0", 9_000_000);
        fs::remove_file(folder.join("max_energy_range_uj")).unwrap();
        let mut rapl = Rapl::find(root.path()).unwrap();
        rapl.begin();
        fs::write(folder.join("energy_uj"), "9500000").unwrap();
        assert_eq!(joules(&mut rapl), Some(0.5));
        fs::write(folder.join("energy_uj"), "100").unwrap();
        assert_eq!(joules(&mut rapl), None);
        fs::write(folder.join("energy_uj"), "200").unwrap();
        assert_eq!(joules(&mut rapl), None);
    }

    #[test]
    fn without_packages_or_without_the_right_to_read_them_there_is_nothing() {
        let root = tempfile::tempdir().unwrap();
        assert!(Rapl::find(root.path()).is_none());
        package(root.path(), 0, "psys", 1);
        assert!(Rapl::find(root.path()).is_none());
        let folder = package(root.path(), 1, "package-0", 1);
        fs::remove_file(folder.join("energy_uj")).unwrap();
        assert!(Rapl::find(root.path()).is_none());
    }
}

//! The programs of other frameworks that come with this one: Python, carried as text and written where Python finds it.

use std::env;
use std::ffi::OsStr;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use sha2::{Digest, Sha256};

use crate::published_data::cache;

/// Names the Pythons to choose from, separated as in `PATH`.
const PYTHON: &str = "GRADMARK_PYTHON";

/// What a system calls its own Python.
const OWN_PYTHONS: [&str; 2] = ["python3", "python"];

/// A program, and what Python needs for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ReadyProgram {
    pub(crate) name: &'static str,
    /// What it trains with, for people.
    pub(crate) framework: &'static str,
    file: &'static str,
    /// What Keras computes with.
    keras_backend: Option<&'static str>,
    modules: &'static [&'static str],
    /// What is installed to have them.
    packages: &'static str,
}

/// All of them, by the names that `--program` takes.
pub(crate) const READY: &[ReadyProgram] = &[
    ReadyProgram {
        name: "pytorch",
        framework: "PyTorch, eager",
        file: "pytorch_program.py",
        keras_backend: None,
        modules: &["numpy", "torch"],
        packages: "torch numpy",
    },
    ReadyProgram {
        name: "keras-jax",
        framework: "Keras 3 on JAX",
        file: "keras_program.py",
        keras_backend: Some("jax"),
        modules: &["keras", "jax"],
        packages: "keras jax",
    },
    ReadyProgram {
        name: "keras-tensorflow",
        framework: "Keras 3 on TensorFlow",
        file: "keras_program.py",
        keras_backend: Some("tensorflow"),
        modules: &["keras", "tensorflow"],
        packages: "keras tensorflow",
    },
];

/// The files of all of them, which lie in one folder because they import each other.
const FILES: &[(&str, &str)] = &[
    ("gradmark_program.py", include_str!("../../programs/gradmark_program.py")),
    ("keras_network.py", include_str!("../../programs/keras_network.py")),
    ("keras_program.py", include_str!("../../programs/keras_program.py")),
    ("pytorch_program.py", include_str!("../../programs/pytorch_program.py")),
];

impl ReadyProgram {
    /// What starts it, with the first Python that has its modules.
    ///
    /// # Errors
    /// No Python has them; its files cannot be written.
    pub(super) fn command(&self) -> Result<Command, String> {
        let python = self.python()?;
        let folder = cache().ok_or("this user has no folder for caches; name the command, as in NAME=COMMAND")?;
        let folder = folder.join(format!("programs-{}", digest()));
        write(&folder).map_err(|error| format!("its files cannot be written to {}: {error}", folder.display()))?;
        let mut command = Command::new(python);
        command.arg(folder.join(self.file));
        self.keras_backend.map(|backend| command.env("KERAS_BACKEND", backend));
        Ok(command)
    }

    /// # Errors
    /// What was looked for, where, and how to get it.
    pub(crate) fn python(&self) -> Result<PathBuf, String> {
        let named = env::var_os(PYTHON).unwrap_or_default();
        let pythons = candidates(&named);
        let found = pythons.iter().find(|python| self.has_modules(python)).cloned();
        found.ok_or_else(|| {
            let tried: Vec<String> = pythons.iter().map(|python| format!("`{}`", python.display())).collect();
            format!(
                "no Python has {}: tried {}; `python3 -m pip install {}` gets them, and {PYTHON} names another Python",
                self.modules.join(" and "),
                tried.join(", "),
                self.packages
            )
        })
    }

    /// Whether they can be found; importing them would take seconds.
    fn has_modules(&self, python: &Path) -> bool {
        let question =
            format!("import importlib.util as u; raise SystemExit(not all(map(u.find_spec, {:?})))", self.modules);
        let mut command = Command::new(python);
        command.args(["-c", &question]).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        command.status().is_ok_and(|status| status.success())
    }
}

fn candidates(named: &OsStr) -> Vec<PathBuf> {
    let named = env::split_paths(named).filter(|path| !path.as_os_str().is_empty());
    named.chain(OWN_PYTHONS.map(PathBuf::from)).collect()
}

/// Of all files, so that another version of this program writes into another folder.
fn digest() -> String {
    let mut digest = Sha256::new();
    for (name, text) in FILES {
        digest.update(name);
        digest.update([0]);
        digest.update(text);
        digest.update([0]);
    }
    digest.finalize().iter().take(8).map(|byte| format!("{byte:02x}")).collect()
}

/// Writes what is missing or was changed, each under another name until it is whole: several processes may do this at once.
fn write(folder: &Path) -> io::Result<()> {
    fs::create_dir_all(folder)?;
    for (name, text) in FILES {
        let path = folder.join(name);
        if fs::read(&path).is_ok_and(|there| there == text.as_bytes()) {
            continue;
        }
        let partial = folder.join(format!("{name}.partial-{}", std::process::id()));
        fs::write(&partial, text)?;
        fs::rename(&partial, &path)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_program_is_carried_with_what_it_imports() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("programs");
        let there = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
        let there: BTreeSet<String> =
            there.filter(|name| Path::new(name).extension().is_some_and(|ending| ending == "py")).collect();
        assert_eq!(there, FILES.iter().map(|(name, _)| (*name).to_owned()).collect());
        assert!(READY.iter().all(|ready| there.contains(ready.file)));
    }

    #[test]
    fn files_are_written_once_and_mended_where_somebody_changed_them() {
        let folder = tempfile::tempdir().unwrap();
        let place = folder.path().join("deep");
        write(&place).unwrap();
        fs::write(place.join(FILES[0].0), "changed").unwrap();
        write(&place).unwrap();
        for (name, text) in FILES {
            assert_eq!(fs::read_to_string(place.join(name)).unwrap(), *text);
        }
        assert_eq!(fs::read_dir(&place).unwrap().count(), FILES.len());
    }

    #[test]
    fn pythons_that_were_named_come_before_the_systems_own() {
        let named = env::join_paths(["/venv/bin/python", ""]).unwrap();
        let expected = ["/venv/bin/python", "python3", "python"].map(PathBuf::from);
        assert_eq!(candidates(&named), expected);
        assert_eq!(candidates(OsStr::new("")), expected[1..]);
    }

    #[test]
    fn a_python_without_the_modules_is_not_taken() {
        let program = ReadyProgram { modules: &["no_such_module_of_anybody"], ..READY[0] };
        let error = program.python().unwrap_err();
        for part in ["no_such_module_of_anybody", "`python3`", "pip install torch numpy", PYTHON] {
            assert!(error.contains(part), "{part} is missing in: {error}");
        }
    }
}

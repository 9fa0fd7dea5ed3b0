//! A temporarily full disk: after a restart, exactly the acknowledged writes exist.

use std::fs::{self, OpenOptions};
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use crate::support::*;

/// A disk of a few megabytes: a file system in memory, in a namespace that a process keeps open.
struct SmallDisk {
    holder: Child,
    folder: tempfile::TempDir,
}

impl SmallDisk {
    /// Creates the disk, or returns `None` if this user may not create a namespace.
    fn new() -> Option<Self> {
        const HOLD: &str = "mount -t tmpfs -o size=8m tmpfs \"$0\" && echo mounted && exec sleep 3600";
        let folder = tempfile::tempdir().unwrap();
        let mut command = Command::new("unshare");
        command.args(["--user", "--map-root-user", "--mount", "sh", "-c", HOLD]).arg(folder.path());
        let mut holder = command.stdout(Stdio::piped()).spawn().ok()?;
        let mut line = String::new();
        BufReader::new(holder.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let disk = Self { holder, folder };
        (line.trim_end() == "mounted").then_some(disk)
    }

    fn database(&self) -> PathBuf {
        self.folder.path().join("leaderboard.sqlite")
    }

    fn command(&self) -> Command {
        let mut command = Command::new("nsenter");
        command.args(["--user", "--mount", "--preserve-credentials", "--target", &self.holder.id().to_string()]);
        command.arg(env!("CARGO_BIN_EXE_leaderboard"));
        command
    }

    fn start_server(&self) -> ServerProcess {
        let mut command = self.command();
        command.args(["--log", "off"]);
        ServerProcess::start_as(command, self.database())
    }

    /// Returns a path on the disk, as this process sees it.
    fn path(&self, name: &str) -> PathBuf {
        let inside = self.folder.path().strip_prefix("/").unwrap();
        Path::new("/proc").join(self.holder.id().to_string()).join("root").join(inside).join(name)
    }

    fn fill(&self) {
        let mut ballast = OpenOptions::new().create(true).append(true).open(self.path("ballast")).unwrap();
        while ballast.write_all(&[0; 4096]).is_ok() {}
    }

    fn make_room(&self) {
        fs::remove_file(self.path("ballast")).unwrap();
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        self.holder.kill().unwrap();
        self.holder.wait().unwrap();
    }
}

/// Writes to a board on a small disk, and records the acknowledged writes.
struct Writer<'a> {
    disk: &'a SmallDisk,
    server: ServerProcess,
    seed: u32,
    there: Vec<(u32, AcceptedRun)>,
}

impl Writer<'_> {
    fn import(&mut self) -> bool {
        self.seed += 1;
        let answer = self.server.import(&record::unregistered(self.seed));
        match answer.status.as_u16() {
            201 => self.there.push((self.seed, answer.parse())),
            507 => {}
            _ => panic!("{}: {}", answer.status, answer.text()),
        }
        answer.status == 201
    }

    /// Imports until the full disk refuses. Records that fit into the log are accepted before that.
    fn import_on_full_disk(&mut self) {
        self.disk.fill();
        assert!((0..1000).any(|_| !self.import()), "the disk was never full");
        self.disk.make_room();
    }

    fn delete(&mut self) {
        let (_, run) = self.there.swap_remove(0);
        assert_eq!(self.server.delete(&run.run_id, &run.deletion_secret).status, 204);
    }

    /// Kills the server, and compares the next server's records with the acknowledged ones.
    fn assert_kept_by_the_next_server(self, order: &str) {
        self.server.kill();
        let server = self.disk.start_server();
        for (_, run) in &self.there {
            assert_eq!(server.get_run(&run.run_id, "").status, 200, "{order}: {}", run.run_id);
        }
        let results = self.there.len() * record::unregistered(1).workloads.len();
        assert_eq!(server.list("").total, results as u64, "{order}: nothing else");
    }
}

#[test]
fn acknowledged_writes_outlast_a_full_disk() {
    // An acknowledged import (i) and deletion (d), an import of a known record (k), and one on a full disk (f).
    for order in ["fki", "ffid", "kfki", "fdki", "ffkkffi"] {
        let Some(disk) = SmallDisk::new() else { return skipped() };
        let mut writer = Writer { disk: &disk, server: disk.start_server(), seed: 0, there: Vec::new() };
        assert!(writer.import() && writer.import());
        for letter in order.chars() {
            match letter {
                'i' => assert!(writer.import(), "{order}"),
                'd' => writer.delete(),
                'k' => {
                    let known = record::unregistered(writer.there.last().unwrap().0);
                    writer.server.import(&known).assert_refused(409, "already_submitted", "");
                }
                _ => writer.import_on_full_disk(),
            }
        }
        assert_eq!(writer.server.get("/healthz").status, 200, "{order}");
        writer.assert_kept_by_the_next_server(order);
    }
}

#[test]
fn server_starts_and_is_healthy_once_a_full_disk_has_room() {
    let Some(disk) = SmallDisk::new() else { return skipped() };
    disk.fill();
    let mut command = disk.command();
    command.args(["--log", "off", "--listen", "127.0.0.1:0", "--database"]).arg(disk.database());
    assert!(!command.output().unwrap().status.success());
    disk.make_room();
    let server = disk.start_server();
    server.imported(1);
    disk.fill();
    wait_until(|| server.get("/healthz").status == 507);
    disk.make_room();
    assert_eq!(server.get("/healthz").text(), "ok");
}

fn skipped() {
    crate::support::skipped(false, "this user may not mount a file system in a new namespace");
}

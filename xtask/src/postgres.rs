//! Postgres servers of the tests' own: each in a folder that is made for it and goes with it, reached by a
//! socket in that folder and by nothing else.
//!
//! Postgres refuses to run as root, so there it runs as a user who owns nothing else.

use std::fs;
use std::path::{Path, PathBuf};

use crate::failed::Failed;
use crate::process::Process;

/// Where Debian keeps it, by version.
const VERSIONS: &str = "/usr/lib/postgresql";
/// Who may serve where we are root, the first that there is.
const USERS: &[&str] = &["postgres", "nobody"];
/// What every server is told: nothing by network.
const SETTINGS: &str = "-c listen_addresses= -c max_connections=100 -c log_min_messages=fatal";
/// What those of the tests are told besides: nothing that only a loss of power would show.
const FORGETFUL: &str = "-c shared_buffers=32MB -c fsync=off -c full_page_writes=off";
/// What those of benchmarks are told besides, which wait for the disk.
const DURABLE: &str = "-c shared_buffers=256MB";

/// The servers that run beside the tests: one for all, and one that tests may break.
#[derive(Debug)]
pub(crate) struct Servers {
    shared: Server,
    breakable: Server,
}

impl Servers {
    /// Starts both.
    pub(crate) fn start() -> Result<Self, Failed> {
        Ok(Self { shared: Server::start("shared")?, breakable: Server::start("breakable")? })
    }

    /// The process, told where they are.
    pub(crate) fn told_to(&self, process: Process) -> Process {
        process
            .variable("MAST_TEST_POSTGRES", &self.shared.address())
            .variable("MAST_TEST_POSTGRES_BREAKABLE", &self.breakable.address())
    }
}

/// A server that is running. It ends when this is dropped.
#[derive(Debug)]
pub(crate) struct Server {
    folder: PathBuf,
    programs: PathBuf,
    user: Option<&'static str>,
    settings: &'static str,
}

impl Server {
    /// Makes a server for tests and starts it; `name` tells it from others of this process.
    pub(crate) fn start(name: &str) -> Result<Self, Failed> {
        Self::with(name, FORGETFUL)
    }

    /// The same for benchmarks: it waits for the disk.
    pub(crate) fn durable(name: &str) -> Result<Self, Failed> {
        Self::with(name, DURABLE)
    }

    fn with(name: &str, settings: &'static str) -> Result<Self, Failed> {
        let folder = std::env::temp_dir().join(format!("mast-postgres-{}-{name}", std::process::id()));
        let server = Self { folder, programs: programs()?, user: user(), settings };
        server.make_folder()?;
        server.make().run()?;
        server.begin().run()?;
        Ok(server)
    }

    /// Where it is reached.
    pub(crate) fn address(&self) -> String {
        format!("postgres:///postgres?user=mast&host={}", self.folder.display())
    }

    /// `pgbench` with so many clients that each carry out a script so often; one line that says how long a
    /// script took, all clients together, under this name. Each client counts on from `n`.
    pub(crate) fn bench(&self, script: &str, n_clients: usize, n: usize, name: &str) -> Process {
        let pgbench = self.programs.join("pgbench").display().to_string();
        let folder = self.folder.display();
        let shell = format!(
            "{pgbench} -h {folder} -U mast -n -M prepared -c {n_clients} -j 1 -t 200 -D n={n} -f {script} postgres \
             | awk '/^tps/ {{ printf \"{{\\\"name\\\":\\\"{name}\\\",\\\"nanos\\\":%f}}\\n\", 1e9 / $3 }}'"
        );
        Process::new("sh -c").with([shell.as_str()])
    }

    fn make_folder(&self) -> Result<(), Failed> {
        let folder = self.folder.display().to_string();
        let install = Process::new("install -d -m 700");
        match self.user {
            Some(user) => install.with(["-o", user, &folder]).run(),
            None => install.with([folder.as_str()]).run(),
        }
    }

    /// One of its programs, as its user. It begins in the folder: the user may not enter ours.
    fn program(&self, name: &str) -> Process {
        let folder = self.folder.display().to_string();
        let process = Process::new("env -C").with([folder.as_str()]);
        let process = match self.user {
            Some(user) => process.with(["setpriv", "--reuid", user, "--init-groups", "--"]),
            None => process,
        };
        process.with([self.programs.join(name).display().to_string().as_str(), "-D", "data"])
    }

    fn make(&self) -> Process {
        self.program("initdb").with("-U mast -A trust -E UTF8 --locale=C --no-sync".split(' ')).quiet()
    }

    fn begin(&self) -> Process {
        let settings = format!("-k {} {SETTINGS} {}", self.folder.display(), self.settings);
        self.program("pg_ctl").with(["-w", "-s", "-l", "log", "-o", &settings, "start"]).quiet()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // It finds the server by the number of its process, which stands in the folder.
        if let Err(failed) =
            self.program("pg_ctl").with(["-w", "-s", "-m", "immediate", "stop"]).quiet().run()
        {
            crate::say::failure(&failed);
        }
        if let Err(source) = fs::remove_dir_all(&self.folder) {
            crate::say::failure(&Failed::Write { path: self.folder.clone(), source });
        }
    }
}

/// The folder of the programs: the newest version that is installed.
fn programs() -> Result<PathBuf, Failed> {
    let missing = || Failed::Missing { missing: "postgresql".to_owned(), packages: "postgresql".to_owned() };
    newest(Path::new(VERSIONS)).ok_or_else(missing)
}

fn newest(versions: &Path) -> Option<PathBuf> {
    let found = fs::read_dir(versions).ok()?.flatten().filter_map(|entry| {
        let number: u32 = entry.file_name().to_str()?.parse().ok()?;
        let programs = entry.path().join("bin");
        programs.join("initdb").is_file().then_some((number, programs))
    });
    found.max().map(|(_, programs)| programs)
}

/// As whom it runs where we are root.
fn user() -> Option<&'static str> {
    let is_root = Process::new("id -u").answer().is_ok_and(|id| id.trim() == "0");
    let is_there = |user: &&&str| Process::new("id -u").with([**user]).works();
    if is_root { USERS.iter().find(is_there).copied() } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_version_is_taken() {
        let folder = std::env::temp_dir().join(format!("mast-xtask-{}", std::process::id()));
        for (version, program) in [("9", "initdb"), ("15", "initdb"), ("17", "psql"), ("old", "initdb")] {
            fs::create_dir_all(folder.join(version).join("bin")).unwrap();
            fs::write(folder.join(version).join("bin").join(program), "").unwrap();
        }
        assert_eq!(newest(&folder), Some(folder.join("15/bin")));
        fs::remove_dir_all(&folder).unwrap();
        assert_eq!(newest(&folder), None);
    }

    #[test]
    fn it_is_reached_by_its_folder_alone() {
        let server =
            Server { folder: PathBuf::from("/t/s"), programs: PathBuf::from("/p"), user: None, settings: "" };
        let line = server.begin().line();
        assert!(
            line.starts_with("env -C /t/s /p/pg_ctl -D data -w -s -l log -o -k /t/s -c listen_addresses= ")
        );
        assert_eq!(server.address(), "postgres:///postgres?user=mast&host=/t/s");
        // Nothing was started, and nothing is to be stopped.
        std::mem::forget(server);
    }
}

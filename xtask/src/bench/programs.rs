//! Where benchmarks find the programs that they run, and a folder for each to write in.

use std::fs;
use std::path::Path;

use crate::failed::Failed;
use crate::place;
use crate::process::Process;

/// Debian's own interpreter. What stands before it on the path may be a script that looks for one, and
/// takes longer for that than Python does.
const DEBIAN_PYTHON: &str = "/usr/bin/python3";
/// The peers that are written in Python, with their versions.
pub(super) const PEERS: &str = "xtask/bench/requirements.txt";

/// The folder that cargo builds into. What a benchmark writes stands there too: it can be thrown away.
pub(super) fn target() -> Result<String, Failed> {
    let metadata = Process::new("cargo metadata --format-version 1 --no-deps --offline");
    let answer = metadata.answer()?;
    let unexpected = |what: String| Failed::Answer { command: metadata.line(), what };
    let value: serde_json::Value =
        serde_json::from_str(&answer).map_err(|error| unexpected(error.to_string()))?;
    let target = value.get("target_directory").and_then(serde_json::Value::as_str);
    target.map(str::to_owned).ok_or_else(|| unexpected("no target_directory".to_owned()))
}

/// An empty folder of this name, below a folder of this process alone: somebody else may be measuring.
pub(super) fn folder(name: &str) -> Result<String, Failed> {
    let path = format!("{}/{name}", own_folder()?);
    let failed = |source| Failed::Write { path: path.clone().into(), source };
    match fs::remove_dir_all(&path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(failed(error)),
        _ => fs::create_dir_all(&path).map_err(failed)?,
    }
    Ok(path)
}

/// Removes all folders of this process.
pub(super) fn clean() -> Result<(), Failed> {
    let path = own_folder()?;
    match fs::remove_dir_all(&path) {
        Err(source) if source.kind() != std::io::ErrorKind::NotFound => {
            Err(Failed::Write { path: path.into(), source })
        }
        _ => Ok(()),
    }
}

fn own_folder() -> Result<String, Failed> {
    Ok(format!("{}/bench/{}", target()?, std::process::id()))
}

/// Mast as it is released.
pub(super) fn mast() -> Result<String, Failed> {
    Process::new("cargo build --release --package mast").run()?;
    Ok(format!("{}/release/mast", target()?))
}

/// The program that measures from inside, built as Mast is.
pub(super) fn measure() -> Result<String, Failed> {
    Process::new("cargo build --release --package mast-testkit --example measure").run()?;
    Ok(format!("{}/release/examples/measure", target()?))
}

/// A Python that is no script.
pub(super) fn python() -> Result<String, Failed> {
    if Path::new(DEBIAN_PYTHON).is_file() {
        return Ok(DEBIAN_PYTHON.to_owned());
    }
    let ask = Process::new("python3 -c").with(["import sys; print(sys.executable)"]);
    Ok(ask.answer()?.trim().to_owned())
}

/// A Python that has the peers. It is made once, in the folder that cargo builds into, and again when
/// other versions are asked for.
pub(super) fn python_with_peers() -> Result<String, Failed> {
    let folder = format!("{}/bench-peers", target()?);
    let (python, marker) = (format!("{folder}/bin/python"), format!("{folder}/installed.txt"));
    let asked = place::read(PEERS)?;
    if fs::read_to_string(&marker).is_ok_and(|installed| installed == asked) {
        return Ok(python);
    }
    // Debian keeps the module that makes such folders in a package of its own.
    let made = ["-m", "venv", "--clear", &folder];
    if !Process::program(&self::python()?).with(made).works() {
        Process::new("python3").with(made).run()?;
    }
    let install = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--requirement", PEERS];
    Process::program(&python).with(install).run()?;
    fs::write(&marker, asked).map_err(|source| Failed::Write { path: marker.into(), source })?;
    Ok(python)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cargo_says_where_it_builds() {
        assert!(target().unwrap().starts_with('/'));
    }

    #[test]
    fn a_folder_is_empty_whatever_was_there() {
        let path = folder("test-of-folders").unwrap();
        fs::write(format!("{path}/left"), "over").unwrap();
        assert_eq!(folder("test-of-folders").unwrap(), path);
        assert_eq!(fs::read_dir(&path).unwrap().count(), 0);
        clean().unwrap();
        assert!(!Path::new(&path).exists());
    }

    #[test]
    fn the_peers_have_versions() {
        let asked = place::read(PEERS).unwrap();
        assert!(asked.lines().count() > 1 && asked.lines().all(|line| line.contains("==")), "{asked}");
    }
}

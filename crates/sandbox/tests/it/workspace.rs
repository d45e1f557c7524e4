//! Ways out of a workspace, with `openat2` and without it.

use std::io::Read as _;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use mast_sandbox::{Entry, EntryKind, Fault, Inside, Workspace};
use proptest::prelude::*;

/// A workspace in a folder with something beside it that must not be reached.
struct World {
    folder: tempfile::TempDir,
}

impl World {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        for made in ["work/src/deep", "outside"] {
            std::fs::create_dir_all(folder.path().join(made)).unwrap();
        }
        std::fs::write(folder.path().join("outside/secret"), "secret").unwrap();
        std::fs::write(folder.path().join("work/src/a.txt"), "a").unwrap();
        Self { folder }
    }

    fn outside(&self) -> PathBuf {
        self.folder.path().join("outside")
    }

    fn work(&self, path: &str) -> PathBuf {
        self.folder.path().join("work").join(path)
    }

    /// Both ways to open.
    fn workspaces(&self) -> [Workspace; 2] {
        let open = || Workspace::open(&self.folder.path().join("work")).unwrap();
        [open(), open().walking()]
    }

    /// What lies outside is as it was.
    fn is_untouched(&self) {
        let names: Vec<_> =
            std::fs::read_dir(self.outside()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        assert_eq!(names, ["secret"]);
        assert_eq!(std::fs::read_to_string(self.outside().join("secret")).unwrap(), "secret");
    }
}

fn inside(path: &str) -> Inside {
    Inside::parse(path).unwrap()
}

fn text(workspace: &Workspace, path: &str) -> Result<String, Fault> {
    let mut file = workspace.read(&inside(path))?;
    let mut text = String::new();
    file.read_to_string(&mut text)?;
    Ok(text)
}

#[test]
fn a_link_leads_nowhere_at_whatever_place_it_stands() {
    let world = World::new();
    symlink(world.outside(), world.work("src/out")).unwrap();
    symlink(world.outside().join("secret"), world.work("leak")).unwrap();
    symlink("../../outside", world.work("src/relative")).unwrap();
    symlink("a.txt", world.work("src/harmless")).unwrap();
    symlink("/proc/self/root", world.work("door")).unwrap();
    symlink("/proc/self/cwd", world.work("src/deep/cwd")).unwrap();
    for workspace in world.workspaces() {
        for path in [
            "leak",
            "src/out/secret",
            "src/relative/secret",
            "src/harmless",
            "door/etc/passwd",
            "src/deep/cwd/Cargo.toml",
        ] {
            let read = text(&workspace, path);
            assert!(matches!(read, Err(Fault::Escape(_))), "{path} {read:?}");
            let written = workspace.write(&inside(path), b"x");
            assert!(matches!(written, Err(Fault::Escape(_))), "{path} {written:?}");
            let about = workspace.about(&inside(path));
            assert!(about.is_err(), "{path} {about:?}");
        }
        for folder in ["src/out", "src/relative", "door"] {
            assert!(workspace.list(&inside(folder), true, 10).is_err(), "{folder}");
            assert!(workspace.write(&inside(&format!("{folder}/new")), b"x").is_err(), "{folder}");
        }
        let listed = workspace.list(&Inside::root(), true, 100).unwrap().entries;
        let paths: Vec<&str> = listed.iter().map(|entry| entry.path.as_str()).collect();
        assert_eq!(paths, ["src", "src/a.txt", "src/deep"], "no link is listed");
    }
    world.is_untouched();
}

#[test]
fn a_second_name_of_a_file_is_refused() {
    let world = World::new();
    std::fs::hard_link(world.outside().join("secret"), world.work("second")).unwrap();
    for workspace in world.workspaces() {
        assert!(matches!(text(&workspace, "second"), Err(Fault::HardLink)));
        assert!(matches!(workspace.write(&inside("second"), b"x"), Err(Fault::HardLink)));
    }
    world.is_untouched();
}

#[test]
fn a_pipe_is_neither_waited_for_nor_read() {
    let world = World::new();
    rustix::fs::mknodat(
        rustix::fs::CWD,
        world.work("pipe"),
        rustix::fs::FileType::Fifo,
        rustix::fs::Mode::from(0o600),
        0,
    )
    .unwrap();
    let _socket = std::os::unix::net::UnixListener::bind(world.work("socket")).unwrap();
    for workspace in world.workspaces() {
        for path in ["pipe", "socket"] {
            assert!(matches!(text(&workspace, path), Err(Fault::Special)), "{path}");
            assert!(matches!(workspace.write(&inside(path), b"x"), Err(Fault::Special)), "{path}");
        }
    }
}

#[test]
fn what_is_no_file_and_what_is_no_folder_are_told_apart() {
    let world = World::new();
    for workspace in world.workspaces() {
        assert!(matches!(text(&workspace, "none"), Err(Fault::NoSuchPath)));
        assert!(matches!(text(&workspace, "none/a"), Err(Fault::NoSuchPath)));
        assert!(matches!(text(&workspace, "src"), Err(Fault::NotAFile)));
        assert!(matches!(workspace.read(&Inside::root()), Err(Fault::NotAFile)));
        assert!(matches!(workspace.write(&inside("src"), b"x"), Err(Fault::NotAFile)));
        assert!(matches!(workspace.write(&Inside::root(), b"x"), Err(Fault::NotAFile)));
        assert!(matches!(workspace.list(&inside("src/a.txt"), false, 9), Err(Fault::NotAFolder)));
        assert!(matches!(workspace.list(&inside("none"), false, 9), Err(Fault::NoSuchPath)));
        assert!(workspace.write(&inside("src/a.txt/b"), b"x").is_err());
        assert!(text(&workspace, "src/a.txt/b").is_err());
    }
}

#[test]
fn a_write_is_whole_keeps_the_mode_and_leaves_nothing_beside_it() {
    let world = World::new();
    for workspace in world.workspaces() {
        assert!(workspace.write(&inside("new/deep/b.txt"), b"one").unwrap().created);
        assert!(!workspace.write(&inside("new/deep/b.txt"), b"two").unwrap().created);
        assert_eq!(text(&workspace, "new/deep/b.txt").unwrap(), "two");
        std::fs::set_permissions(world.work("new/deep/b.txt"), std::fs::Permissions::from_mode(0o751))
            .unwrap();
        workspace.write(&inside("new/deep/b.txt"), &vec![7; 200_000]).unwrap();
        let about = std::fs::metadata(world.work("new/deep/b.txt")).unwrap();
        assert_eq!((about.permissions().mode() & 0o777, about.len()), (0o751, 200_000));
        let names = std::fs::read_dir(world.work("new/deep")).unwrap().count();
        assert_eq!(names, 1, "no half-written file is left");
        std::fs::remove_dir_all(world.work("new")).unwrap();
    }
}

#[test]
fn a_folder_that_is_exchanged_for_a_link_again_and_again_leads_nowhere() {
    let world = World::new();
    let (real, link) = (world.work("real"), world.work("link"));
    std::fs::create_dir(&real).unwrap();
    std::fs::write(real.join("secret"), "mine").unwrap();
    symlink(world.outside(), &link).unwrap();
    let stop = AtomicBool::new(false);
    let exchange = |a: &Path, b: &Path| {
        let flags = rustix::fs::RenameFlags::EXCHANGE;
        rustix::fs::renameat_with(rustix::fs::CWD, a, rustix::fs::CWD, b, flags).unwrap();
    };
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !stop.load(Ordering::Relaxed) {
                exchange(&real, &link);
            }
        });
        for workspace in world.workspaces() {
            for _ in 0..2_000 {
                for path in ["real/secret", "link/secret"] {
                    if let Ok(text) = text(&workspace, path) {
                        assert_eq!(text, "mine");
                    }
                }
                drop(workspace.write(&inside("real/new"), b"x"));
            }
        }
        stop.store(true, Ordering::Relaxed);
    });
    world.is_untouched();
}

/// A tree of a few names, some of them links.
fn tree() -> impl Strategy<Value = Vec<(String, u8)>> {
    let name = prop::sample::select(vec!["a", "b", "a.txt", "a-b", "é", "B", ".c"]);
    let path = prop::collection::vec(name, 1..4).prop_map(|names| names.join("/"));
    prop::collection::vec((path, 0_u8..3), 0..24)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn gate_builtin_13_a_listing_is_in_order_and_what_is_cut_is_its_end(tree in tree(), max in 0_usize..12) {
        let world = World::new();
        for (path, kind) in &tree {
            let place = world.work(path);
            drop(std::fs::create_dir_all(place.parent().unwrap()));
            match kind {
                0 => drop(std::fs::write(&place, path)),
                1 => drop(std::fs::create_dir_all(&place)),
                _ => drop(symlink("/etc", &place)),
            }
        }
        for workspace in world.workspaces() {
            let whole = workspace.list(&Inside::root(), true, 1_000).unwrap();
            prop_assert!(!whole.truncated);
            let paths: Vec<&[u8]> = whole.entries.iter().map(|entry| entry.path.as_str().as_bytes()).collect();
            prop_assert!(paths.is_sorted_by(|a, b| a < b), "{paths:?}");
            for Entry { path, kind, byte_count } in &whole.entries {
                let about = std::fs::symlink_metadata(world.work(path.as_str())).unwrap();
                prop_assert!(!about.is_symlink());
                let is_folder = *kind == EntryKind::Folder;
                prop_assert_eq!((about.is_dir(), if is_folder { 0 } else { about.len() }), (is_folder, *byte_count));
            }
            let cut = workspace.list(&Inside::root(), true, max).unwrap();
            prop_assert_eq!(&cut.entries[..], &whole.entries[..max.min(whole.entries.len())]);
            prop_assert_eq!(cut.truncated, max < whole.entries.len());
        }
    }
}

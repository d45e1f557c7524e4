//! A disk that is full, and one that cannot be written: nothing is done that cannot be written down, and
//! nothing that was written is lost. Each is a small file system of its own, in a namespace of its own.

use assert_cmd::Command;

use super::world::World;

/// Runs these lines where `$DATA` is an empty file system of so many KiB.
fn in_small_disk(kib: u32, lines: &str) -> String {
    let world = World::new();
    std::fs::create_dir_all(world.data()).unwrap();
    let script = format!("set -u\nmount -t tmpfs -o size={kib}k,mode=700 none \"$DATA\"\n{lines}");
    let output = Command::new("unshare")
        .args(["--user", "--map-root-user", "--mount", "sh", "-c", &script])
        .env("DATA", world.data())
        .env("MAST_DATA_DIR", world.data())
        .env("HOME", world.home())
        .env("MAST", assert_cmd::cargo::cargo_bin("mast"))
        .output()
        .unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    format!("{}{}", text(&output.stdout), text(&output.stderr))
}

#[test]
fn a_full_disk_stops_everything_and_loses_nothing() {
    let told = in_small_disk(
        2_048,
        r#"
        call() { "$MAST" call math.calculate '{"expression":"17*23"}'; }
        call || exit 1
        head -c 1900000 /dev/zero > "$DATA/filler" 2>/dev/null
        n=0
        while call > "$HOME/out" 2> "$HOME/err"; do n=$((n+1)); [ $n -lt 400 ] || break; done
        echo "stopped: $(cat "$HOME/err")"
        [ -s "$HOME/out" ] && echo "an answer that is not on record"
        rm "$DATA/filler"
        "$MAST" journal verify && call
        "#,
    );
    assert!(told.contains("stopped: mast: "), "{told}");
    assert!(told.contains("is full: make room and try again"), "{told}");
    assert!(!told.contains("not on record"), "{told}");
    assert!(told.contains("sound · "), "{told}");
    assert!(told.trim_end().ends_with("391"), "with room again it goes on: {told}");
}

#[test]
fn a_disk_that_cannot_be_written_says_so_and_can_be_read() {
    let told = in_small_disk(
        4_096,
        r#"
        "$MAST" call math.calculate '{"expression":"17*23"}' || exit 1
        mount -o remount,ro "$DATA"
        "$MAST" call math.calculate '{"expression":"17*23"}'; echo "exit $?"
        "#,
    );
    assert!(told.contains("exit 1"), "{told}");
    assert!(told.contains("cannot be written"), "{told}");
    assert_eq!(told.matches("391").count(), 1, "only the first is answered: {told}");
}

//! What must not get out, not come in, and not be passed off as done: keys that others can read,
//! addresses with a password, files without an end, a verdict that nobody reads, and the logs.

use expect_test::expect;

use crate::world::World;

#[test]
fn a_verdict_does_not_depend_on_a_reader() {
    let world = World::new();
    let call = |arguments| ["--json", "call", "math.calculate", arguments];
    assert_eq!(world.mast_unread("", &call(r#"{"expression":"1/0"}"#)), (1, String::new()));
    assert_eq!(world.mast_unread("", &call(r#"{"expression":"1"}"#)), (0, String::new()));
    let asks = ["--json", "call", "demo.external_write", r#"{"destination":"ops","content":"x"}"#];
    assert_eq!(world.mast_unread("", &asks).0, 3);
    assert_eq!(world.mast_unread("", &["journal", "verify"]), (0, String::new()));
    let head = "0".repeat(64);
    assert_eq!(world.mast_unread("", &["journal", "verify", "--head", &head]).0, 1);
    // Answers that nobody took are not given.
    let lines = "{\"expression\":\"1\"}\n{\"expression\":\"2\"}\n";
    assert_eq!(world.mast_unread(lines, &["call", "math.calculate", "--stdin"]), (1, String::new()));
}

#[test]
fn an_address_is_shown_without_its_secrets() {
    let address = "http://me:hunter2@127.0.0.1:1/v1?key=sk-hidden";
    let world = World::new().with("MAST_BASE_URL", address).with("MAST_PROVIDER", "ollama");
    for arguments in [
        &["config", "show"][..],
        &["config", "show", "--json"],
        &["doctor"],
        &["run", "--model", "m", "Hello"],
        &["run", "--json", "--model", "m", "Hello"],
    ] {
        let ran = world.mast(arguments);
        assert!(!format!("{ran:?}").contains("hunter2"), "{ran:?}");
        assert!(!format!("{ran:?}").contains("sk-hidden"), "{ran:?}");
        if arguments.contains(&"show") {
            assert!(ran.out.contains("http://***@127.0.0.1:1/v1?***"), "{ran:?}");
        }
    }
}

#[test]
fn a_stored_key_stands_in_nothing_that_is_printed() {
    let key = "sk-live-4kqWz81\\\"Yx";
    let world = World::new().with("OPENAI_API_KEY", key);
    let in_json = serde_json::to_string(key).unwrap();
    let in_json = in_json.trim_matches('"');
    let call = format!(
        "- calls: [{{tool: demo.external_write, args: {{destination: ops, content: {}}}}}]\n- text: {}\n",
        serde_json::to_string(&format!("{}{key}", "x".repeat(190))).unwrap(),
        serde_json::to_string(&format!("I sent {key}.")).unwrap(),
    );
    let script = world.file("leak.yaml", &call);
    let run = |flags: &[&str]| {
        let ran = world.mast(&[&["run", "--script", &script], flags, &[&format!("Send {key}")]].concat());
        assert_eq!(ran.code, 3, "{ran:?}");
        ran
    };
    let (plain, json) = (run(&[]), run(&["--json"]));
    let id = |text: &str, kind: &str| {
        let (_, behind) = text.split_at(text.find(kind).unwrap());
        behind.chars().take_while(|c| c.is_ascii_alphanumeric() || *c == '_').collect::<String>()
    };
    let (approval, run) = (id(&plain.err, "apr_"), id(&plain.err, "run_"));
    let mut said = vec![plain, json];
    for arguments in [
        &["approvals"][..],
        &["approvals", "--json"],
        &["approvals", "show", &approval],
        &["approvals", "show", &approval, "--reveal"],
        &["approvals", "show", &approval, "--json"],
        &["approvals", "approve", &approval, "--json"],
        &["runs", "resume", &run],
        &["runs"],
        &["runs", "show", &run],
        &["runs", "show", &run, "--json"],
        &["trace", &run],
        &["trace", &run, "--json"],
        &["journal", "show", &run, "--json"],
        &["call", "demo.external_write", &format!("{{\"destination\":\"a\",\"content\":\"{in_json}\"}}")],
    ] {
        said.push(world.mast(arguments));
    }
    let beginning = key.get(..9).unwrap();
    for ran in &said {
        let all = format!("{}{}", ran.out, ran.err);
        assert!(!all.contains(key) && !all.contains(in_json) && !all.contains(beginning), "{ran:?}");
    }
    let n_named =
        said.iter().filter(|ran| (ran.out.clone() + &ran.err).contains("[credential openai]")).count();
    assert!(n_named >= 8, "{n_named}: {said:?}");
}

#[cfg(unix)]
#[test]
fn only_regular_files_are_read() {
    let world = World::new();
    world.check(
        &["config", "show", "--config", "/dev/zero"],
        &expect![[r#"
            exit 4
            --- stdout
            --- stderr
            mast: cannot read the settings file /dev/zero   the system says: it is not a regular file
        "#]],
    );
    world.check(
        &["run", "--script", "/dev/zero", "Hello"],
        &expect![[r#"
            exit 4
            --- stdout
            --- stderr
            mast: cannot read the script /dev/zero: it is not a regular file
        "#]],
    );
    std::fs::create_dir_all(world.data().join("keys")).unwrap();
    std::os::unix::fs::symlink("/dev/zero", world.data().join("keys/openai")).unwrap();
    std::os::unix::fs::symlink("/dev/zero", world.data().join("journal.key")).unwrap();
    let key = world.mast(&["run", "Hello"]);
    assert!(key.code == 1 && key.err.contains("openai: it is not a regular file"), "{key:?}");
    let seed = world.mast(&["call", "math.calculate", r#"{"expression":"1"}"#]);
    assert!(seed.code == 1 && seed.err.contains("journal.key: it is not a regular file"), "{seed:?}");
}

#[cfg(unix)]
#[test]
fn no_journal_begins_in_a_folder_that_others_can_write_into() {
    use std::os::unix::fs::PermissionsExt as _;
    let world = World::new();
    std::fs::create_dir_all(world.data()).unwrap();
    std::fs::set_permissions(world.data(), std::fs::Permissions::from_mode(0o777)).unwrap();
    world.check(
        &["call", "math.calculate", r#"{"expression":"1"}"#],
        &expect![[r#"
            exit 4
            --- stdout
            --- stderr
            mast: others can write into the folder HOME/data, so no key there is used   chmod 700 HOME/data
        "#]],
    );
    assert!(!world.data().join("journal.key").exists());
}

#[cfg(unix)]
#[test]
fn a_journal_key_that_others_can_reach_is_refused() {
    use std::os::unix::fs::PermissionsExt as _;
    let world = World::new();
    let call = ["call", "math.calculate", r#"{"expression":"1"}"#];
    assert_eq!(world.mast(&call).code, 0);
    let set = |path: &std::path::Path, mode| {
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
    };
    let key = world.data().join("journal.key");
    set(&key, 0o644);
    world.check(
        &call,
        &expect![[r#"
            exit 4
            --- stdout
            --- stderr
            mast: others can read the key HOME/data/journal.key, so no key there is used   chmod 600 HOME/data/journal.key
        "#]],
    );
    assert_eq!(std::fs::metadata(&key).unwrap().permissions().mode() & 0o777, 0o644, "nothing was tightened");
    set(&key, 0o600);
    set(&world.data(), 0o777);
    world.check(
        &["journal", "verify"],
        &expect![[r#"
            exit 4
            --- stdout
            --- stderr
            mast: others can write into the folder HOME/data, so no key there is used   chmod 700 HOME/data
        "#]],
    );
    set(&world.data(), 0o700);
    assert_eq!(world.mast(&call).code, 0);
}

#[test]
fn logs_are_told_on_stderr_and_only_when_asked_for() {
    let call = ["call", "math.calculate", r#"{"expression":"1/0"}"#, "--json"];
    let silent = World::new().mast(&call);
    assert_eq!(silent.err, "");
    let told = World::new().with("MAST_LOG", "info").mast(&call);
    assert_eq!((told.code, &told.out), (silent.code, &silent.out));
    let first: String = told.err.lines().take(2).collect();
    let version = concat!("version=\"", env!("CARGO_PKG_VERSION"), "\"");
    for part in ["INFO mast", version, "policy=\"default@", "zones=\"20"] {
        assert!(first.contains(part), "{first}");
    }
    let debug = World::new().with("MAST_LOG", "debug").mast(&call);
    assert_eq!((debug.code, &debug.out), (silent.code, &silent.out));
    assert!(debug.err.contains("DEBUG mast_runtime"), "{}", debug.err);
    assert_eq!(World::new().with("MAST_LOG", "error").mast(&call).err, "");
    World::new().with("MAST_LOG", "loud").check(
        &call,
        &expect![[r#"
            exit 4
            --- stdout
            --- stderr
            mast: environment: `MAST_LOG` has a value that it cannot have   it takes one of: error, warn, info, debug, trace
        "#]],
    );
}

//! Every mistake ends in one clear line that says what to do, with the right exit code.

use expect_test::{Expect, expect};

use crate::world::World;

fn check(world: &World, arguments: &[&str], expect: &Expect) {
    let ran = world.mast(arguments);
    let said: Vec<&str> = ran.err.lines().filter(|line| !line.starts_with("mast · ")).collect();
    assert_eq!((said.len(), ran.out.as_str()), (1, ""), "{ran:?}");
    expect.assert_eq(&world.shown(&ran));
}

#[test]
fn of_usage() {
    let world = World::new();
    check(
        &world,
        &["rnu"],
        &expect![[r#"
            exit 2
            --- stdout
            --- stderr
            mast: unrecognized subcommand 'rnu' · a similar subcommand exists: 'runs'   see: mast --help
        "#]],
    );
    check(
        &world,
        &["run", "--modle", "x"],
        &expect![[r#"
            exit 2
            --- stdout
            --- stderr
            mast: unexpected argument '--modle' found · a similar argument exists: '--model'   see: mast run --help
        "#]],
    );
    check(
        &world,
        &["run", "What", "is", "2", "+", "2"],
        &expect![[r#"
        exit 2
        --- stdout
        --- stderr
        mast: put the task in quotes: mast run "What is 2 + 2"
    "#]],
    );
    check(
        &world,
        &["run", "--model", "llama3.1", "x"],
        &expect![[r#"
        exit 4
        --- stdout
        --- stderr
        mast: --model llama3.1 needs a service, and none is set up   add --provider ollama, or: mast config use ollama --model llama3.1
    "#]],
    );
    check(
        &world,
        &["run"],
        &expect![[r#"
        exit 2
        --- stdout
        --- stderr
        mast: the task is empty   write it: mast run "What is 17 multiplied by 23?"
    "#]],
    );
    check(
        &world,
        &["run", "--tools", "web.serach,math.calcualte", "x"],
        &expect![[r#"
        exit 2
        --- stdout
        --- stderr
        mast: no tool named `web.serach`   see: mast tools
    "#]],
    );
}

#[test]
fn of_names() {
    let world = World::new();
    check(
        &world,
        &["runs", "show", "latest"],
        &expect![[r#"
        exit 1
        --- stdout
        --- stderr
        mast: nothing is on record yet   begin with: mast run "…"
    "#]],
    );
    world.mast(&["call", "math.calculate", "{}"]);
    check(
        &world,
        &["runs", "show", "abc"],
        &expect![[r#"
        exit 2
        --- stdout
        --- stderr
        mast: `abc` is not the id of a run   write the last four or more of its characters, or: latest
    "#]],
    );
    check(
        &world,
        &["journal", "show", "run_zzzzz"],
        &expect![[r#"
        exit 1
        --- stdout
        --- stderr
        mast: there is no run or session `run_zzzzz`   see: mast runs
    "#]],
    );
}

#[test]
fn of_names_that_are_only_near() {
    let world = World::new();
    check(
        &world,
        &["call", "math.calc", "{}"],
        &expect![[r#"
        exit 2
        --- stdout
        --- stderr
        mast: no tool named `math.calc` (did you mean math.calculate?)   see: mast tools
    "#]],
    );
    check(
        &world,
        &["run", "--provider", "olama", "x"],
        &expect![[r#"
        exit 4
        --- stdout
        --- stderr
        mast: --provider: no model service named `olama` (did you mean ollama?)   known: offline, scripted, openai, anthropic, openrouter, ollama, lmstudio, llamacpp, vllm
    "#]],
    );
    check(
        &world,
        &["run", "--tools", "math.calc", "x"],
        &expect![[r#"
        exit 2
        --- stdout
        --- stderr
        mast: no tool named `math.calc` (did you mean math.calculate?)   see: mast tools
    "#]],
    );
    assert_eq!(world.mast(&["call", "math.calc", "{}", "--json"]).code, 1, "there it is a denied call");
}

#[test]
fn of_conversations() {
    let world = World::new();
    check(
        &world,
        &["run", "--continue", "x"],
        &expect![[r#"
        exit 1
        --- stdout
        --- stderr
        mast: there is no conversation to go on with   begin one: mast run "…"
    "#]],
    );
}

#[test]
fn of_calls() {
    let world = World::new();
    check(
        &world,
        &["call", "math.calcualte", "{}"],
        &expect![[r#"
            exit 2
            --- stdout
            --- stderr
            mast: no tool named `math.calcualte` (did you mean math.calculate?)   see: mast tools
        "#]],
    );
    check(
        &world,
        &["call", "math.calculate", "{"],
        &expect![[r#"
            exit 1
            --- stdout
            --- stderr
            mast: math.calculate failed (tool.invalid_arguments.json): the arguments are not one JSON value: stopped at line 1, column 1   for example: mast call math.calculate '{"expression":"…"}'
        "#]],
    );
    check(
        &world,
        &["call", "math.calculate", r#"{"expresion":"1"}"#],
        &expect![[r#"
            exit 1
            --- stdout
            --- stderr
            mast: math.calculate failed (tool.invalid_arguments.schema): there is no argument `expresion` (did you mean expression?); `expression` is missing   for example: mast call math.calculate '{"expression":"…"}'
        "#]],
    );
}

#[test]
fn of_secrets_in_the_settings() {
    let world = World::new();
    world.file(".config/mast/config.toml", "[provider]\napi_key = \"sk-1\"\n");
    check(
        &world,
        &["run", "x"],
        &expect![[r#"
        exit 4
        --- stdout
        --- stderr
        mast: config.toml line 2: unknown key `provider.api_key`   keys do not go here: mast config key openai
    "#]],
    );
}

#[test]
fn of_configuration() {
    let world = World::new();
    world.file(".config/mast/config.toml", "[provider]\nname = \"openai\"\n\n[polcy]\noverlay = \"off\"\n");
    check(
        &world,
        &["run", "x"],
        &expect![[r#"
            exit 4
            --- stdout
            --- stderr
            mast: config.toml line 4: unknown key `polcy`   known here: provider, policy, run, store
        "#]],
    );
    world.file(".config/mast/config.toml", "[provider\n");
    check(
        &world,
        &["run", "x"],
        &expect![[r#"
        exit 4
        --- stdout
        --- stderr
        mast: config.toml line 1: this is not TOML (unclosed table, expected `]`)   correct the line, or begin anew with: mast config init
    "#]],
    );
    world.file(".config/mast/config.toml", "[provider]\nname = \"openai\"\n");
    check(
        &world,
        &["run", "x"],
        &expect![[r#"
        exit 4
        --- stdout
        --- stderr
        mast: openai needs a key, and there is none   set OPENAI_API_KEY, or: mast config key openai
    "#]],
    );
    world.file(".config/mast/config.toml", "[provider]\nname = \"ollama\"\n");
    check(
        &world,
        &["run", "x"],
        &expect![[r#"
            exit 4
            --- stdout
            --- stderr
            mast: ollama is set up without a model   name one: mast config use ollama --model NAME, or for one run: --model NAME
        "#]],
    );
    check(
        &world,
        &["--config", "nowhere.toml", "run", "x"],
        &expect![[r#"
        exit 4
        --- stdout
        --- stderr
        mast: there is no settings file nowhere.toml   write one with: mast config init
    "#]],
    );
    check(
        &world,
        &["run", "--provider", "chatgtp", "x"],
        &expect![[r#"
            exit 4
            --- stdout
            --- stderr
            mast: --provider: no model service named `chatgtp`   known: offline, scripted, openai, anthropic, openrouter, ollama, lmstudio, llamacpp, vllm
        "#]],
    );
}

#[test]
fn of_scripts() {
    let world = World::new();
    check(
        &world,
        &["run", "--script", "nowhere.yaml", "x"],
        &expect![[r#"
            exit 4
            --- stdout
            --- stderr
            mast: cannot read the script nowhere.yaml: no such file or directory
        "#]],
    );
    let script = world.file("bad.yaml", "- txt: hello\n");
    check(
        &world,
        &["run", "--script", &script, "x"],
        &expect![[r#"
            exit 4
            --- stdout
            --- stderr
            mast: the script HOME/bad.yaml, line 1: unknown field `txt`, expected one of text, reasoning, calls, error, delay_ms, expect, stop, usage
        "#]],
    );
    check(
        &world,
        &["run", "--provider", "scripted", "x"],
        &expect![[r#"
        exit 2
        --- stdout
        --- stderr
        mast: the scripted provider has no script   name one: mast run --script FILE
    "#]],
    );
    check(
        &world,
        &["run", "--provider", "openai", "--script", &script, "x"],
        &expect![[r#"
        exit 2
        --- stdout
        --- stderr
        mast: a script and another provider cannot both answer   leave one out
    "#]],
    );
}

#[test]
fn of_models_that_cannot_be_reached() {
    // A port that was free a moment ago: nobody listens on it.
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let world = World::new()
        .with("MAST_BASE_URL", format!("http://127.0.0.1:{port}/v1"))
        .with("MAST_PROVIDER", "ollama");
    let ran = world.mast(&["run", "--model", "m", "x"]);
    assert_eq!((ran.code, ran.out.as_str()), (5, ""), "{ran:?}");
    let said = ran.err.lines().last().unwrap();
    assert!(said.contains(&format!("the model at http://127.0.0.1:{port} does not answer")), "{said}");
}

#[cfg(unix)]
#[test]
fn of_stores() {
    let world = World::new();
    world.mast(&["run", "17 * 23"]);
    let database = world.data().join("mast.db");
    for extra in ["mast.db-wal", "mast.db-shm"] {
        drop(std::fs::remove_file(world.data().join(extra)));
    }
    std::fs::write(&database, "this is not a database, whatever its name says").unwrap();
    check(
        &world,
        &["runs"],
        &expect![[r#"
        exit 1
        --- stdout
        --- stderr
        mast: HOME/data/mast.db is damaged or not a database of mast: move it away and start again, or put back a copy
    "#]],
    );
    check(
        &world,
        &["call", "math.calculate", r#"{"expression":"1"}"#],
        &expect![[r#"
        exit 1
        --- stdout
        --- stderr
        mast: HOME/data/mast.db is damaged or not a database of mast: move it away and start again, or put back a copy
    "#]],
    );
    std::fs::remove_file(world.data().join("journal.key")).unwrap();
    check(
        &world,
        &["runs"],
        &expect![[r#"
        exit 1
        --- stdout
        --- stderr
        mast: HOME/data/journal.key is missing: the journal beside it was signed with it   put back a copy of it, or choose another --data-dir
    "#]],
    );
}

#[test]
fn a_data_folder_that_cannot_be_made() {
    let world = World::new();
    let file = world.file("a-file", "");
    check(
        &world,
        &["--data-dir", &format!("{file}/data"), "runs"],
        &expect![[r#"
            exit 4
            --- stdout
            --- stderr
            mast: the data folder HOME/a-file/data cannot be used: not a directory   name another one with --data-dir DIR
        "#]],
    );
}

#[cfg(target_os = "linux")]
#[test]
fn an_output_that_cannot_be_written() {
    let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    #[expect(clippy::disallowed_methods, reason = "the stream of a child cannot be set in another way")]
    let mut mast = std::process::Command::new(assert_cmd::cargo::cargo_bin("mast"));
    let output = mast.args(["tools"]).env_clear().env("HOME", "/nonexistent").stdout(full).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(
        String::from_utf8(output.stderr).unwrap(),
        "mast: cannot write to stdout: no space left on device   free some space and ask again\n"
    );
}

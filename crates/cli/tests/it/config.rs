//! `mast config`: where a value comes from, and the changes that Mast makes itself.

use expect_test::expect;

use crate::world::World;

#[test]
fn every_value_has_a_source() {
    let world = World::new().with("MAST_STEPS", "9");
    world.file(".config/mast/config.toml", "[provider]\nname = \"ollama\"\nmodel = \"qwen3:8b\"\n");
    world.check(
        &["config", "show"],
        &expect![[r#"
            exit 0
            --- stdout
            provider.name      ollama    HOME/.config/mast/config.toml:2
            provider.model     qwen3:8b  HOME/.config/mast/config.toml:3
            provider.base_url  –         not set
            provider.stream    true      default
            policy.profile     default   default
            policy.overlay     on        default
            run.instructions   –         not set
            run.timezone       –         not set
            run.steps          9         environment MAST_STEPS
            run.model_calls    24        default
            run.tool_calls     64        default
            store.url          –         not set
            --- stderr
        "#]],
    );
    let rows: Vec<serde_json::Value> =
        serde_json::from_str(&world.mast(&["config", "show", "--json"]).out).unwrap();
    assert!(rows.iter().any(|row| row["id"] == "run.steps"
        && row["value"] == "9"
        && row["source"] == "environment MAST_STEPS"));
}

#[test]
fn a_file_is_written_once() {
    let world = World::new();
    world.check(
        &["config", "path"],
        &expect![[r#"
        exit 0
        --- stdout
        HOME/.config/mast/config.toml
        --- stderr
    "#]],
    );
    world.check(
        &["config", "init"],
        &expect![[r#"
        exit 0
        --- stdout
        --- stderr
        wrote HOME/.config/mast/config.toml   every line in it is a comment; next: mast config use NAME
    "#]],
    );
    world.check(
        &["config", "init"],
        &expect![[r#"
            exit 1
            --- stdout
            --- stderr
            mast: HOME/.config/mast/config.toml is there already   to set a service in it: mast config use NAME; what holds: mast config show; for a new one move it away
        "#]],
    );
    assert_eq!(world.mast(&["config", "show"]).code, 0);
}

#[test]
fn a_service_is_chosen_and_comments_stay() {
    let world = World::new();
    world.file(".config/mast/config.toml", "# mine\n[provider]\nname = \"openai\" # paid\n");
    world.check(
        &["config", "use", "ollama", "--model", "qwen3:8b"],
        &expect![[r#"
        exit 0
        --- stdout
        --- stderr
        ollama answers from now on
    "#]],
    );
    expect![[r##"
        # mine
        [provider]
        base_url = "http://127.0.0.1:11434/v1"
        model = "qwen3:8b"
        name = "ollama"
    "##]]
    .assert_eq(&std::fs::read_to_string(world.config()).unwrap());
    let again = world.mast(&["config", "use", "ollama"]);
    assert_eq!(again.err, "ollama answers from now on\n", "it keeps its model");
    let lacks = world.mast(&["config", "use", "vllm"]).err;
    assert!(lacks.ends_with("name its model: mast config use vllm --model NAME\n"), "{lacks}");
    world.check(&["config", "use", "openrouter"], &expect![[r#"
        exit 0
        --- stdout
        --- stderr
        openrouter is chosen, and cannot answer yet   name its model: mast config use openrouter --model NAME; give it its key: mast config key openrouter
    "#]]);
    world.check(&["config", "use", "ollma"], &expect![[r#"
        exit 2
        --- stdout
        --- stderr
        mast: no model service named `ollma` (did you mean ollama?)   known: offline, scripted, openai, anthropic, openrouter, ollama, lmstudio, llamacpp, vllm
    "#]]);
}

#[test]
fn a_key_is_stored_for_its_owner_and_never_shown() {
    let world = World::new();
    let ran = world.mast_reading("sk-very-secret\n", &["config", "key", "openai"]);
    expect![[r#"
        exit 0
        --- stdout
        --- stderr
        stored the key of openai   OPENAI_API_KEY in the environment wins over it
    "#]]
    .assert_eq(&world.shown(&ran));
    for arguments in
        [&["config", "show"][..], &["doctor"], &["config", "show", "--json"], &["doctor", "--json"]]
    {
        let ran = world.mast(arguments);
        assert!(!format!("{ran:?}").contains("sk-very"), "{ran:?}");
    }
    assert_eq!(world.mast_reading("two words", &["config", "key", "openai"]).code, 2);
    assert_eq!(world.mast_reading("x", &["config", "key", "ollama"]).code, 2);
}

#[test]
fn a_key_that_cannot_be_used_yet_is_named_and_passed_over() {
    let world = World::new().with("GEMINI_API_KEY", "g");
    let ran = world.mast(&["run", "17 * 23"]);
    assert_eq!((ran.code, ran.out.as_str()), (0, "391\n"));
    assert!(
        ran.err.starts_with("mast · GEMINI_API_KEY is set, but its provider is not here yet"),
        "{}",
        ran.err
    );
}

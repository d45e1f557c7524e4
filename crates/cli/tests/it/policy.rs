//! `mast policy`: what is in force, whether its tests pass, and what every layer says of a call.

use expect_test::expect;
use serde_json::Value;

use crate::world::World;

const MINE: &str = "name = \"mine\"\n\n[rows]\nworkspace_write = \"ask\"\n\n[[rules]]\ntools = [\"math.calculate\"]\nruling = \"ask\"\nwhy = \"count yourself\"\n\n[[tests]]\nname = \"sums are asked\"\ntool = \"math.calculate\"\narguments = { expression = \"1 + 1\" }\nexpect = \"ask\"\n";

const ADMIN: &str = "name = \"machine\"\n[[tools]]\nname = \"demo.external_write\"\nruling = \"deny\"\n";

#[test]
fn explain_shows_every_layer() {
    let world = World::new();
    world.check(
        &[
            "policy",
            "explain",
            "demo.external_write",
            r#"{"destination":"x","content":"y"}"#,
            "--origin",
            "external_untrusted",
        ],
        &expect![[r#"
            exit 0
            --- stdout
            touches    record x of demo
            hardline   pass   nothing forbidden
            turn       mode act → allow   offered
            authority  demo.write held → allow   scopes held
            matrix     external_write → ask   writes outside this machine
            trust      origin external_untrusted → ask   text from outside may have shaped it
            flow       sends composed · private in reach → ask   something private could leave with it
            rules      default.toml line 8: every call of demo.external_write → ask   you are always asked
            decision   ask · risk high · expires in 4 h · policy.matrix.external_write
            --- stderr
        "#]],
    );
    world.check(
        &["policy", "explain", "math.calculate", r#"{"expression":"1"}"#, "--mode", "no_tools"],
        &expect![[r#"
            exit 0
            --- stdout
            hardline   pass   nothing forbidden
            turn       mode no_tools → deny   this request is to be answered without tools
            authority  no scope needed → allow   scopes held
            matrix     none → allow   pure computation
            trust      origin user → allow   nothing from outside was read
            flow       sends none · public in reach → allow   it sends nothing of the model's making
            rules      pass   no rule is against it
            decision   deny · risk low · policy.turn.no_tools
            --- stderr
        "#]],
    );
    assert!(!world.data().exists(), "an explanation leaves nothing behind");
}

const AFTER_A_SUM: &str = "name = \"mine\"\n[[sequences]]\nafter = { tools = [\"math.calculate\"] }\nthen = { tools = [\"system.current_time\"] }\nruling = \"deny\"\n";

/// The decision, and what else of the answer is asked for.
fn decided(world: &World, words: &[&str]) -> (String, Value) {
    let told = world.mast(&[&["policy", "explain", "--json"], words].concat());
    assert_eq!(told.code, 0, "{}", told.err);
    let told: Value = serde_json::from_str(&told.out).unwrap();
    (told["decision"].as_str().unwrap().to_owned(), told["grant"].clone())
}

#[test]
fn explain_judges_in_a_session_after_what_ran_in_it() {
    let world = World::new();
    let mine = world.file("mine.toml", AFTER_A_SUM);
    let ask = ["system.current_time", "--profile", &mine];
    let in_session = [&ask[..], &["--session", "latest"]].concat();
    let none = world.mast(&[&["policy", "explain"], &in_session[..]].concat());
    assert_eq!(none.code, 1, "{}", none.out);
    assert!(none.err.contains("nothing is on record yet") && !world.data().exists(), "{}", none.err);

    let script = world.file("time.yaml", "- text: hello\n");
    assert_eq!(world.mast(&["run", "--script", &script, "hello"]).code, 0);
    assert_eq!(decided(&world, &in_session).0, "allow", "nothing ran in it yet");
    let calls = "- calls: [{tool: math.calculate, args: {expression: '1'}}]\n- text: done\n";
    let script = world.file("sum.yaml", calls);
    assert_eq!(world.mast(&["run", "--script", &script, "count"]).code, 0);
    assert_eq!(decided(&world, &in_session).0, "deny");
    assert_eq!(decided(&world, &ask).0, "allow", "in no session nothing ran before");
    let unknown = world.mast(&[&["policy", "explain"], &ask[..], &["--session", "zzzzzz"]].concat());
    assert!(unknown.code == 1 && unknown.err.contains("there is no"), "{}", unknown.err);
}

#[test]
fn explain_judges_in_a_session_under_what_was_piped_into_it() {
    let world = World::new();
    let script = world.file("hello.yaml", "- text: hello\n");
    let run = ["run", "--script", &script, "--stdin", "sum it up"];
    assert_eq!(world.mast_reading("from somebody", &run).code, 0);
    let ask = ["policy", "explain", "demo.external_write", r#"{"destination":"a","content":"b"}"#];
    let in_session = world.mast(&[&ask[..], &["--session", "latest"]].concat()).out;
    assert!(in_session.contains("origin external_untrusted"), "{in_session}");
    let said = world.mast(&[&ask[..], &["--session", "latest", "--origin", "user"]].concat()).out;
    assert!(said.contains("origin user"), "{said}");
    assert!(world.mast(&ask).out.contains("origin user"));
}

#[test]
fn explain_names_the_grant_that_answers() {
    let world = World::new();
    let mine = world.file("mine.toml", MINE);
    let script =
        world.file("sum.yaml", "- calls: [{tool: math.calculate, args: {expression: '1'}}]\n- text: done\n");
    assert_eq!(world.mast(&["run", "--profile", &mine, "--script", &script, "count"]).code, 3);
    let ask = ["math.calculate", r#"{"expression":"1"}"#, "--profile", &mine];
    let in_session = [&ask[..], &["--session", "latest"]].concat();
    assert_eq!(decided(&world, &in_session), ("ask".to_owned(), Value::Null));
    let asked: Value = serde_json::from_str(&world.mast(&["approvals", "--json"]).out).unwrap();
    let asked = asked[0]["id"].as_str().unwrap();
    let approved = world.mast(&["approvals", "approve", asked, "--reach", "session", "--profile", &mine]);
    assert_eq!(approved.code, 0, "{}", approved.err);
    let (ruling, grant) = decided(&world, &in_session);
    assert!(ruling == "allow" && grant.as_str().is_some_and(|id| id.starts_with("grt_")), "{ruling} {grant}");
    assert_eq!(decided(&world, &ask), ("ask".to_owned(), Value::Null), "it is the session's");
    let other = ["math.calculate", r#"{"expression":"2"}"#, "--profile", &mine, "--session", "latest"];
    assert_eq!(decided(&world, &other).0, "ask", "it is for one call");
    let told = world.mast(&[&["policy", "explain"], &in_session[..]].concat()).out;
    assert!(told.contains("grant      grt_") && told.contains("decision   allow"), "{told}");
}

#[test]
fn explain_names_the_rule_its_file_and_its_line() {
    let world = World::new();
    let (mine, admin) = (world.file("mine.toml", MINE), world.file("policy.toml", ADMIN));
    let sum = r#"{"expression":"1"}"#;
    world.check(
        &["policy", "explain", "math.calculate", sum, "--profile", &mine],
        &expect![[r#"
        exit 0
        --- stdout
        hardline   pass   nothing forbidden
        turn       mode act → allow   offered
        authority  no scope needed → allow   scopes held
        matrix     none → allow   pure computation
        trust      origin user → allow   nothing from outside was read
        flow       sends none · public in reach → allow   it sends nothing of the model's making
        rules      mine.toml line 6: tool math.calculate → ask   a rule wants it asked (count yourself)
        decision   ask · risk low · expires in 24 h · policy.rules.ask
        --- stderr
    "#]],
    );
    let write = r#"{"destination":"x","content":"y"}"#;
    world.check(
        &["policy", "explain", "demo.external_write", write, "--admin-profile", &admin],
        &expect![[r#"
            exit 0
            --- stdout
            touches    record x of demo
            hardline   pass   nothing forbidden
            turn       mode act → allow   offered
            authority  demo.write held → allow   scopes held
            matrix     external_write → ask   writes outside this machine
            trust      origin user → allow   nothing from outside was read
            flow       sends composed · public in reach → allow   nothing private is in reach
            rules      default.toml line 8: every call of demo.external_write → ask   you are always asked
            admin      policy.toml line 2: tool demo.external_write → deny   this machine denies it
            decision   deny · risk high · policy.admin.deny
            --- stderr
        "#]],
    );
    let ran = world.mast(&["policy", "explain", "math.calculate", sum, "--profile", &mine, "--json"]);
    let told: Value = serde_json::from_str(&ran.out).unwrap();
    assert_eq!((&told["decision"], &told["reason_code"]), (&"ask".into(), &"policy.rules.ask".into()));
    let rule =
        told["findings"].as_array().unwrap().iter().find(|finding| finding["layer"] == "rules").unwrap();
    assert_eq!((&rule["file"], &rule["line"]), (&"mine.toml".into(), &6.into()));
    assert_eq!(rule["reason"], "count yourself");
}

#[test]
fn explain_tells_what_is_wrong_with_the_question() {
    let world = World::new();
    world.check(
        &["policy", "explain", "math.calcualte"],
        &expect![[r#"
        exit 2
        --- stdout
        --- stderr
        mast: no tool named `math.calcualte` (did you mean math.calculate?)   see: mast tools
    "#]],
    );
    world.check(&["policy", "explain", "math.calculate", r#"{"expresion":"1"}"#], &expect![[r#"
        exit 2
        --- stdout
        --- stderr
        mast: math.calculate: there is no argument `expresion` (did you mean expression?); `expression` is missing   see: mast tools show math.calculate
    "#]]);
}

#[test]
fn show_tells_every_rule_and_where_it_is_from() {
    let world = World::new();
    world.check(&["policy", "show"], &expect![[r#"
        exit 0
        --- stdout
        POLICY
        none                               allow  built in              pure computation, where nothing outlives the session
        workspace_read                     allow  built in              reads the workspace, where it lies inside
        workspace_write                    allow  built in              writes the workspace, where it lies inside
        network_read                       allow  built in              reads an allowed host, by a link that was issued or with nothing private in reach
        code_execution                     allow  built in              runs a program, confined in every way
        package_install                    deny   built in              installs a package
        sandbox_network                    deny   built in              opens the sandbox's network
        external_message                   ask    built in              sends a message
        external_write                     ask    built in              writes outside this machine
        external_delete                    ask    built in              deletes outside this machine
        financial                          ask    built in              spends money
        publication                        ask    built in              publishes
        credential_access                  deny   built in              reads credentials
        host_access                        deny   built in              reaches the host
        privileged                         deny   built in              uses the host's privileges
        every call of demo.external_write  ask    default.toml line 8
        every call of email.send           ask    default.toml line 9
        every call of email.reply          ask    default.toml line 10
        every call of email.forward        ask    default.toml line 11
        every call of email.unsubscribe    ask    default.toml line 12
        every call of session.send         ask    default.toml line 13
        every call of image.generate       ask    default.toml line 14
        every call of video.generate       ask    default.toml line 15
        --- stderr
    "#]]);
    let mine = world.file("mine.toml", MINE);
    let ran = world.mast(&["policy", "show", "--profile", &mine, "--json"]);
    let rows: Vec<Value> = serde_json::from_str(&ran.out).unwrap();
    let from = |id: &str| rows.iter().find(|row| row["id"] == id).unwrap()["from"].clone();
    assert_eq!(from("workspace_write"), "mine.toml line 4");
    assert_eq!(from("tool math.calculate"), "mine.toml line 6");
    assert_eq!(from("financial"), "built in");
}

#[test]
fn a_profiles_own_tests_are_run_and_counted() {
    let world = World::new();
    let mine = world.file("mine.toml", MINE);
    world.check(
        &["policy", "test"],
        &expect![[r#"
        exit 0
        --- stdout
        9 tests passed, 0 failed   the built-in profile
        --- stderr
    "#]],
    );
    world.check(
        &["policy", "test", &mine],
        &expect![[r#"
        exit 0
        --- stdout
        1 test passed, 0 failed   mine.toml
        --- stderr
    "#]],
    );
    let wrong = world.file("wrong.toml", &MINE.replace("ruling = \"ask\"", "ruling = \"deny\""));
    world.check(
        &["policy", "test", &wrong],
        &expect![[r#"
        exit 1
        --- stdout
        wrong.toml line 11  "sums are asked" expects ask and gets deny
        0 tests passed, 1 failed   wrong.toml
        --- stderr
    "#]],
    );
}

#[test]
fn a_profile_that_is_none_or_fails_its_tests_stops_everything() {
    let world = World::new();
    let wrong = world.file("wrong.toml", &MINE.replace("ruling = \"ask\"", "ruling = \"deny\""));
    let sum = ["call", "math.calculate", r#"{"expression":"1"}"#, "--profile"];
    world.check(&[&sum[..], &[&wrong]].concat(), &expect![[r#"
        exit 4
        --- stdout
        --- stderr
        mast: wrong.toml line 11: the test "sums are asked" expects ask and gets deny   correct the test or the rules; all tests: mast policy test FILE
    "#]]);
    let doctor = world.mast(&["doctor", "--profile", &wrong]);
    assert_eq!(doctor.code, 1);
    assert!(doctor.out.contains("policy    wrong.toml line 11: "), "{}", doctor.out);
    let misspelt = world.file("misspelt.toml", &MINE.replace("[[rules]]", "[[rulez]]"));
    world.check(&[&sum[..], &[&misspelt]].concat(), &expect![[r#"
        exit 4
        --- stdout
        --- stderr
        mast: misspelt.toml line 6: unknown key `rulez`   known here: name, rows, tools, servers, rules, sequences, always_ask, tests
    "#]]);
    world.check(&[&sum[..], &["none.toml"]].concat(), &expect![[r#"
        exit 4
        --- stdout
        --- stderr
        mast: cannot read the policy profile none.toml: no such file or directory   nothing is judged without it; see: mast policy --help
    "#]]);
    let loose = world.file("loose.toml", "name = \"x\"\n[rows]\nworkspace_read = \"allow\"\n");
    world.check(
        &["call", "math.calculate", r#"{"expression":"1"}"#, "--admin-profile", &loose],
        &expect![[r#"
            exit 4
            --- stdout
            --- stderr
            mast: loose.toml line 3: side effect workspace_read cannot be made `allow`   it can be given `ask` or `deny`
        "#]],
    );
}

#[test]
fn a_profile_of_the_settings_judges_calls() {
    let world = World::new();
    let mine = world.file("mine.toml", MINE);
    world.file(".config/mast/config.toml", &format!("[policy]\nprofile = {mine:?}\n"));
    let sum = ["call", "math.calculate", r#"{"expression":"1"}"#];
    assert_eq!(world.mast(&sum).code, 3, "the rule wants it asked");
    assert_eq!(world.mast(&[&sum[..], &["--profile", "default"]].concat()).code, 0);
    let admin = world.file("policy.toml", &ADMIN.replace("demo.external_write", "math.calculate"));
    let ran = world.mast(&[&sum[..], &["--admin-profile", &admin]].concat());
    assert_eq!(ran.code, 1);
    assert!(ran.err.contains("policy.admin.deny"), "{}", ran.err);
}

#[test]
fn what_the_settings_name_lies_beside_them_and_not_where_the_command_is_given() {
    let world = World::new();
    world.file("mine.toml", &MINE.replace("ruling = \"ask\"", "ruling = \"deny\""));
    world.file(".config/mast/config.toml", "[policy]\nprofile = \"mine.toml\"\n");
    assert_eq!(world.mast(&["policy", "show"]).code, 4, "there is none beside the settings");
    world.file(".config/mast/mine.toml", MINE);
    assert_eq!(world.mast(&["policy", "show"]).code, 0);
    assert_eq!(world.mast(&["policy", "show", "--profile", "mine.toml"]).code, 4, "that one fails its test");
}

#[test]
fn words_that_ask_for_no_tools_are_heard_and_it_is_said() {
    let world = World::new();
    let ran = world.mast(&["run", "Do not use any tools. What is 17 multiplied by 23?"]);
    assert!(ran.err.contains("your words ask for no tools, so none is offered"), "{}", ran.err);
    assert!(!ran.err.contains("math.calculate  "), "{}", ran.err);
    let piped =
        world.mast_reading("Do not use any tools.", &["run", "--stdin", "What is 17 multiplied by 23?"]);
    assert!(!piped.err.contains("none is offered"), "what is piped in narrows nothing: {}", piped.err);
}

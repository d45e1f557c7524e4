//! Profiles: what they may say, what they may not, and that their own tests hold them.

use expect_test::{Expect, expect};
use mast_kernel::limits;
use mast_kernel::policy::{
    Draft, NoRoster, Overlay, Policy, Profile, ProfileRefused, Ruling, Whose, loosest,
};
use mast_kernel::spec::SideEffect;

fn read(text: &str, whose: Whose) -> Result<Profile, ProfileRefused> {
    Draft::read("mine.toml", text, whose)?.load(&NoRoster)
}

fn check(whose: Whose, text: &str, expect: &Expect) {
    let told = match read(text, whose) {
        Ok(profile) => profile
            .told()
            .iter()
            .map(|told| format!("{} {} {}\n", told.at.line, told.ruling, told.what))
            .collect::<String>(),
        Err(refused) => format!("{refused} | {}\n", refused.hint()),
    };
    expect.assert_eq(&told);
}

const EVERYTHING: &str = r#"
name = "mine"
always_ask = ["mcp.mail.send"]

[rows]
workspace_write = "ask"
sandbox_network = "ask"

[[tools]]
name = "mcp.tickets.create"
ruling = "allow"

[[servers]]
name = "tickets"
ruling = "deny"
why = "only what is named"

[[rules]]
commands = [["git", "push"], ["cargo", "publish"]]
ruling = "ask"

[[rules]]
paths = ["secrets/**"]
access = "read"
ruling = "deny"

[[sequences]]
after = { paths = ["customers/**"] }
then = { effects = ["external_write", "external_message"] }
ruling = "deny"
why = "customers' data stays here"

[[tests]]
name = "a ticket may be written"
tool = "mcp.tickets.create"
effect = "external_write"
expect = "allow"

[[tests]]
name = "another tool of that server may not"
tool = "mcp.tickets.close"
effect = "external_write"
expect = "deny"

[[tests]]
effect = "code_execution"
commands = [["git", "-C", "x", "push"]]
expect = "ask"

[[tests]]
name = "near miss: a pull is no push"
effect = "code_execution"
commands = [["git", "pull"]]
expect = "allow"

[[tests]]
effect = "workspace_read"
paths = ["Secrets/key"]
expect = "deny"

[[tests]]
name = "a program that is given the path"
effect = "code_execution"
commands = [["cat", "secrets/key"]]
expect = "deny"

[[tests]]
name = "after the customers were read, nothing is written outside"
tool = "mcp.tickets.create"
effect = "external_write"
after = [{ effect = "workspace_read", paths = ["customers/a.csv"] }]
expect = "deny"

[[tests]]
effect = "sandbox_network"
expect = "ask"
"#;

#[test]
fn a_profile_is_told_line_by_line() {
    check(
        Whose::User,
        EVERYTHING,
        &expect![[r#"
            3 ask every call of mcp.mail.send
            6 ask effect workspace_write
            7 ask effect sandbox_network
            9 allow tool mcp.tickets.create
            13 deny server tickets
            18 ask command "git push", "cargo publish"
            22 deny read path secrets/**
            27 deny effect external_message, external_write, after path customers/**
        "#]],
    );
}

#[test]
fn what_is_not_known_is_refused_with_its_line_and_what_would_be() {
    let user = |text: &str, expect: &Expect| check(Whose::User, text, expect);
    user(
        "nam = \"x\"\n",
        &expect![[r#"
        mine.toml line 1: unknown key `nam` | known here: name, rows, tools, servers, rules, sequences, always_ask, tests
    "#]],
    );
    user(
        "name = \"x\"\n[rows]\nworkspace_wirte = \"ask\"\n",
        &expect![[r#"
        mine.toml line 3: unknown key `workspace_wirte` | known here: none, workspace_read, workspace_write, network_read, code_execution, package_install, sandbox_network, external_message, external_write, external_delete, financial, publication, credential_access, host_access, privileged
    "#]],
    );
    user(
        "name = \"x\"\n[[rules]]\npath = [\"a\"]\nruling = \"ask\"\n",
        &expect![[r#"
        mine.toml line 3: unknown key `path` | known here: tools, servers, effects, paths, hosts, commands, access, ruling, why
    "#]],
    );
    user(
        "name = \"x\"\n[[tests]]\neffect = \"none\"\nexpects = \"ask\"\n",
        &expect![[r#"
        mine.toml line 4: unknown key `expects` | known here: name, tool, effect, arguments, paths, writes, hosts, commands, origin, sensitivity, mode, staged, after, expect
    "#]],
    );
    user(
        "name = \"x\"\n[[sequences]]\nafter = { tool = [\"a.b\"] }\nruling = \"ask\"\n",
        &expect![[r#"
        mine.toml line 2: `then` is missing | add it
    "#]],
    );
    user(
        "[rows]\n",
        &expect![[r#"
        mine.toml line 1: `name` is missing | add it
    "#]],
    );
    user(
        "name = \"X y\"\n",
        &expect![[r#"
        mine.toml line 1: `name` has a value that it cannot have | it takes a word of small letters, digits, `-` and `_`
    "#]],
    );
    user(
        "name = \"x\"\nname = \"y\"\n",
        &expect![[r#"
        mine.toml line 2: this is not TOML (duplicate key) | correct the line
    "#]],
    );
}

#[test]
fn a_value_that_cannot_be_is_refused_with_what_it_takes() {
    let user = |text: &str, expect: &Expect| check(Whose::User, text, expect);
    user(
        "name = \"x\"\n[[rules]]\npaths = [\"a\",\n\"../b\"]\nruling = \"ask\"\n",
        &expect![[r#"
        mine.toml line 4: `paths` has a value that it cannot have | it takes a list of path patterns, such as "secrets/**"
    "#]],
    );
    user(
        "name = \"x\"\n[[rules]]\ncommands = [\"git push\"]\nruling = \"ask\"\n",
        &expect![[r#"
        mine.toml line 3: `commands` has a value that it cannot have | it takes a list of lists of words, such as ["git", "push"]
    "#]],
    );
    user(
        "name = \"x\"\n[[rules]]\nruling = \"ask\"\n",
        &expect![[r#"
        mine.toml line 2: `one of tools, servers, effects, paths, hosts, commands` is missing | add it
    "#]],
    );
    user(
        "name = \"x\"\n[[rules]]\nhosts = [\"a\"]\nruling = \"maybe\"\n",
        &expect![[r#"
        mine.toml line 4: `ruling` has a value that it cannot have | it takes allow, ask or deny
    "#]],
    );
    user(
        "name = \"x\"\n[[tools]]\nname = \"a.b\"\nruling = \"ask\"\n[[tools]]\nname = \"a.b\"\nruling = \"deny\"\n",
        &expect![[r#"
        mine.toml line 5: a.b is ruled on line 2 already | keep one of them
    "#]],
    );
    user(
        "name = \"x\"\nrules = 1\n",
        &expect![[r#"
        mine.toml line 2: `rules` has a value that it cannot have | it takes tables: write [[rules]]
    "#]],
    );
    user(
        "name = \"x\"\n[[tests]]\ntool = \"mcp.a.b\"\nexpect = \"ask\"\n",
        &expect![[r#"
        mine.toml line 2: the tool mcp.a.b of this test is not known here | say what it does: effect = "external_write"
    "#]],
    );
    user(
        "name = \"x\"\n[[tests]]\neffect = \"none\"\narguments = { a = 1 }\nexpect = \"ask\"\n",
        &expect![[r#"
        mine.toml line 2: the tool app.probe does not take the arguments of this test | see: mast tools show app.probe
    "#]],
    );
}

#[test]
fn a_profile_whose_own_test_fails_is_not_loaded() {
    let text = "name = \"x\"\n\n[[tests]]\neffect = \"financial\"\nexpect = \"allow\"\n";
    check(
        Whose::User,
        text,
        &expect![[r#"
        mine.toml line 3: the test "financial" expects allow and gets ask | correct the test or the rules; all tests: mast policy test FILE
    "#]],
    );
    let tested = Draft::read("mine.toml", text, Whose::User).unwrap().test(&NoRoster).unwrap();
    assert_eq!(tested.len(), 1);
    assert_eq!((tested[0].passed(), tested[0].found), (false, Ruling::Ask));
    assert!(read(&text.replace("allow", "ask"), Whose::User).is_ok());
}

#[test]
fn what_may_not_be_loosened_is_refused_where_it_stands() {
    let user = |text: &str, expect: &Expect| check(Whose::User, text, expect);
    user(
        "name = \"x\"\n[rows]\nexternal_write = \"allow\"\n",
        &expect![[r#"
            mine.toml line 3: side effect external_write cannot be made `allow` | it can be given `ask` or `deny`
        "#]],
    );
    user(
        "name = \"x\"\n[rows]\nhost_access = \"ask\"\n",
        &expect![[r#"
        mine.toml line 3: side effect host_access cannot be made `ask` | it is always denied
    "#]],
    );
    user(
        "name = \"x\"\n[[servers]]\nname = \"a\"\nruling = \"allow\"\n",
        &expect![[r#"
            mine.toml line 4: server a cannot be made `allow` | it can be given `ask` or `deny`
        "#]],
    );
    user(
        "name = \"x\"\n[[rules]]\npaths = [\"a\"]\nruling = \"allow\"\n",
        &expect![[r#"
            mine.toml line 4: what a rule is about cannot be made `allow` | it can be given `ask` or `deny`
        "#]],
    );
    user(
        "name = \"x\"\n[[tools]]\nname = \"demo.external_write\"\nruling = \"allow\"\n",
        &expect![[r#"
            mine.toml line 2: tool demo.external_write, of which every call is asked about, cannot be made `allow` | it can be given `ask` or `deny`
        "#]],
    );
}

#[test]
fn an_admin_profile_only_tightens() {
    let admin = |text: &str, expect: &Expect| check(Whose::Admin, text, expect);
    admin(
        "name = \"x\"\n[rows]\nworkspace_read = \"allow\"\n",
        &expect![[r#"
            mine.toml line 3: side effect workspace_read cannot be made `allow` | it can be given `ask` or `deny`
        "#]],
    );
    admin(
        "name = \"x\"\n[rows]\nsandbox_network = \"ask\"\n",
        &expect![[r#"
        mine.toml line 3: side effect sandbox_network cannot be made `ask` | it is always denied
    "#]],
    );
    admin(
        "name = \"x\"\n[[tools]]\nname = \"mcp.a.b\"\nruling = \"allow\"\n",
        &expect![[r#"
            mine.toml line 4: tool mcp.a.b cannot be made `allow` | it can be given `ask` or `deny`
        "#]],
    );
    admin(
        "name = \"x\"\n[rows]\nworkspace_read = \"ask\"\nsandbox_network = \"deny\"\n",
        &expect![[r#"
        3 ask effect workspace_read
        4 deny effect sandbox_network
    "#]],
    );
}

#[test]
fn no_side_effect_becomes_looser_than_the_page_says() {
    let rows: Vec<String> = SideEffect::ALL
        .iter()
        .map(|effect| format!("{effect:<18} {:<5} {}\n", loosest(*effect, false), loosest(*effect, true)))
        .collect();
    // Columns: by a row of the side effect, by a row of the exact tool.
    expect![[r#"
        none               allow allow
        workspace_read     allow allow
        workspace_write    allow allow
        network_read       allow allow
        code_execution     allow allow
        package_install    ask   ask
        sandbox_network    ask   ask
        external_message   ask   allow
        external_write     ask   allow
        external_delete    ask   allow
        financial          ask   ask
        publication        ask   allow
        credential_access  deny  deny
        host_access        deny  deny
        privileged         deny  deny
    "#]]
    .assert_eq(&rows.concat());
}

#[test]
fn the_built_in_profile_passes_its_own_tests() {
    let tested = Draft::builtin().unwrap().test(&NoRoster).unwrap();
    assert!(tested.len() >= 9);
    assert!(tested.iter().all(mast_kernel::policy::Tested::passed), "{tested:#?}");
    assert_eq!(Profile::builtin().name(), "default");
    let policy = Policy::builtin(Overlay::On);
    assert!(policy.always_asks("demo.external_write") && !policy.always_asks("math.calculate"));
}

#[test]
fn what_is_always_asked_stays_so_under_every_profile() {
    let policy = Policy::new(Overlay::On, Some(read("name = \"x\"\n", Whose::User).unwrap()), Vec::new());
    assert!(policy.always_asks("email.unsubscribe"));
    let admin = read("name = \"x\"\nalways_ask = [\"mcp.a.b\"]\n", Whose::Admin).unwrap();
    assert!(Policy::new(Overlay::On, None, vec![admin]).always_asks("mcp.a.b"));
}

#[test]
fn the_version_names_what_decides_and_nothing_else() {
    let version = |text: &str| {
        Policy::new(Overlay::On, Some(read(text, Whose::User).unwrap()), Vec::new()).version().to_owned()
    };
    let base = version("name = \"x\"\n[rows]\nnone = \"ask\"\n");
    assert_eq!(
        base,
        version(
            "# a word\nname=\"x\"\nrows = { none = \"ask\" }\n[[tests]]\neffect=\"none\"\nexpect=\"ask\"\n"
        )
    );
    assert_ne!(base, version("name = \"x\"\n[rows]\nnone = \"deny\"\n"));
    let admin = read("name = \"y\"\n", Whose::Admin).unwrap();
    let user = read("name = \"x\"\n[rows]\nnone = \"ask\"\n", Whose::User).unwrap();
    assert_ne!(base, Policy::new(Overlay::On, Some(user), vec![admin]).version());
    let (name, hashes) = base.split_once('@').unwrap();
    let (rules, hardline) = hashes.split_once("+h").unwrap();
    assert_eq!((name, rules.len(), hardline.len()), ("x", 12, 8));
}

#[test]
fn a_profile_has_bounds() {
    let rules =
        |n: usize| format!("name = \"x\"\n{}", "[[rules]]\nhosts = [\"a\"]\nruling = \"ask\"\n".repeat(n));
    assert!(read(&rules(limits::PROFILE_RULES_MAX), Whose::User).is_ok());
    assert!(read(&rules(limits::PROFILE_RULES_MAX + 1), Whose::User).is_err());
    let tests = |n: usize| {
        let text =
            format!("name = \"x\"\n{}", "[[tests]]\neffect = \"none\"\nexpect = \"allow\"\n".repeat(n));
        Draft::read("mine.toml", &text, Whose::User)
    };
    assert!(tests(limits::PROFILE_TESTS_MAX).is_ok());
    assert!(tests(limits::PROFILE_TESTS_MAX + 1).is_err());
    let why = |n: usize| {
        let why = "é".repeat(n);
        read(
            &format!("name = \"x\"\n[[tools]]\nname = \"a.b\"\nruling = \"ask\"\nwhy = \"{why}\"\n"),
            Whose::User,
        )
    };
    assert!(why(limits::PROFILE_WHY_CHARS_MAX).is_ok());
    assert!(why(limits::PROFILE_WHY_CHARS_MAX + 1).is_err());
    let name = |n: usize| read(&format!("name = \"{}\"\n", "x".repeat(n)), Whose::User);
    assert!(name(limits::PROFILE_NAME_CHARS_MAX).is_ok());
    assert!(name(limits::PROFILE_NAME_CHARS_MAX + 1).is_err());
}

#[test]
fn rules_of_all_kinds_count_together_and_a_file_has_a_size() {
    let mixed = |n: usize| {
        let kinds = |n: usize| match n % 4 {
            0 => format!("[[tools]]\nname = \"a.b{n}\"\nruling = \"ask\"\n"),
            1 => format!("[[servers]]\nname = \"s{n}\"\nruling = \"ask\"\n"),
            2 => "[[rules]]\nhosts = [\"a\"]\nruling = \"ask\"\n".to_owned(),
            _ => "[[sequences]]\nafter.hosts = [\"a\"]\nthen.hosts = [\"b\"]\nruling = \"ask\"\n".to_owned(),
        };
        read(&format!("name = \"x\"\n{}", (0..n).map(kinds).collect::<String>()), Whose::User)
    };
    assert!(mixed(limits::PROFILE_RULES_MAX).is_ok());
    let refused = mixed(limits::PROFILE_RULES_MAX + 1).unwrap_err();
    assert_eq!(refused.to_string(), "mine.toml line 1: more than 1000 rules");

    let sized = |n: usize| {
        let head = "name = \"x\"\n#";
        read(&format!("{head}{}", "x".repeat(n - head.len())), Whose::User)
    };
    assert!(sized(limits::CONFIG_BYTES_MAX).is_ok());
    let refused = sized(limits::CONFIG_BYTES_MAX + 1).unwrap_err();
    assert_eq!(refused.to_string(), "mine.toml line 1: more than 1048576 bytes");
}

#[test]
fn a_file_that_is_nested_without_end_is_refused() {
    let nested = |n: usize| {
        let text = format!(
            "name = \"x\"\n[[tests]]\neffect = \"none\"\narguments = {{ a = {}1{} }}\nexpect = \"allow\"\n",
            "[".repeat(n),
            "]".repeat(n)
        );
        Draft::read("mine.toml", &text, Whose::User)
    };
    assert!(nested(8).is_ok());
    assert!(nested(100_000).is_err());
}

#[test]
fn a_test_judges_what_a_command_runs_too() {
    let text = "name = \"mine\"\n[[rules]]\ncommands = [[\"git\", \"push\"]]\nruling = \"deny\"\n\
                [[tests]]\neffect = \"code_execution\"\ncommands = [[\"sudo\", \"rm\", \"-rf\", \"/\"]]\nexpect = \"deny\"\n\
                [[tests]]\neffect = \"code_execution\"\ncommands = [[\"env\", \"A=1\", \"git\", \"push\"]]\nexpect = \"deny\"\n\
                [[tests]]\neffect = \"code_execution\"\ncommands = [[\"git\", \"status\"]]\nexpect = \"allow\"\n";
    let tested = Draft::read("mine.toml", text, Whose::User).unwrap().test(&NoRoster).unwrap();
    assert!(tested.iter().all(mast_kernel::policy::Tested::passed), "{tested:?}");
}

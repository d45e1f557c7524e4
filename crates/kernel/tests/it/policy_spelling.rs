//! Spellings: what a rule denies it denies however it is spelt, and what is allowed is allowed in one
//! spelling only.

use mast_kernel::policy::{Draft, History, Layer, NoRoster, Overlay, Past, Policy, Profile, Ruling, Whose};
use mast_kernel::resource::Resource;
use mast_kernel::spec::SideEffect;
use proptest::prelude::*;
use unicode_normalization::UnicodeNormalization as _;

use crate::policy::World;

const DENYING: &str = "name = \"x\"\n\
    [[rules]]\npaths = [\"secrets/a.txt\", \"größe/**\", \"**/*.geheim\", \"**/tresor\"]\nruling = \"deny\"\n\
    [[rules]]\nhosts = [\"evil.example\", \"*.zone.example\", \"bücher.example\"]\nruling = \"deny\"\n\
    [[rules]]\ncommands = [[\"git\", \"push\"]]\nruling = \"deny\"\n";

fn under(text: &str) -> Policy {
    let profile: Profile = Draft::read("mine.toml", text, Whose::User).unwrap().load(&NoRoster).unwrap();
    Policy::new(Overlay::On, Some(profile), Vec::new())
}

/// What the rules alone say of a call that touches this.
fn rules(policy: &Policy, effect: SideEffect, resources: Vec<Resource>) -> Ruling {
    World::of(effect).with(|world| world.resources = resources).in_case(|case| {
        let findings = policy.examine(case);
        findings.iter().find(|finding| finding.layer == Layer::Rules).unwrap().ruling
    })
}

fn path(path: &str) -> Vec<Resource> {
    vec![Resource::Path { path: path.to_owned(), write: false }]
}

fn host(host: &str) -> Vec<Resource> {
    vec![Resource::Host { host: host.to_owned(), handle: true }]
}

fn command(words: &[&str]) -> Vec<Resource> {
    vec![Resource::Command { words: words.iter().map(|word| (*word).to_owned()).collect(), exact: true }]
}

/// How a text is spelt otherwise: capital letters, wide ones, a character that nobody sees, and the form.
#[derive(Debug, Clone)]
struct Spelling {
    letters: Vec<u8>,
    decomposed: bool,
}

fn spelling() -> impl Strategy<Value = Spelling> {
    (prop::collection::vec(0_u8..6, 1..24), any::<bool>())
        .prop_map(|(letters, decomposed)| Spelling { letters, decomposed })
}

impl Spelling {
    fn of(&self, text: &str) -> String {
        let form: String = if self.decomposed { text.nfd().collect() } else { text.nfc().collect() };
        let mut spelt = String::new();
        for (letter, how) in form.chars().zip(self.letters.iter().cycle()) {
            match how {
                1 => spelt.extend(letter.to_uppercase()),
                2 if letter.is_ascii_graphic() => {
                    spelt.extend(char::from_u32(u32::from(letter) - 0x21 + 0xff01));
                }
                3 => spelt.extend([letter, '\u{200b}']),
                _ => spelt.push(letter),
            }
        }
        spelt
    }
}

/// What somebody may write around the name of a path in a command.
const AROUND: [(&str, &str); 14] = [
    ("", ""),
    ("-d@", ""),
    ("-f", ""),
    ("-xzf", ""),
    ("HEAD:", ""),
    ("if=", ""),
    ("./", ":/x"),
    ("--file=", ""),
    ("-v./", ":/x:ro"),
    ("a,", ",b"),
    ("{\"file\":\"", "\"}"),
    ("open('", "')"),
    ("x\\..\\", ""),
    ("", "/below"),
];

proptest! {
    #[test]
    fn a_denied_path_is_denied_in_every_spelling(
        spelling in spelling(),
        around in 0..AROUND.len(),
        name in 0_usize..4,
        end in prop::sample::select(vec!["", ".", "..", " ", "/", "/."]),
        part in prop::sample::select(vec!["/", "//", "/./", "\\", "/x/../", "./", " /"]),
    ) {
        let policy = under(DENYING);
        let (folder, file) = [("secrets", "a.txt"), ("größe", "x"), ("q", "z.geheim"), ("q", "tresor")][name];
        let spelt = format!("{}{part}{}{end}", spelling.of(folder), spelling.of(file));
        prop_assert_eq!(rules(&policy, SideEffect::WorkspaceRead, path(&spelt)), Ruling::Deny, "{:?}", spelt);
        let (before, after) = AROUND[around];
        // Behind letters of options only what looks like a path is one.
        let word = format!("{before}{spelt}{after}");
        let given = rules(&policy, SideEffect::CodeExecution, command(&["cat", "-n", &word]));
        prop_assert_eq!(given, Ruling::Deny, "{:?}", word);
    }

    #[test]
    fn a_denied_host_is_denied_in_every_spelling(
        spelling in spelling(),
        name in prop::sample::select(vec![
            "evil.example", "a.zone.example", "bücher.example", "xn--bcher-kva.example",
        ]),
        before in prop::sample::select(vec!["", "me@", "me:word@", "https://", "good.example@"]),
        after in prop::sample::select(vec!["", ".", "..", ":443", ".:443", "/x", "\\@good.example", "#x", "?x"]),
    ) {
        let spelt = format!("{before}{}{after}", spelling.of(name));
        let found = rules(&under(DENYING), SideEffect::NetworkRead, host(&spelt));
        prop_assert_eq!(found, Ruling::Deny, "{:?}", spelt);
    }

    #[test]
    fn a_denied_command_is_denied_in_every_spelling(
        spelling in spelling(),
        folder in prop::sample::select(vec!["", "/usr/bin/", "./", "C:\\bin\\"]),
        end in prop::sample::select(vec!["", ".exe", "."]),
        options in prop::sample::select(vec![vec![], vec!["-C", "x"], vec!["--no-pager", "-c", "a=b"]]),
    ) {
        let (program, verb) = (format!("{folder}{}{end}", spelling.of("git")), spelling.of("push"));
        let words: Vec<&str> = [program.as_str()].into_iter().chain(options).chain([verb.as_str()]).collect();
        let found = rules(&under(DENYING), SideEffect::CodeExecution, command(&words));
        prop_assert_eq!(found, Ruling::Deny, "{:?}", words);
    }

    #[test]
    fn a_sequence_remembers_every_spelling(spelling in spelling(), name in 0_usize..4) {
        let policy = under(
            "name = \"x\"\n[[sequences]]\n\
             after = { paths = [\"kunden/**\", \"**/*.geheim\"], hosts = [\"evil.example\"], commands = [[\"psql\"]] }\n\
             then = { effects = [\"external_write\"] }\nruling = \"deny\"\n",
        );
        let resources = match name {
            0 => path(&spelling.of("kunden/a.csv")),
            1 => command(&["cat", &format!("--file={}", spelling.of("x/y.geheim"))]),
            2 => host(&spelling.of("evil.example")),
            _ => command(&[&spelling.of("psql"), "-c", "select"]),
        };
        let past = |resources| Past { tool: "a.b".to_owned(), side_effect: SideEffect::None, resources };
        let other = past(path("other"));
        for (history, expect) in [
            (vec![other.clone(), past(resources), other.clone()], Ruling::Deny),
            (vec![other], Ruling::Allow),
        ] {
            let world = World::of(SideEffect::ExternalWrite);
            let found = world.with(|world| world.surroundings.history = history.into()).in_case(|case| {
                let findings = policy.examine(case);
                findings.iter().find(|finding| finding.layer == Layer::Rules).unwrap().ruling
            });
            prop_assert_eq!(found, expect);
        }
    }
}

#[test]
fn what_is_beside_a_rule_stays_allowed() {
    let policy = under(DENYING);
    for word in
        ["secrets", "secrets/b.txt", "my/secrets/a.txt", "-rf", "touch secrets/a.txt", "grosse", "tresore"]
    {
        let found = rules(&policy, SideEffect::CodeExecution, command(&["cat", word]));
        assert_eq!(found, Ruling::Allow, "{word:?}");
    }
    for name in ["evil.example.org", "notevil.example", "zone.example", "bucher.example", "example"] {
        assert_eq!(rules(&policy, SideEffect::NetworkRead, host(name)), Ruling::Allow, "{name}");
    }
    for words in [["git", "pull"], ["gitk", "push"], ["git", "pushd"], ["legit", "push"]] {
        assert_eq!(rules(&policy, SideEffect::CodeExecution, command(&words)), Ruling::Allow, "{words:?}");
    }
}

/// What loosens is compared letter by letter: nothing that only looks alike is let through.
#[test]
fn an_allow_is_for_one_spelling() {
    let external = |name: &str| {
        let text = format!("name = \"x\"\n[[tools]]\nname = \"{name}\"\nruling = \"allow\"\n");
        Draft::read("mine.toml", &text, Whose::User).map(|draft| {
            let policy = Policy::new(Overlay::On, Some(draft.load(&NoRoster).unwrap()), Vec::new());
            World::of(SideEffect::ExternalWrite).decide_under(&policy).0
        })
    };
    assert_eq!(external("demo.probe").unwrap(), Ruling::Allow);
    for name in [
        "demo.Probe",
        "demo.probe.",
        "demo.prob",
        "demo.probe2",
        "demo.ｐrobe",
        "DEMO.PROBE",
        "demo.pr\u{200b}obe",
    ] {
        assert!(
            external(name).is_ok_and(|ruling| ruling == Ruling::Ask) || external(name).is_err(),
            "{name}"
        );
    }
    let read = |name: &str| {
        let world = World::of(SideEffect::NetworkRead).with(|world| world.resources = host(name));
        world.decide_under(&Policy::builtin(Overlay::On)).0
    };
    assert_eq!(read("ok.example"), Ruling::Allow);
    for name in ["OK.example", "ok.example.", "ok.example:443", "me@ok.example", "ｏk.example", "ok。example"]
    {
        assert_eq!(read(name), Ruling::Deny, "{name}");
    }
}

#[test]
fn a_rule_cannot_allow() {
    for (table, key) in
        [("rules", "paths = [\"a\"]"), ("sequences", "after.paths = [\"a\"]\nthen.paths = [\"b\"]")]
    {
        for whose in [Whose::User, Whose::Admin] {
            let text = format!("name = \"x\"\n[[{table}]]\n{key}\nruling = \"allow\"\n");
            assert!(Draft::read("mine.toml", &text, whose).is_err(), "{text}");
        }
    }
}

#[test]
fn a_history_is_counted_and_shared() {
    let past = Past { tool: "a.b".to_owned(), side_effect: SideEffect::None, resources: path("a") };
    let history: History = vec![past.clone(), past].into();
    assert_eq!((history.len(), history.is_empty()), (2, false));
    assert!(History::default().is_empty());
    assert_eq!(history.clone(), history);
}

//! The hardline: what no profile, grant or verdict can allow. Compiled in and hashed. Its rules are on what
//! a call would touch, not on the tool that it is made with, so the same thing is refused through every
//! tool. Each rule stands with something that it hits and something near it that stays allowed.

mod destructive;
mod place;
mod rules;

use rules::{Example, RULES, Rule};

use super::{Case, Finding, Layer};
use crate::address;
use crate::protected;
use crate::resource::Resource;
use crate::spec::SideEffect;

/// Classes of tools that are refused whatever anybody says, with their reason code.
const REFUSED: &[(SideEffect, &str)] = &[
    (SideEffect::CredentialAccess, "policy.hardline.credential_access"),
    (SideEffect::HostAccess, "policy.hardline.host_access"),
    (SideEffect::Privileged, "policy.hardline.privileged"),
];

/// Raised whenever a rule comes to mean something else than its data say.
const EDITION: &str = "edition 3";

/// The hardline as text: what its hash is taken over.
pub(super) fn text() -> String {
    let mut text = format!("{EDITION}\n");
    for (effect, code) in REFUSED {
        text += &format!("{effect} deny {code}\n");
    }
    for Rule { id, code, hit, near_miss, .. } in RULES {
        let written = |list: &[Example]| list.iter().map(|one| one.written()).collect::<Vec<_>>();
        text += &format!("{id} deny {code} hits {:?} not {:?}\n", written(hit), written(near_miss));
    }
    text + &destructive::text() + &protected::text() + &address::text()
}

/// What the hardline says of a case.
pub(super) fn finding(case: &Case<'_>) -> Finding {
    let effect = case.spec().side_effect;
    if let Some((_, code)) = REFUSED.iter().find(|(refused, _)| *refused == effect) {
        return Finding::deny(Layer::Hardline, code, "no setting can allow this");
    }
    of_resources(case.resources).map_or_else(
        || Finding::pass(Layer::Hardline, "nothing forbidden"),
        |rule| Finding::deny(Layer::Hardline, rule.code, rule.why),
    )
}

/// The first rule that one of these hits.
fn of_resources(resources: &[Resource]) -> Option<&'static Rule> {
    let within = rules::within(resources);
    RULES.iter().find(|rule| rule.is_hit(resources, &within))
}

#[cfg(test)]
mod tests {
    use super::rules::PROTECTED;
    use super::*;
    use crate::shell;
    use proptest::prelude::*;

    impl Example {
        fn resources(self) -> Vec<Resource> {
            match self {
                Self::Text(text) => shell::of_text(text),
                Self::Read(path) => vec![Resource::Path { path: path.to_owned(), write: false }],
                Self::Write(path) => vec![Resource::Path { path: path.to_owned(), write: true }],
                Self::Host(host) => vec![Resource::Host { host: host.to_owned(), handle: true }],
            }
        }
    }

    fn id(resources: &[Resource]) -> Option<&'static str> {
        of_resources(resources).map(|rule| rule.id)
    }

    #[test]
    fn every_rule_hits_what_it_says_and_passes_what_is_near() {
        for rule in RULES {
            assert!(!rule.hit.is_empty() && !rule.near_miss.is_empty(), "{} has no examples", rule.id);
            for example in rule.hit {
                let resources = example.resources();
                assert!(
                    rule.is_hit(&resources, &rules::within(&resources)),
                    "{} does not hit {example:?}: {resources:?}",
                    rule.id
                );
            }
            for example in rule.near_miss {
                assert_eq!(id(&example.resources()), None, "{} and {example:?}", rule.id);
            }
        }
    }

    #[test]
    fn the_hash_covers_every_list() {
        let text = text();
        for piece in
            ["remove_root deny", "credential_access deny", ".docker/config.json", "[169, 254, 0, 0]", "mkfs"]
        {
            assert!(text.contains(piece), "{piece}");
        }
    }

    #[test]
    fn an_outcome_is_the_same_code_for_secrets_control_and_programs_of_their_own() {
        for path in [".env", ".git/config", ".envrc"] {
            let resources = [Resource::Path { path: path.to_owned(), write: true }];
            assert_eq!(of_resources(&resources).map(|rule| rule.code), Some(PROTECTED), "{path}");
        }
    }

    /// Ways to put a command into another one, `{}` being the command and `{q}` the command in quotes.
    const AROUND: &[&str] = &[
        "true | {}",
        "{} | cat",
        "true && {}",
        "false || {}",
        "true; {}",
        "{} & true",
        "( {} )",
        "{ {}; }",
        "! {}",
        "if true; then {}; fi",
        "while true; do {}; done",
        "for x in a; do {}; done",
        "case a in a) {};; esac",
        "echo $({})",
        "echo `{}`",
        "echo \"$({})\"",
        "cat <({})",
        "f() { {}; }",
        "X=1 {}",
        "{} > log",
        "> log {}",
        "env X=1 {}",
        "sudo -u me {}",
        "doas {}",
        "nice -n 5 {}",
        "nohup {}",
        "time {}",
        "timeout -k 1 5 {}",
        "xargs -n 1 {}",
        "find . -exec {} \\;",
        "command {}",
        "builtin {}",
        "exec {}",
        "coproc {}",
        "busybox {}",
        "sh -c {q}",
        "bash -lc {q}",
        "eval {q}",
        "trap {q} EXIT",
        "ssh host {q}",
        "watch -n 1 {q}",
        "su me -c {q}",
        "env -S {q}",
        "bash <<< {q}",
        "bash <<'E'\n{}\nE",
        "sudo env nice {}",
        "\n{}\n",
    ];

    const HITS: &[&str] = &[
        "rm -rf /",
        "rm -r -f ~",
        "mkfs.ext4 x",
        "chmod -R 777 /",
        "cat .env",
        "shutdown now",
        "dd of=/dev/sda",
    ];

    fn around(way: &str, inner: &str) -> String {
        let quoted = format!("'{}'", inner.replace('\'', "'\\''"));
        // Only a simple command can follow a program that runs a vector.
        way.replace("{q}", &quoted).replace("{}", inner)
    }

    fn is_vector(way: &str) -> bool {
        !way.contains("{q}")
            && AROUND.iter().skip(18).take(17).chain(["sudo env nice {}"].iter()).any(|known| *known == way)
    }

    #[test]
    fn a_command_is_hit_in_whatever_it_stands() {
        let mut missed = String::new();
        for hit in HITS {
            for way in AROUND {
                let text = around(way, hit);
                if id(&shell::of_text(&text)).is_none() {
                    missed += &format!("{text:?} {:?}\n", shell::of_text(&text));
                }
            }
        }
        assert!(missed.is_empty(), "{missed}");
    }

    proptest! {
        #[test]
        fn nesting_does_not_hide(hit in 0..HITS.len(), ways in prop::collection::vec(0..AROUND.len(), 0..4)) {
            let mut text = HITS[hit].to_owned();
            let mut simple = true;
            for way in ways.iter().map(|way| AROUND[*way]) {
                if is_vector(way) && !simple || way.contains('\n') {
                    continue;
                }
                text = around(way, &text);
                simple &= is_vector(way);
            }
            let resources = shell::of_text(&text);
            let is_unclear = |one: &Resource| matches!(one, Resource::Command { words, .. } if words.is_empty());
            let unclear = resources.iter().any(is_unclear);
            // A text that cannot be read asks, at whatever depth; one that can be must not hide it.
            prop_assert!(id(&resources).is_some() || unclear, "{text} gives {resources:?}");
        }
    }
}

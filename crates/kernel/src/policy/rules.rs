//! What profiles say of a case. The user's rows stand in for the matrix as far as they may; all other
//! rules, and everything of an admin profile, can only tighten, because each is a finding of its own
//! and the strictest finding holds.

use super::matrix;
use super::profile::{Profile, Row, loosest};
use super::{At, Case, Condition, Finding, Layer, MATRIX, RuleAt, Ruling};

/// What the matrix says under the rows of the profile.
pub(super) fn matrix(case: &Case<'_>, profile: &Profile) -> Finding {
    let found = matrix::finding(case);
    let spec = case.spec();
    let Some((row, by_tool)) = profile.row_of(&spec.name, spec.side_effect) else { return found };
    let unconditional = MATRIX
        .iter()
        .any(|matrix| matrix.side_effect == spec.side_effect && matrix.condition == Condition::Always);
    let at_most = if unconditional { loosest(spec.side_effect, by_tool) } else { found.ruling };
    let ruling = row.ruling.max(at_most.min(found.ruling));
    let at = Some(At { file: 0, rule: row.at });
    if ruling == found.ruling {
        // A row that changes nothing is not the reason, unless it says the same.
        return if row.ruling == ruling { Finding { at, ..found } } else { found };
    }
    Finding { at, ..of_rules(Layer::Matrix, ruling, "the profile rules it so") }
}

/// What the rules of the user's profile say, and those tools of which every call is asked about. The
/// built-in ones stay, whatever profile is in force.
pub(super) fn finding(case: &Case<'_>, profile: &Profile) -> Finding {
    let spec = case.spec();
    let rule = profile.strictest(&spec.name, spec.side_effect, case.resources, case.surroundings);
    let asked = profile.always_asks(&spec.name);
    match (rule, asked) {
        (Some((Ruling::Deny, rule)), _) => Finding {
            at: Some(At { file: 0, rule }),
            ..of_rules(Layer::Rules, Ruling::Deny, "a rule denies it")
        },
        (_, Some(rule)) => {
            let asks = Finding::ask(Layer::Rules, "policy.rules.always_ask", "you are always asked");
            Finding { at: Some(At { file: 0, rule }), ..asks }
        }
        (Some((ruling, rule)), None) => Finding {
            at: Some(At { file: 0, rule }),
            ..of_rules(Layer::Rules, ruling, "a rule wants it asked")
        },
        (None, None) if Profile::builtin().always_asks(&spec.name).is_some() => {
            Finding::ask(Layer::Rules, "policy.rules.always_ask", "you are always asked")
        }
        (None, None) => Finding::pass(Layer::Rules, "no rule is against it"),
    }
}

/// What an admin profile says; `file` is its place among the files of the policy.
pub(super) fn admin(case: &Case<'_>, profile: &Profile, file: usize) -> Finding {
    let spec = case.spec();
    let rows = profile.rows_of(&spec.name, spec.side_effect).map(|row: &Row| (row.ruling, row.at));
    let rule = profile.strictest(&spec.name, spec.side_effect, case.resources, case.surroundings);
    let asked = profile.always_asks(&spec.name).map(|at| (Ruling::Ask, at));
    let strictest =
        rows.chain(rule).chain(asked).fold(None::<(Ruling, RuleAt)>, |worst, found| match worst {
            Some(worst) if worst.0 >= found.0 => Some(worst),
            _ => Some(found),
        });
    match strictest {
        None | Some((Ruling::Allow, _)) => Finding::pass(Layer::Admin, "nothing against it"),
        Some((ruling, rule)) => {
            let at = Some(At { file, rule });
            Finding { at, ..of_admin(ruling) }
        }
    }
}

const fn of_rules(layer: Layer, ruling: Ruling, why: &'static str) -> Finding {
    match ruling {
        Ruling::Allow => Finding::pass(layer, why),
        Ruling::Ask => Finding::ask(layer, "policy.rules.ask", why),
        Ruling::Deny => Finding::deny(layer, "policy.rules.deny", why),
    }
}

const fn of_admin(ruling: Ruling) -> Finding {
    match ruling {
        Ruling::Allow => Finding::pass(Layer::Admin, "nothing against it"),
        Ruling::Ask => Finding::ask(Layer::Admin, "policy.admin.ask", "this machine wants it asked"),
        Ruling::Deny => Finding::deny(Layer::Admin, "policy.admin.deny", "this machine denies it"),
    }
}

//! Gate steps 2, 3, 5, 6 and 7: what the kernel is asked, and what follows from its answer.

use mast_kernel::approval::Approval;
use mast_kernel::canonical::{CallIdentity, Canonical, Digest, idempotency_key};
use mast_kernel::event::Reach;
use mast_kernel::limits;
use mast_kernel::permit::Permit;
use mast_kernel::policy::{Case, Decision, Finding, Judged, Place, Ruling, Surroundings};
use mast_kernel::resource::Resource;
use mast_kernel::run::ApprovalMode;
use mast_kernel::scope::{self, Scope};
use serde_json::Value;
use std::sync::atomic::Ordering;

use super::named::Found;
use super::{Ending, Gate, Past, Progress, Proposal, Record, Stop};
use crate::review::Reviewed;
use crate::turnstile::{Ticket, Turn, Wish};
use crate::verdict::{CLOCK, WentBack};

/// Longest summary of arguments that a surface is told.
const SUMMARY_CHARS_MAX: usize = 200;

/// What is decided about: the arguments in their one spelling, and what follows from them.
#[derive(Debug)]
pub(super) struct Subject {
    pub(super) place: Place,
    pub(super) arguments: Canonical,
    pub(super) resources: Vec<Resource>,
    pub(super) key: Digest,
}

/// Stops the call where a finding refuses it.
pub(super) fn held_to(finding: Finding, hint: &[&str]) -> Result<(), Stop> {
    match (finding.ruling, finding.code) {
        (Ruling::Deny, Some(code)) if hint.is_empty() => Err(Ending::denied(code).into()),
        (Ruling::Deny, Some(code)) => Err(Ending::denied(code).hint(hint.join(", ")).into()),
        _ => Ok(()),
    }
}

impl Gate<'_> {
    /// Step 3. Names the missing scopes, never the held ones.
    pub(super) fn hold_scopes(&self, tool: &Found<'_>) -> Result<(), Stop> {
        let spec = &tool.registered.spec;
        let held = &self.frame.authority.scopes;
        let missing = scope::missing(&spec.required_scopes, held);
        let names: Vec<&str> = missing.iter().map(Scope::as_str).collect();
        let hint = format!("Missing scopes: {}", names.join(", "));
        held_to(mast_kernel::policy::held(held, spec), &[&hint])
    }

    /// Step 5. The canonical form, the key, and the resources. Nothing is opened or looked up.
    pub(super) fn identify(
        &self,
        proposal: &Proposal,
        tool: &Found<'_>,
        arguments: Canonical,
    ) -> Result<Subject, Stop> {
        let spec = &tool.registered.spec;
        let place = Place { call: proposal.call, ..self.frame.place };
        let key = idempotency_key(&CallIdentity {
            run: place.run,
            step: self.frame.round.step,
            call: place.call,
            tool: &spec.name,
            version: &spec.version,
            pin: tool.registered.pin,
            arguments: arguments.digest(),
        });
        let resources = tool.body.resources(&arguments.value())?;
        Ok(Subject { place, arguments, resources, key })
    }

    /// Step 6. The decision, told to the record and to the surface.
    pub(super) async fn decide(
        &self,
        tool: &Found<'_>,
        subject: &Subject,
        record: &mut Record<'_>,
    ) -> Result<Judged, Stop> {
        record.past().may_go_on(subject.key)?;
        let case = self.case(tool, subject, &self.frame.surroundings);
        let judged = match record.past().yes() {
            Some(yes) => match self.runtime.judging_time(subject.place.session).await? {
                Ok(now) => self.runtime.policy().decide_again(&Case { now, ..case }, &yes),
                Err(WentBack) => return Err(Ending::denied(CLOCK).into()),
            },
            None => {
                let judged = self.granted(self.runtime.policy().decide(&case), tool, subject).await?;
                self.reviewed(judged, &case).await
            }
        };
        record.judged(&judged);
        let strictest = judged.findings.iter().rev().max_by_key(|finding| finding.ruling);
        let matrix =
            judged.findings.iter().find(|finding| finding.layer == mast_kernel::policy::Layer::Matrix);
        let told = strictest.filter(|finding| finding.ruling != Ruling::Allow).or(matrix);
        let is_allowed = matches!(judged.decision, Decision::Allow(_));
        let answered = match (record.past(), judged.grant) {
            (past, _) if past.yes().is_some() => is_allowed.then_some((Ruling::Allow, "a person said yes")),
            (past, _) if past.is_answered() => Some((Ruling::Deny, "no yes was given")),
            (_, grant) => grant.map(|_| (Ruling::Allow, "a grant covers it")),
        };
        self.observer.observe(&Progress::CallDecided {
            call: subject.place.call,
            tool: tool.registered.spec.name.clone(),
            summary: summary(&subject.arguments),
            ruling: match answered {
                Some((ruling, _)) => ruling,
                None => strictest.map_or(Ruling::Deny, |finding| finding.ruling),
            },
            why: answered.map(|(_, why)| why).or(told.map(|finding| finding.why)).unwrap_or_default(),
            is_answered: record.past().is_answered(),
        });
        Ok(judged)
    }

    fn case<'c>(
        &'c self,
        tool: &Found<'c>,
        subject: &'c Subject,
        surroundings: &'c Surroundings,
    ) -> Case<'c> {
        Case {
            place: subject.place,
            tool: tool.registered,
            arguments: &subject.arguments,
            resources: &subject.resources,
            authority: self.frame.authority,
            contract: self.frame.contract,
            label: self.frame.origin,
            surroundings,
            idempotency_key: subject.key,
            now: self.now(),
        }
    }

    /// What would be asked is decided once more with the grants that are in force: they are read only
    /// where one could help, and as they stand at this moment.
    async fn granted(&self, judged: Judged, tool: &Found<'_>, subject: &Subject) -> Result<Judged, Stop> {
        let may_be_granted =
            matches!(&judged.decision, Decision::Ask(approval) if approval.reach != Reach::Once);
        if !may_be_granted {
            return Ok(judged);
        }
        let (grants, now) = self.runtime.grants_now(subject.place.session).await?;
        if grants.is_empty() {
            return Ok(judged);
        }
        let surroundings = Surroundings { grants, ..self.frame.surroundings.clone() };
        Ok(self.runtime.policy().decide(&Case { now, ..self.case(tool, subject, &surroundings) }))
    }

    /// What is plainly allowed is shown to the reviewer, where there is one: once, and never again when a
    /// call goes on after a verdict.
    async fn reviewed(&self, judged: Judged, case: &Case<'_>) -> Judged {
        let is_plain = matches!(judged.decision, Decision::Allow(_)) && judged.grant.is_none();
        let Some(reviewer) = self.runtime.reviewer().filter(|_| is_plain) else { return judged };
        let spec = &case.tool.spec;
        let call = Reviewed {
            tool: &spec.name,
            side_effect: spec.side_effect,
            risk: spec.risk,
            resources: case.resources,
            origin: case.label,
        };
        let advice = crate::review::advice(reviewer, &call).await;
        self.runtime.policy().advised(case, judged, advice)
    }

    /// Whether a person said no to this tool and target too often in this run to be asked again.
    fn was_refused(&self, approval: &Approval) -> bool {
        let target = target(&approval.tool.name, &approval.resources);
        self.frame.refusals.get(&target).is_some_and(|n| *n >= limits::REFUSALS_MAX)
    }

    /// Step 7. A permit goes on when its turn in the batch has come; an ask is sealed and committed.
    pub(super) async fn ask_or_permit<'t>(
        &self,
        judged: Judged,
        tool: &Found<'_>,
        record: &mut Record<'t>,
        ticket: &Ticket<'t>,
    ) -> Result<Permit, Stop> {
        record.past().held_to()?;
        let permit = match judged.decision {
            Decision::Deny(denial) => return Err(Ending::denied(denial.code).into()),
            // What was decided before is not asked about again: the question would be another one.
            Decision::Ask(_) if matches!(record.past(), Past::Begun(_)) => {
                return Err(Ending::denied("policy.revalidation.escalated").into());
            }
            Decision::Ask(approval) if self.was_refused(&approval) => {
                return Err(Ending::denied("approval.refused_before").into());
            }
            Decision::Ask(_) if self.frame.contract.approval_mode == ApprovalMode::Deny => {
                return Err(Ending::denied("approval.required").into());
            }
            Decision::Ask(_)
                if self.frame.n_asks.fetch_add(1, Ordering::Relaxed) >= limits::OPEN_ASKS_MAX =>
            {
                return Err(Ending::denied("approval.too_many_open").into());
            }
            Decision::Ask(approval) => {
                ticket.enter(Wish::Ask).await;
                let ask = record.ask(&approval).await?;
                self.observer.observe(&Progress::Asked(ask.clone()));
                return Err(Stop::Asked(Box::new(ask)));
            }
            Decision::Allow(permit) => permit,
        };
        let beside = tool.registered.spec.runs_beside_others();
        record.post_if_shared(ticket)?;
        match ticket.enter(if beside { Wish::RunBeside } else { Wish::RunAlone }).await {
            Turn::Wait => Err(Stop::Waits),
            turn @ Turn::Go { .. } => {
                record.hold(turn);
                Ok(permit)
            }
        }
    }
}

/// By what a refusal is remembered: the tool, and what it would touch.
pub(crate) fn target(tool: &str, resources: &[Resource]) -> (String, Digest) {
    let touched = serde_json::to_string(resources).unwrap_or_default();
    (tool.to_owned(), Digest::of(touched.as_bytes()))
}

/// The arguments in short: the values alone where there are few. Text of the model's making.
fn summary(arguments: &Canonical) -> String {
    let text = match arguments.value() {
        Value::Object(fields) if fields.len() == 1 => match fields.into_iter().next() {
            Some((_, Value::String(text))) => text,
            Some((_, other)) => other.to_string(),
            None => String::new(),
        },
        _ => arguments.as_str().to_owned(),
    };
    if text.chars().count() <= SUMMARY_CHARS_MAX {
        return text;
    }
    text.chars().take(SUMMARY_CHARS_MAX).chain(['…']).collect()
}

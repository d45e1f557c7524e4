//! When a run goes round in circles. One count for each call that a run makes: the tool and the match
//! hash of its arguments, so that another spelling of the same words is the same call.
//!
//! Three rules, none of them a setting. The same denial three times ends the run. The same call five
//! times ends it, unless between two of them something else succeeded or the call itself brought
//! something new. A call whose outcome is unknown is not run again in the run. Rejected: counting by tool
//! alone, which stops eighteen different and useful calls; and comparing beginnings of arguments, for the
//! same reason. See `docs/spec/runs.md`.

use std::collections::BTreeMap;

use crate::canonical::Digest;
use crate::limits;
use crate::message::OutcomeStatus;

/// What tripped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Trip {
    /// The same denial too often.
    RepeatedDenial,
    /// The same call too often.
    Loop,
    /// A call whose outcome is unknown, again.
    AfterUncertain,
}

impl Trip {
    /// The reason code: of the run, if it ends, else of the call.
    #[must_use]
    pub const fn code(self) -> &'static str {
        match self {
            Self::RepeatedDenial => "run.repeated_denial",
            Self::Loop => "run.tool_loop_detected",
            Self::AfterUncertain => "tool.outcome_unknown",
        }
    }

    /// Whether the run ends; otherwise only the call is refused.
    #[must_use]
    pub const fn ends_run(self) -> bool {
        matches!(self, Self::RepeatedDenial | Self::Loop)
    }
}

/// How one call ended, as the breaker sees it.
#[derive(Debug, Clone, Copy)]
pub struct Seen<'a> {
    /// Registry name of the tool.
    pub tool: &'a str,
    /// Match hash of the arguments.
    pub matching: Digest,
    /// How it ended.
    pub status: OutcomeStatus,
    /// Why it did not succeed; empty if it did.
    pub code: &'a str,
    /// Of a success, the digest of what it brought.
    pub result: Option<Digest>,
}

/// What is known of one call.
#[derive(Debug, Clone, Default)]
struct Tally {
    /// Times it was made since anything moved.
    n_calls: u32,
    /// Times it was denied, by reason code.
    n_denials: BTreeMap<String, u32>,
    /// Times it ended unknown.
    n_uncertain: u32,
    /// What it brought last.
    result: Option<Digest>,
}

/// The breakers of one run.
#[derive(Debug, Clone, Default)]
pub struct Breaker {
    tallies: BTreeMap<(String, Digest), Tally>,
}

impl Breaker {
    /// Whether a call may be made at all, as far as its past in this run goes.
    ///
    /// # Errors
    ///
    /// [`Trip::AfterUncertain`].
    pub fn admit(&self, tool: &str, matching: Digest) -> Result<(), Trip> {
        let known = self.tallies.get(&(tool.to_owned(), matching));
        let refused = known.is_some_and(|tally| tally.n_uncertain >= limits::REPEATS_AFTER_UNCERTAIN_MAX);
        if refused { Err(Trip::AfterUncertain) } else { Ok(()) }
    }

    /// Counts a call that ended. Gives what tripped, if anything did.
    pub fn note(&mut self, seen: &Seen<'_>) -> Option<Trip> {
        let key = (seen.tool.to_owned(), seen.matching);
        if seen.status == OutcomeStatus::Succeeded {
            for (_, other) in self.tallies.iter_mut().filter(|(other, _)| **other != key) {
                other.n_calls = 0;
            }
        }
        let tally = self.tallies.entry(key).or_default();
        if seen.result.is_some() && tally.result.is_some() && seen.result != tally.result {
            tally.n_calls = 0;
        }
        tally.result = seen.result.or(tally.result);
        tally.n_uncertain += u32::from(seen.status == OutcomeStatus::Uncertain);
        tally.n_calls += 1;
        if seen.status == OutcomeStatus::Denied {
            let n_denials = tally.n_denials.entry(seen.code.to_owned()).or_default();
            *n_denials += 1;
            if *n_denials >= limits::IDENTICAL_DENIALS_MAX {
                return Some(Trip::RepeatedDenial);
            }
        }
        (tally.n_calls >= limits::IDENTICAL_CALLS_MAX).then_some(Trip::Loop)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DENIED: (OutcomeStatus, &str) = (OutcomeStatus::Denied, "policy.scope.missing");
    const FAILED: (OutcomeStatus, &str) = (OutcomeStatus::Failed, "tool.timeout.deadline");
    const DONE: (OutcomeStatus, &str) = (OutcomeStatus::Succeeded, "");

    fn seen(arguments: &str, (status, code): (OutcomeStatus, &'static str)) -> Seen<'static> {
        let result = (status == OutcomeStatus::Succeeded).then(|| Digest::of(b"the same"));
        Seen { tool: "a.b", matching: Digest::of(arguments.as_bytes()), status, code, result }
    }

    fn trips(calls: &[Seen<'_>]) -> Vec<Option<Trip>> {
        let mut breaker = Breaker::default();
        calls.iter().map(|call| breaker.note(call)).collect()
    }

    #[test]
    fn the_third_identical_denial_trips() {
        let same = seen("x", DENIED);
        assert_eq!(trips(&[same, same, same]), [None, None, Some(Trip::RepeatedDenial)]);
    }

    #[test]
    fn a_denial_for_another_reason_or_of_another_call_is_another_denial() {
        let same = seen("x", DENIED);
        let reason = Seen { code: "policy.turn.not_offered", ..same };
        let tool = Seen { tool: "a.c", ..same };
        assert_eq!(trips(&[same, same, reason, tool, seen("y", DENIED)]), [None; 5]);
    }

    #[test]
    fn a_success_of_another_call_does_not_pardon_denials() {
        let same = seen("x", DENIED);
        let calls = [same, seen("y", DONE), same, seen("z", DONE), same];
        assert_eq!(trips(&calls).last(), Some(&Some(Trip::RepeatedDenial)));
    }

    #[test]
    fn the_fifth_identical_call_trips_whatever_came_of_it() {
        for end in [FAILED, DONE] {
            let same = seen("x", end);
            assert_eq!(trips(&[same; 5]), [None, None, None, None, Some(Trip::Loop)]);
        }
        let (failed, done) = (seen("x", FAILED), seen("x", DONE));
        assert_eq!(trips(&[failed, done, failed, done, failed]).last(), Some(&Some(Trip::Loop)));
    }

    #[test]
    fn a_success_of_another_call_between_starts_the_count_again() {
        let same = seen("x", FAILED);
        let calls = [same, same, same, same, seen("y", DONE), same, same, same, same, same];
        let mut expect = vec![None; 9];
        expect.push(Some(Trip::Loop));
        assert_eq!(trips(&calls), expect);
        let failed_between = [same, same, same, same, seen("y", FAILED), same];
        assert_eq!(trips(&failed_between).last(), Some(&Some(Trip::Loop)));
    }

    #[test]
    fn a_call_that_brings_something_new_is_no_loop() {
        let polled = |result: u8| Seen { result: Some(Digest::of(&[result])), ..seen("x", DONE) };
        assert_eq!(trips(&(0..20).map(polled).collect::<Vec<_>>()), [None; 20]);
    }

    #[test]
    fn a_call_of_unknown_outcome_is_not_made_again() {
        let mut breaker = Breaker::default();
        let matching = Digest::of(b"x");
        assert_eq!(breaker.admit("a.b", matching), Ok(()));
        assert_eq!(breaker.note(&seen("x", (OutcomeStatus::Uncertain, "tool.outcome_unknown"))), None);
        assert_eq!(breaker.admit("a.b", matching), Err(Trip::AfterUncertain));
        assert_eq!(breaker.note(&seen("y", DONE)), None);
        assert_eq!(breaker.admit("a.b", matching), Err(Trip::AfterUncertain));
        assert_eq!(breaker.admit("a.b", Digest::of(b"y")), Ok(()));
        assert_eq!(breaker.admit("a.c", matching), Ok(()));
    }

    #[test]
    fn each_trip_says_whether_the_run_ends() {
        let all = [Trip::RepeatedDenial, Trip::Loop, Trip::AfterUncertain];
        assert_eq!(all.map(Trip::ends_run), [true, true, false]);
        assert!(all.iter().all(|trip| crate::message::lookup(trip.code()).is_some()));
    }
}

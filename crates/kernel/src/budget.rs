//! What a run may spend, and what it has spent. Both are plain values: the loop asks, takes, and stops.
//!
//! The last model calls are kept for an answer: a run that has used up its tools is asked to say what it
//! found, rather than cut off in the middle. See `docs/spec/runs.md`.

use serde::{Deserialize, Serialize};

use crate::limits;

/// How much a run may do. It is clamped when it is made, also when it is read back, so that no setting
/// can lift a bound.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "Asked", into = "Asked")]
pub struct Budget {
    steps: u32,
    model_calls: u32,
    tool_calls: u32,
}

/// A budget as somebody asks for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Asked {
    /// Rounds of the loop.
    pub steps: u32,
    /// Questions to a model.
    pub model_calls: u32,
    /// Calls of tools.
    pub tool_calls: u32,
}

impl From<Asked> for Budget {
    fn from(asked: Asked) -> Self {
        Self::new(asked.steps, asked.model_calls, asked.tool_calls)
    }
}

impl From<Budget> for Asked {
    fn from(budget: Budget) -> Self {
        let Budget { steps, model_calls, tool_calls } = budget;
        Self { steps, model_calls, tool_calls }
    }
}

impl Default for Budget {
    fn default() -> Self {
        Self::new(limits::STEPS_DEFAULT, limits::MODEL_CALLS_DEFAULT, limits::TOOL_CALLS_DEFAULT)
    }
}

impl Budget {
    /// So many steps, model calls and tool calls, each brought between 1 and its bound.
    #[must_use]
    pub fn new(steps: u32, model_calls: u32, tool_calls: u32) -> Self {
        Self {
            steps: steps.clamp(1, limits::STEPS_MAX),
            model_calls: model_calls.clamp(1, limits::MODEL_CALLS_MAX),
            tool_calls: tool_calls.clamp(1, limits::TOOL_CALLS_MAX),
        }
    }

    /// Rounds of the loop.
    #[must_use]
    pub const fn steps(self) -> u32 {
        self.steps
    }

    /// Questions to a model.
    #[must_use]
    pub const fn model_calls(self) -> u32 {
        self.model_calls
    }

    /// Calls of tools.
    #[must_use]
    pub const fn tool_calls(self) -> u32 {
        self.tool_calls
    }

    /// What both budgets allow: that of a run that another run started.
    #[must_use]
    pub fn meet(self, other: Self) -> Self {
        Self {
            steps: self.steps.min(other.steps),
            model_calls: self.model_calls.min(other.model_calls),
            tool_calls: self.tool_calls.min(other.tool_calls),
        }
    }

    /// The model calls that are kept for an answer: [`limits::MODEL_CALLS_RESERVE`], or one where the
    /// budget is too small to keep as many and do anything else.
    #[must_use]
    pub fn reserve(self) -> u32 {
        if self.model_calls > limits::MODEL_CALLS_RESERVE { limits::MODEL_CALLS_RESERVE } else { 1 }
    }
}

/// What a run has spent of its budget.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Spent {
    budget: Budget,
    steps: u32,
    model_calls: u32,
    tool_calls: u32,
}

impl Spent {
    /// Nothing yet.
    #[must_use]
    pub const fn nothing(budget: Budget) -> Self {
        Self { budget, steps: 0, model_calls: 0, tool_calls: 0 }
    }

    /// What a run that goes on has spent before.
    #[must_use]
    pub const fn resumed(budget: Budget, steps: u32, model_calls: u32, tool_calls: u32) -> Self {
        Self { budget, steps, model_calls, tool_calls }
    }

    /// Steps begun.
    #[must_use]
    pub const fn steps(&self) -> u32 {
        self.steps
    }

    /// Model calls made.
    #[must_use]
    pub const fn model_calls(&self) -> u32 {
        self.model_calls
    }

    /// Tool calls admitted.
    #[must_use]
    pub const fn tool_calls(&self) -> u32 {
        self.tool_calls
    }

    /// Whether another step can begin: one is left, and a model call for it.
    #[must_use]
    pub const fn can_step(&self) -> bool {
        self.steps < self.budget.steps && self.can_ask()
    }

    /// Whether a model call is left.
    #[must_use]
    pub const fn can_ask(&self) -> bool {
        self.model_calls < self.budget.model_calls
    }

    /// Whether the next model call must be for an answer, with no tools offered: no tool call is left, or
    /// only the model calls that are kept for an answer.
    #[must_use]
    pub fn answer_only(&self) -> bool {
        let left = |budget: u32, spent: u32| budget.saturating_sub(spent);
        left(self.budget.tool_calls, self.tool_calls) == 0
            || left(self.budget.model_calls, self.model_calls) <= self.budget.reserve()
    }

    /// Begins a step. Gives its number, from 1, or `None` if none can begin.
    pub fn take_step(&mut self) -> Option<u32> {
        if !self.can_step() {
            return None;
        }
        self.steps += 1;
        Some(self.steps)
    }

    /// Takes one model call, if one is left.
    pub fn take_model_call(&mut self) -> bool {
        let can = self.can_ask();
        self.model_calls += u32::from(can);
        can
    }

    /// Takes up to so many tool calls. Gives how many fitted: the first so many of the batch go on, the
    /// others are answered `tool.budget_exhausted`.
    pub fn take_tool_calls(&mut self, wanted: u32) -> u32 {
        let fitted = wanted.min(self.budget.tool_calls.saturating_sub(self.tool_calls));
        self.tool_calls += fitted;
        fitted
    }

    /// The reason code of a run that wants another step and cannot have it; `None` while it can.
    #[must_use]
    pub const fn why_stopped(&self) -> Option<&'static str> {
        if self.can_step() {
            None
        } else if self.can_ask() {
            Some("run.max_steps_exceeded")
        } else {
            Some("run.budget_exceeded")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_budget_is_clamped_however_it_is_made() {
        let asked = |n| Budget::new(n, n, n);
        assert_eq!(asked(0), Budget { steps: 1, model_calls: 1, tool_calls: 1 });
        assert_eq!(asked(200), Budget { steps: 200, model_calls: 200, tool_calls: 200 });
        assert_eq!(asked(201), Budget { steps: 200, model_calls: 200, tool_calls: 201 });
        assert_eq!(asked(1_000).tool_calls(), 1_000);
        assert_eq!(asked(1_001), Budget { steps: 200, model_calls: 200, tool_calls: 1_000 });
        let read: Budget =
            serde_json::from_str(r#"{"steps":9999,"model_calls":0,"tool_calls":9999}"#).unwrap();
        assert_eq!(read, Budget { steps: 200, model_calls: 1, tool_calls: 1_000 });
        assert_eq!(Budget::default(), Budget { steps: 32, model_calls: 24, tool_calls: 64 });
    }

    #[test]
    fn steps_end_at_their_number() {
        let mut spent = Spent::nothing(Budget::new(3, 200, 64));
        assert_eq!([spent.take_step(), spent.take_step()], [Some(1), Some(2)]);
        assert_eq!(spent.why_stopped(), None);
        assert_eq!([spent.take_step(), spent.take_step()], [Some(3), None]);
        assert_eq!(spent.why_stopped(), Some("run.max_steps_exceeded"));
        assert_eq!(spent.steps(), 3);
    }

    #[test]
    fn model_calls_end_at_their_number() {
        let mut spent = Spent::nothing(Budget::new(200, 2, 64));
        assert!(spent.take_model_call() && spent.take_model_call());
        assert!(!spent.take_model_call());
        assert_eq!(spent.model_calls(), 2);
        assert_eq!(spent.take_step(), None);
        assert_eq!(spent.why_stopped(), Some("run.budget_exceeded"));
    }

    #[test]
    fn a_batch_gets_what_is_left_and_no_more() {
        let mut spent = Spent::nothing(Budget::new(200, 200, 5));
        assert_eq!(spent.take_tool_calls(4), 4);
        assert!(!spent.answer_only());
        assert_eq!(spent.take_tool_calls(4), 1);
        assert!(spent.answer_only());
        assert_eq!(spent.take_tool_calls(1), 0);
        assert_eq!(spent.tool_calls(), 5);
    }

    #[test]
    fn the_last_model_calls_are_for_an_answer() {
        let answers = |model_calls: u32| -> Vec<bool> {
            let mut spent = Spent::nothing(Budget::new(200, model_calls, 64));
            let mut seen = Vec::new();
            while spent.can_ask() {
                seen.push(spent.answer_only());
                spent.take_model_call();
            }
            seen
        };
        assert_eq!(answers(4), [false, false, true, true]);
        assert_eq!(answers(3), [false, true, true]);
        assert_eq!(answers(2), [false, true]);
        assert_eq!(answers(1), [true]);
    }

    #[test]
    fn a_child_has_no_more_than_its_parent() {
        assert_eq!(Budget::new(9, 2, 9).meet(Budget::new(3, 7, 4)), Budget::new(3, 2, 4));
    }

    #[test]
    fn a_run_that_goes_on_has_spent_what_it_had() {
        let mut spent = Spent::resumed(Budget::new(5, 5, 5), 4, 4, 4);
        assert_eq!(spent.take_tool_calls(3), 1);
        assert_eq!(spent.take_step(), Some(5));
        assert!(!spent.can_step());
    }
}

//! Events of runs.

use mast_kernel::event::{EventBody, ResumeCause, RunResumed, RunSetup};
use mast_kernel::id::RunId;
use mast_kernel::run::{Completion, RunStatus};

use super::View;
use super::apply::{Applied, Moment, transition, untrue};
use crate::batch::Fence;
use crate::error::Conflict;
use crate::record::RunRow;

/// The run that an event must name.
fn run_of(moment: Moment) -> Result<RunId, Conflict> {
    moment.run.ok_or_else(|| untrue("event".to_owned(), "it must name its run"))
}

/// The run of an event that can only happen while it is at work.
pub(super) fn running<'v>(view: &'v View<'_>, moment: Moment) -> Result<&'v RunRow, Conflict> {
    let run = view.run(run_of(moment)?)?;
    if run.status == RunStatus::Running {
        Ok(run)
    } else {
        Err(untrue(format!("run {}", run.id), "it is not at work"))
    }
}

pub(super) fn run_event(view: &mut View<'_>, moment: Moment, body: &EventBody) -> Applied {
    match body {
        EventBody::RunQueued(setup) => view.make_run(queued(view, moment, setup)?),
        EventBody::RunStarted(setup) => move_run(view, moment, RunStatus::Running, |row| {
            set_up(row, setup);
            row.started_at = Some(moment.at);
        }),
        EventBody::RunWaitingForApproval(_) => move_run(view, moment, RunStatus::WaitingForApproval, |_| ()),
        EventBody::RunWaitingForUser(_) => move_run(view, moment, RunStatus::WaitingForUser, |_| ()),
        EventBody::RunResumed(told) => {
            // A run whose process ended is at work as far as the rows know; it goes on as it is.
            if told.cause == ResumeCause::Recovery && running(view, moment).is_ok() {
                let mut row = running(view, moment)?.clone();
                taken_up(&mut row, told);
                view.change_run(row);
                return Ok(());
            }
            move_run(view, moment, RunStatus::Running, |row| taken_up(row, told))
        }
        EventBody::RunCompleted(told) => move_run(view, moment, RunStatus::Completed, |row| {
            row.completion = Some(told.completion);
        }),
        EventBody::RunFailed(told) => move_run(view, moment, RunStatus::Failed, |row| {
            row.completion = Some(Completion::Failed);
            row.reason_code = Some(told.reason_code.clone());
        }),
        EventBody::RunCancelled(told) => move_run(view, moment, RunStatus::Cancelled, |row| {
            row.completion = Some(Completion::Cancelled);
            row.reason_code = Some(told.reason_code.clone());
        }),
        _ => Ok(()),
    }
}

fn queued(view: &View<'_>, moment: Moment, setup: &RunSetup) -> Result<RunRow, Conflict> {
    Ok(RunRow {
        id: run_of(moment)?,
        session: view.id,
        status: RunStatus::Queued,
        provider: setup.provider.clone(),
        model: setup.model.clone(),
        mode: setup.mode,
        policy_version: setup.policy_version.clone(),
        overlay: setup.overlay,
        contract: setup.contract,
        priority: setup.priority,
        epoch: 0,
        created_at: moment.at,
        started_at: None,
        ended_at: None,
        completion: None,
        reason_code: None,
    })
}

/// From now on nothing counts that somebody writes who had the run before.
fn taken_up(row: &mut RunRow, told: &RunResumed) {
    row.policy_version.clone_from(&told.policy_version);
    row.epoch = row.epoch.saturating_add(1);
}

/// Refuses what somebody writes who has lost the run.
pub(crate) fn held(view: &View<'_>, fence: Fence) -> Applied {
    let row = view.run(fence.run)?;
    if row.epoch == fence.epoch { Ok(()) } else { Err(Conflict::Fenced { run: fence.run }) }
}

fn set_up(row: &mut RunRow, setup: &RunSetup) {
    row.provider.clone_from(&setup.provider);
    row.model.clone_from(&setup.model);
    row.mode = setup.mode;
    row.policy_version.clone_from(&setup.policy_version);
    row.overlay = setup.overlay;
    row.contract = setup.contract;
}

fn move_run(view: &mut View<'_>, moment: Moment, to: RunStatus, change: impl FnOnce(&mut RunRow)) -> Applied {
    let mut row = view.run(run_of(moment)?)?.clone();
    if !row.status.may_become(to) {
        return Err(transition(format!("run {}", row.id), row.status.as_str(), to.as_str()));
    }
    row.status = to;
    if to.is_ended() {
        row.ended_at = Some(moment.at);
    }
    change(&mut row);
    view.change_run(row);
    Ok(())
}

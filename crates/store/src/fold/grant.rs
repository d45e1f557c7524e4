//! Events of grants.

use mast_kernel::approval::ApprovalStatus;
use mast_kernel::call::CallStatus;
use mast_kernel::event::{GrantCreated, GrantExpired, GrantRevoked, GrantUsed, Reach};
use mast_kernel::grant::GrantStatus;
use mast_kernel::id::GrantId;

use super::View;
use super::apply::{Applied, Moment, transition, untrue};
use super::call::call_of;
use crate::error::Conflict;
use crate::record::GrantRow;

pub(super) fn grant_created(view: &mut View<'_>, moment: Moment, told: &GrantCreated) -> Applied {
    let approval = view.approval(told.approval)?.clone();
    let what = || format!("grant {}", told.grant);
    let is_said = approval.status == ApprovalStatus::Approved && approval.granted == Some(told.reach);
    if told.reach == Reach::Once || !is_said {
        return Err(untrue(what(), "no yes reaches as far as it says"));
    }
    view.make_grant(GrantRow {
        id: told.grant,
        session: view.id,
        run: approval.run,
        approval: told.approval,
        status: GrantStatus::Active,
        reach: told.reach,
        tool: told.tool.clone(),
        seal: told.seal,
        sealed: told.sealed,
        created_at: moment.at,
        expires_at: told.expires_at,
        uses_max: told.uses_max,
        n_uses: 0,
        ended_at: None,
        revoked_by: None,
    })
}

fn active(view: &View<'_>, id: GrantId, to: GrantStatus) -> Result<GrantRow, Conflict> {
    let row = view.grant(id)?.clone();
    if row.status != GrantStatus::Active {
        return Err(transition(format!("grant {id}"), row.status.as_str(), to.as_str()));
    }
    Ok(row)
}

/// A use is counted together with the claim that it allows: the call is about to run.
pub(super) fn grant_used(view: &mut View<'_>, moment: Moment, told: &GrantUsed) -> Applied {
    let mut row = active(view, told.grant, GrantStatus::Active)?;
    let call = call_of(view, moment, told.call)?;
    let what = || format!("grant {}", told.grant);
    if call.status != CallStatus::Authorized {
        return Err(untrue(what(), "the call is not about to run"));
    }
    if row.reach == Reach::Task && row.run != call.run {
        return Err(untrue(what(), "it reaches no further than its own run"));
    }
    if moment.at >= row.expires_at || row.n_uses >= row.uses_max {
        return Err(untrue(what(), "it is over"));
    }
    row.n_uses += 1;
    view.change_grant(row);
    Ok(())
}

pub(super) fn grant_revoked(view: &mut View<'_>, moment: Moment, told: &GrantRevoked) -> Applied {
    let mut row = active(view, told.grant, GrantStatus::Revoked)?;
    row.status = GrantStatus::Revoked;
    row.ended_at = Some(moment.at);
    row.revoked_by = Some(told.revoked_by);
    view.change_grant(row);
    Ok(())
}

pub(super) fn grant_expired(view: &mut View<'_>, moment: Moment, told: &GrantExpired) -> Applied {
    let mut row = active(view, told.grant, GrantStatus::Expired)?;
    row.status = GrantStatus::Expired;
    row.ended_at = Some(moment.at);
    view.change_grant(row);
    Ok(())
}

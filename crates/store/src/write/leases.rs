//! Leases in a database. They are changed by the one task that writes: so they wait for no lock, and after
//! everything that was handed over before, or a run could be taken up whose end is still waiting.

use mast_kernel::id::RunId;
use mast_kernel::instant::Instant;

use super::Queue;
use crate::error::StoreError;
use crate::lease::{Lease, Wanted};
use crate::read::{Question, Select};
use crate::record::RunRow;
use crate::select;
use crate::traits::Reader;

const CHANGING: &str = "changing a lease";
/// How often it is looked again where others took what was found.
const LOOKS_MAX: usize = 16;

pub(crate) async fn take(queue: &Queue, lease: &Lease, now: Instant) -> Result<bool, StoreError> {
    let question = Question::new(CHANGING, select::TAKE_LEASE)
        .text(Some(&lease.run))
        .text(Some(&lease.owner))
        .number(lease.until.micros())
        .number(now.micros());
    Ok(!queue.change(question).await?.is_empty())
}

pub(crate) async fn release(queue: &Queue, run: RunId, owner: &str) -> Result<(), StoreError> {
    let question = Question::new(CHANGING, select::RELEASE_LEASE).text(Some(&run)).text(Some(owner));
    queue.change(question).await.map(|_| ())
}

pub(crate) async fn lease(from: &impl Select, run: RunId) -> Result<Option<Lease>, StoreError> {
    let rows = from.select(Question::new("reading a lease", select::LEASE).text(Some(&run))).await?;
    let unreadable = || StoreError::Unreadable { table: "leases", key: run.to_string() };
    let read = |cells: &[Option<String>]| {
        let [Some(owner), Some(until)] = cells else { return None };
        Some(Lease { run, owner: owner.clone(), until: Instant::from_micros(until.parse().ok()?) })
    };
    rows.first().map(|cells| read(cells).ok_or_else(unreadable)).transpose()
}

/// The next run, by the statement that this database claims with: `$1` owner, `$2` until, `$3` now, `$4`
/// priority. It answers with the run that was found, and again with it if its lease was taken.
pub(crate) async fn next(
    store: &impl Reader,
    queue: &Queue,
    statement: &'static str,
    wanted: &Wanted<'_>,
) -> Result<Option<RunRow>, StoreError> {
    let question = Question::new(CHANGING, statement)
        .text(Some(wanted.owner))
        .number(wanted.until.micros())
        .number(wanted.now.micros())
        .text(Some(wanted.priority.as_str()));
    for _ in 0..LOOKS_MAX {
        let rows = queue.change(question.clone()).await?;
        let Some([Some(found), taken]) = rows.first().map(Vec::as_slice) else { return Ok(None) };
        if taken.is_some() {
            let unreadable = |_| StoreError::Unreadable { table: "leases", key: found.clone() };
            return store.run(found.parse().map_err(unreadable)?).await;
        }
    }
    Ok(None)
}

/// Makes leases of a store whose statements are put by `Select`, that claims with `$next`, and that hints by
/// `$hint`.
macro_rules! leasable {
    ($store:ty, $next:path, |$this:ident| $hint:expr) => {
        #[async_trait::async_trait]
        impl $crate::lease::Leases for $store {
            async fn take(
                &self,
                lease: &$crate::lease::Lease,
                now: mast_kernel::instant::Instant,
            ) -> Result<bool, $crate::StoreError> {
                $crate::write::leases::take(&self.queue, lease, now).await
            }

            async fn release(
                &self,
                run: mast_kernel::id::RunId,
                owner: &str,
            ) -> Result<(), $crate::StoreError> {
                $crate::write::leases::release(&self.queue, run, owner).await
            }

            async fn lease(
                &self,
                run: mast_kernel::id::RunId,
            ) -> Result<Option<$crate::lease::Lease>, $crate::StoreError> {
                $crate::write::leases::lease(self, run).await
            }

            async fn next(
                &self,
                wanted: &$crate::lease::Wanted<'_>,
            ) -> Result<Option<$crate::RunRow>, $crate::StoreError> {
                $crate::write::leases::next(self, &self.queue, $next, wanted).await
            }

            async fn hint(&self) {
                let $this = self;
                $hint.await;
            }
        }
    };
}
pub(crate) use leasable;

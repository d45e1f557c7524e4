//! What the journal takes when several write to it, and when a process has left runs behind.

use super::measured::{Measured, ROUNDS};
use super::programs;
use super::report::Row;
use crate::failed::Failed;
use crate::postgres::Server;
use crate::process::Process;

/// One caller reaches 70 % of the rate of a bare connection, eight twice the rate of eight of them.
const ONE_CALLER: f64 = 1.43;
const EIGHT_CALLERS: f64 = 0.5;
/// The same on a server, beside `pgbench` with the same rows: 80 % with one caller, 60 % with eight.
const ONE_ON_SERVER: f64 = 1.25;
const EIGHT_ON_SERVER: f64 = 1.67;
/// Many runs at once reach four fifths of the rate of the store alone.
const MANY: f64 = 1.25;
const SECOND: f64 = 1e9;
const RECOVERY: f64 = 10.0 * SECOND;
/// An event is checked in at most 5 µs: 200,000 a second.
const EVENT: f64 = 5_000.0;

const EIGHT_TIME: &str = "The disk of a virtual machine answers a flush in a fraction of a millisecond, so that \
    waiting for it is little of what eight connections do, and what a group saves is little. What is left is the \
    fold and the hashes of each batch, on one thread.";
const MANY_TIME: &str = "The store alone only writes: who proposes, judges and hashes is the loop, and it shares \
    two processors with the writer.";
const RECOVERY_TIME: &str = "Each run is not only found and judged but carried to its end: a lease, some fourteen \
    reads, four commits and a signed head. Most of the time is the reads, each a change of threads in the \
    database's library.";

const SERVER_TIME: &str = "The peer is strict: its rows are known beforehand and stand in one prepared statement a \
    commit, so it hashes nothing, and sends nothing but a number. Held against separate statements in a transaction \
    both lines hold.";

const EVENT_TIME: &str = "The hash of an event is some thirty blocks of SHA-256, about 5 µs by itself; besides, each \
    row is read letter by letter and written again to be compared, values are held against their commitments, and \
    the rows of the state are made anew. All of it runs on one thread, which a second could halve.";
const GO_ON_TIME: &str = "The whole conversation is read and its chain computed before a word of it is believed, once; a \
    snapshot that is signed with a head would let it begin there.";

/// Two rows on a server, beside `pgbench`.
fn on_server() -> Result<Vec<Row>, Failed> {
    let program = programs::measure()?;
    let server = Server::durable("bench")?;
    let measured = Measured::in_rounds(ROUNDS, || {
        let folder = programs::folder("server")?;
        let script = format!("{folder}/script.sql");
        let ours = Process::program(&program).with(["server", &folder, &script]);
        let ours = ours.variable("MAST_TEST_POSTGRES", &server.address());
        let peer = |n_clients, n| server.bench(&script, n_clients, n, &format!("pgbench {n_clients}"));
        Ok(vec![ours, peer(1, 0), peer(8, 1_000)])
    })?;
    let one = measured.times("server 1", (&measured, "pgbench 1"))?;
    let eight = measured.times("server 8", (&measured, "pgbench 8"))?;
    Ok(vec![
        Row::beside("a claim and its outcome on Postgres, one caller", "pgbench", one, ONE_ON_SERVER)
            .because(SERVER_TIME),
        Row::beside("the same on Postgres, eight callers at once", "pgbench", eight, EIGHT_ON_SERVER)
            .because(SERVER_TIME),
    ])
}

/// One row each.
pub(super) fn measure() -> Result<Vec<Row>, Failed> {
    let program = programs::measure()?;
    let run = |words: [&str; 2]| Process::program(&program).with(words);
    let measured = Measured::in_rounds(ROUNDS, || {
        let (claims, many) = (programs::folder("claims")?, programs::folder("many")?);
        Ok(vec![run(["claims", &claims]), run(["many", &many])])
    })?;
    let once = Measured::in_rounds(1, || {
        let (recovery, long) = (programs::folder("recovery")?, programs::folder("long")?);
        Ok(vec![run(["recovery", &recovery]), run(["long", &long])])
    })?;
    let bare = |name: &str, peer: &str| measured.times(name, (&measured, peer));
    let one = bare("claims 1", "claims 1 bare")?;
    let eight = bare("claims 8", "claims 8 bare")?;
    let many = bare("many", "many alone")?;
    let mut rows = vec![
        Row::beside("a claim and its outcome, one caller, flushed", "bare connection", one, ONE_CALLER),
        Row::beside("the same, eight callers at once", "eight connections", eight, EIGHT_CALLERS)
            .because(EIGHT_TIME),
    ];
    rows.extend(on_server()?);
    rows.extend([
        Row::beside("a run of three steps, 500 at once", "the store alone", many, MANY).because(MANY_TIME),
        Row::at_most("10,000 runs carried to their ends after a crash", once.time("recovery")?, RECOVERY)
            .because(RECOVERY_TIME),
        Row::at_most("checking an event of a journal of 100,000", once.time("verify")?, EVENT)
            .because(EVENT_TIME),
        Row::at_most("going on with a run in a session of 100,000 events", once.time("go on")?, SECOND)
            .because(GO_ON_TIME),
    ]);
    Ok(rows)
}

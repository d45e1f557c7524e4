//! Places that people ask the time of, and their zones in the time zone database. A place that is not
//! here is not guessed: the answer asks for the zone's name.

/// Place in lower case, and its zone.
const PLACES: &[(&str, &str)] = &[
    ("amsterdam", "Europe/Amsterdam"),
    ("anchorage", "America/Anchorage"),
    ("athens", "Europe/Athens"),
    ("auckland", "Pacific/Auckland"),
    ("baghdad", "Asia/Baghdad"),
    ("bangkok", "Asia/Bangkok"),
    ("barcelona", "Europe/Madrid"),
    ("beijing", "Asia/Shanghai"),
    ("berlin", "Europe/Berlin"),
    ("bogota", "America/Bogota"),
    ("bogotá", "America/Bogota"),
    ("boston", "America/New_York"),
    ("brussels", "Europe/Brussels"),
    ("bucharest", "Europe/Bucharest"),
    ("budapest", "Europe/Budapest"),
    ("buenos aires", "America/Argentina/Buenos_Aires"),
    ("cairo", "Africa/Cairo"),
    ("cape town", "Africa/Johannesburg"),
    ("caracas", "America/Caracas"),
    ("casablanca", "Africa/Casablanca"),
    ("chicago", "America/Chicago"),
    ("copenhagen", "Europe/Copenhagen"),
    ("dallas", "America/Chicago"),
    ("delhi", "Asia/Kolkata"),
    ("denver", "America/Denver"),
    ("dhaka", "Asia/Dhaka"),
    ("dubai", "Asia/Dubai"),
    ("dublin", "Europe/Dublin"),
    ("edinburgh", "Europe/London"),
    ("frankfurt", "Europe/Berlin"),
    ("geneva", "Europe/Zurich"),
    ("hamburg", "Europe/Berlin"),
    ("hanoi", "Asia/Bangkok"),
    ("helsinki", "Europe/Helsinki"),
    ("hong kong", "Asia/Hong_Kong"),
    ("honolulu", "Pacific/Honolulu"),
    ("istanbul", "Europe/Istanbul"),
    ("jakarta", "Asia/Jakarta"),
    ("jerusalem", "Asia/Jerusalem"),
    ("johannesburg", "Africa/Johannesburg"),
    ("karachi", "Asia/Karachi"),
    ("kathmandu", "Asia/Kathmandu"),
    ("kolkata", "Asia/Kolkata"),
    ("kuala lumpur", "Asia/Kuala_Lumpur"),
    ("kyiv", "Europe/Kyiv"),
    ("lagos", "Africa/Lagos"),
    ("lima", "America/Lima"),
    ("lisbon", "Europe/Lisbon"),
    ("london", "Europe/London"),
    ("los angeles", "America/Los_Angeles"),
    ("madrid", "Europe/Madrid"),
    ("manila", "Asia/Manila"),
    ("melbourne", "Australia/Melbourne"),
    ("mexico city", "America/Mexico_City"),
    ("miami", "America/New_York"),
    ("milan", "Europe/Rome"),
    ("montreal", "America/Toronto"),
    ("moscow", "Europe/Moscow"),
    ("mumbai", "Asia/Kolkata"),
    ("munich", "Europe/Berlin"),
    ("nairobi", "Africa/Nairobi"),
    ("new delhi", "Asia/Kolkata"),
    ("new york", "America/New_York"),
    ("new york city", "America/New_York"),
    ("osaka", "Asia/Tokyo"),
    ("oslo", "Europe/Oslo"),
    ("paris", "Europe/Paris"),
    ("perth", "Australia/Perth"),
    ("prague", "Europe/Prague"),
    ("reykjavik", "Atlantic/Reykjavik"),
    ("rio de janeiro", "America/Sao_Paulo"),
    ("riyadh", "Asia/Riyadh"),
    ("rome", "Europe/Rome"),
    ("san francisco", "America/Los_Angeles"),
    ("santiago", "America/Santiago"),
    ("sao paulo", "America/Sao_Paulo"),
    ("seattle", "America/Los_Angeles"),
    ("seoul", "Asia/Seoul"),
    ("shanghai", "Asia/Shanghai"),
    ("singapore", "Asia/Singapore"),
    ("sofia", "Europe/Sofia"),
    ("stockholm", "Europe/Stockholm"),
    ("sydney", "Australia/Sydney"),
    ("são paulo", "America/Sao_Paulo"),
    ("taipei", "Asia/Taipei"),
    ("tehran", "Asia/Tehran"),
    ("tel aviv", "Asia/Jerusalem"),
    ("tokyo", "Asia/Tokyo"),
    ("toronto", "America/Toronto"),
    ("utc", "UTC"),
    ("vancouver", "America/Vancouver"),
    ("vienna", "Europe/Vienna"),
    ("warsaw", "Europe/Warsaw"),
    ("washington", "America/New_York"),
    ("zurich", "Europe/Zurich"),
    ("zürich", "Europe/Zurich"),
];

/// The zone of a place, however its letters are cased; a zone's own name stands for itself.
pub(super) fn zone(place: &str) -> Option<String> {
    let plain = place.to_lowercase();
    if let Ok(at) = PLACES.binary_search_by(|(name, _)| (*name).cmp(plain.as_str())) {
        return PLACES.get(at).map(|(_, zone)| (*zone).to_owned());
    }
    let known = PLACES.iter().find(|(_, zone)| zone.eq_ignore_ascii_case(place));
    if let Some((_, zone)) = known {
        return Some((*zone).to_owned());
    }
    // The clock itself judges whether there is such a zone.
    let is_zone_name = place.contains('/') && !place.contains(char::is_whitespace);
    is_zone_name.then(|| place.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_found() {
        assert!(PLACES.is_sorted_by(|(a, _), (b, _)| a < b), "the table is searched by halves");
        assert_eq!(zone("Tokyo").as_deref(), Some("Asia/Tokyo"));
        assert_eq!(zone("SÃO PAULO").as_deref(), Some("America/Sao_Paulo"));
        assert_eq!(zone("america/new_york").as_deref(), Some("America/New_York"));
        assert_eq!(zone("Antarctica/Troll").as_deref(), Some("Antarctica/Troll"));
        assert_eq!(zone("utc").as_deref(), Some("UTC"));
        assert_eq!(zone("Atlantis"), None);
    }
}

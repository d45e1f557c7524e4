//! Where a written path leads, without looking: a path may be written in many ways, and a rule on places
//! must hold for all of them.

/// A path without what does not change where it leads.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Place<'a> {
    /// Its names from there on.
    pub(super) names: Vec<&'a str>,
    /// Whether it begins at the machine's root.
    pub(super) absolute: bool,
    /// Whether it leads above where it begins.
    pub(super) above: bool,
}

impl<'a> Place<'a> {
    pub(super) fn of(path: &'a str) -> Self {
        let mut place = Self { names: Vec::new(), absolute: path.starts_with('/'), above: false };
        for name in path.split('/').filter(|name| !name.is_empty() && *name != ".") {
            if name == ".." {
                place.above |= place.names.pop().is_none();
            } else {
                place.names.push(name);
            }
            // Each process has a door to the root.
            if place.absolute && matches!(place.names.as_slice(), ["proc", _, "root"]) {
                place.names.clear();
            }
        }
        place
    }

    /// The whole path, if it can lead to a place that is named from the root: what leads above its folder
    /// may end there.
    pub(super) fn rooted(&self) -> Option<String> {
        (self.absolute || self.above).then(|| format!("/{}", self.names.join("/")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_ways_to_write_a_place() {
        for path in [
            "/dev/sda",
            "//dev///sda",
            "/dev/./sda",
            "/dev/../dev/sda",
            "/../dev/sda",
            "../../../dev/sda",
            "x/../../dev/sda",
            "/proc/self/root/dev/sda",
            "/proc/1/root/proc/1/root/dev/sda",
        ] {
            assert_eq!(Place::of(path).rooted().as_deref(), Some("/dev/sda"), "{path}");
        }
        assert_eq!(Place::of("dev/sda").rooted(), None);
        assert_eq!(Place::of("x/../dev/sda").rooted(), None);
        assert_eq!(Place::of("/dev/sda/..").rooted().as_deref(), Some("/dev"));
    }
}

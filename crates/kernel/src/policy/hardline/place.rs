//! Where a written path leads, without looking: a path may be written in many ways, and a rule on places
//! must hold for all of them.

/// A path without what does not change where it leads.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Place<'a> {
    /// Its names from there on.
    pub(super) names: Vec<&'a str>,
    /// Whether it begins at the machine's root.
    pub(super) absolute: bool,
    /// How many folders it leads above where it begins.
    pub(super) n_above: usize,
}

impl<'a> Place<'a> {
    pub(super) fn of(path: &'a str) -> Self {
        let mut place = Self { names: Vec::new(), absolute: path.starts_with('/'), n_above: 0 };
        for name in path.split('/').filter(|name| !name.is_empty() && *name != ".") {
            if name == ".." {
                place.n_above += usize::from(place.names.pop().is_none());
            } else {
                place.names.push(name);
            }
            place.go_through_doors();
        }
        place
    }

    /// Each process, and each of its threads, has a door to the root and one to the folder that it stands in.
    fn go_through_doors(&mut self) {
        match self.names.as_slice() {
            ["proc", _, door] | ["proc", _, "task", _, door] if self.absolute => match *door {
                "root" => self.names.clear(),
                "cwd" => *self = Self { names: Vec::new(), absolute: false, n_above: 0 },
                _ => {}
            },
            _ => {}
        }
    }

    /// The whole path, if it can lead to a place that is named from the root: what leads above its folder
    /// may end there.
    pub(super) fn rooted(&self) -> Option<String> {
        (self.absolute || self.n_above > 0).then(|| format!("/{}", self.names.join("/")))
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
            "/proc/self/task/7/root/dev/sda",
            "/proc/thread-self/root/dev/sda",
            "/proc/self/cwd/../../dev/sda",
        ] {
            assert_eq!(Place::of(path).rooted().as_deref(), Some("/dev/sda"), "{path}");
        }
        assert_eq!(Place::of("dev/sda").rooted(), None);
        assert_eq!(Place::of("x/../dev/sda").rooted(), None);
        assert_eq!(Place::of("/proc/self/cwd/dev/sda").rooted(), None);
        assert_eq!(Place::of("a/../../b/../../c").n_above, 2);
        assert_eq!(Place::of("/dev/sda/..").rooted().as_deref(), Some("/dev"));
    }
}

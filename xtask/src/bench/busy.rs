//! How busy the machine is with work that is not ours: a figure from a busy machine is no promise.
//!
//! It is what the processors did during a benchmark, less what this program and the programs that it
//! started did. Rejected: the load average, which counts our own work and that of the last minutes.

use std::fs;
use std::path::PathBuf;

use crate::failed::Failed;

const OF_ALL: &str = "/proc/stat";
const OF_US: &str = "/proc/self/stat";
/// Up to this part of one processor counts as quiet.
const QUIET: f64 = 0.2;

/// How many processors other work kept.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Busy {
    pub(super) n_processors: usize,
    pub(super) n_busy: f64,
}

/// Times that were counted up to a moment, in the kernel's own unit.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Counted {
    n_processors: usize,
    all: f64,
    idle: f64,
    ours: f64,
}

impl Counted {
    /// Up to now.
    pub(super) fn now() -> Result<Self, Failed> {
        let read = |path: &str| {
            fs::read_to_string(path).map_err(|source| Failed::Read { path: PathBuf::from(path), source })
        };
        Self::read(&read(OF_ALL)?, &read(OF_US)?).ok_or_else(|| Failed::File {
            file: OF_ALL.to_owned(),
            what: "it does not begin with the times of all processors".to_owned(),
        })
    }

    fn read(of_all: &str, of_us: &str) -> Option<Self> {
        // User, nice, system, idle, waiting, interrupts, soft interrupts, stolen, of all processors
        // together. The columns after them are counted in the first two already.
        let line = of_all.lines().next()?.strip_prefix("cpu ")?;
        let times: Vec<f64> = line.split_whitespace().take(8).map_while(|word| word.parse().ok()).collect();
        let idle = times.get(3)? + times.get(4)?;
        // The name in brackets may hold spaces. User and system time of this program, then of those that
        // it has waited for.
        let (_, fields) = of_us.rsplit_once(')')?;
        let ours = fields.split_whitespace().skip(11).take(4).map_while(|word| word.parse::<f64>().ok());
        let is_processor = |line: &&str| line.starts_with("cpu") && !line.starts_with("cpu ");
        let n_processors = of_all.lines().filter(is_processor).count();
        (times.len() == 8).then(|| Self { n_processors, all: times.iter().sum(), idle, ours: ours.sum() })
    }

    /// What other work did from then until now.
    pub(super) fn until(self, now: Self) -> Busy {
        let (all, idle, ours) = (now.all - self.all, now.idle - self.idle, now.ours - self.ours);
        let share = if all > 0.0 { ((all - idle - ours) / all).max(0.0) } else { 0.0 };
        let n_processors = now.n_processors;
        Busy { n_processors, n_busy: share * f64::from(u32::try_from(n_processors).unwrap_or(u32::MAX)) }
    }
}

impl Busy {
    /// In words, of several benchmarks.
    pub(super) fn told(benchmarks: &[Self]) -> String {
        let most = benchmarks.iter().map(|one| one.n_busy).fold(0.0, f64::max);
        let n_processors = benchmarks.first().map_or(0, |one| one.n_processors);
        if most <= QUIET {
            "Nothing else ran on it.".to_owned()
        } else {
            format!("It was busy: other work kept up to {most:.1} of its {n_processors} processors.")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_neither_idle_nor_ours_is_other_work() {
        let all = |user, idle| format!("cpu  {user} 0 50 {idle} 50 0 0 0 0 0\ncpu0 1 1\ncpu1 1 1\nintr 5\n");
        let ours = |user, waited| format!("9 (x task) R 1 2 3 4 5 6 7 8 9 10 {user} 0 {waited} 0 20 0");
        let before = Counted::read(&all(100, 800), &ours(5, 5)).unwrap();
        let after = Counted::read(&all(160, 840), &ours(10, 10)).unwrap();
        let busy = before.until(after);
        assert_eq!(busy.n_processors, 2);
        assert!((busy.n_busy - 1.0).abs() < 1e-9, "{busy:?}");
        assert_eq!(Counted::read("intr 5", &ours(1, 1)), None);
    }

    #[test]
    fn this_machine_tells_both() {
        let now = Counted::now().unwrap();
        assert!(now.n_processors > 0 && now.all > now.idle && now.idle >= 0.0, "{now:?}");
    }

    #[test]
    fn a_quiet_machine_is_told_apart_from_a_busy_one() {
        let one = |n_busy| Busy { n_processors: 2, n_busy };
        assert_eq!(Busy::told(&[one(0.1), one(0.0)]), "Nothing else ran on it.");
        let busy = "It was busy: other work kept up to 1.3 of its 2 processors.";
        assert_eq!(Busy::told(&[one(0.1), one(1.26)]), busy);
    }
}

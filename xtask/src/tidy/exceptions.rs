//! Findings that are known and borne with. The list may only shrink: a new entry needs a larger
//! number below it, which a reviewer sees, and an entry that no longer applies fails.

use super::Finding;

/// A finding is excepted by its file and the start of its text, for a reason.
struct Exception {
    file: &'static str,
    what: &'static str,
    #[expect(dead_code, reason = "it is for the reader")]
    reason: &'static str,
}

const EXCEPTIONS: &[Exception] = &[];
/// May be lowered, never raised.
const EXCEPTIONS_MAX: usize = 0;

/// The findings that are not excepted.
pub(super) fn without(findings: Vec<Finding>) -> Vec<Finding> {
    findings.into_iter().filter(|finding| !EXCEPTIONS.iter().any(|one| excepts(one, finding))).collect()
}

fn excepts(exception: &Exception, finding: &Finding) -> bool {
    finding.file == exception.file && finding.what.starts_with(exception.what)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::tree::Tree;
    use crate::tidy::{banned, bounds, layers, pages, portable, shape, suites};

    #[test]
    fn the_list_only_shrinks() {
        assert_eq!(EXCEPTIONS.len(), EXCEPTIONS_MAX, "lower the number with the list; do not raise it");
    }

    #[test]
    fn each_exception_still_applies() {
        let rules = [
            layers::findings,
            banned::findings,
            bounds::findings,
            shape::findings,
            suites::findings,
            pages::findings,
            portable::findings,
        ];
        let all: Vec<Finding> = rules.iter().flat_map(|rule| rule(Tree::ours())).collect();
        for exception in EXCEPTIONS {
            let applies = all.iter().any(|finding| excepts(exception, finding));
            assert!(applies, "no longer needed: {} ({})", exception.file, exception.what);
        }
    }

    #[test]
    fn an_exception_is_for_one_file_and_one_fault() {
        let exception = Exception { file: "a.rs", what: "too long", reason: "a table" };
        assert!(excepts(&exception, &Finding::new("a.rs", 1, "too long: 401 lines")));
        assert!(!excepts(&exception, &Finding::new("b.rs", 1, "too long: 401 lines")));
        assert!(!excepts(&exception, &Finding::new("a.rs", 1, "sleeps")));
    }
}

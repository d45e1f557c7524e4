//! `cargo xtask bless`: rewrites what is derived from the code, so that nobody edits it by hand;
//! `--check` says what is out of date instead, and CI runs that.
//!
//! There are two kinds. Snapshots stand inside tests and are rewritten by running the tests with
//! `UPDATE_EXPECT`. Generated files are the rows of [`GENERATED`]: most are what the binary `mast`
//! prints when asked, so that a page of the manual and the program cannot disagree.

use clap::Args;

use crate::failed::Failed;
use crate::place;
use crate::postgres::Servers;
use crate::process::Process;
use crate::say;

/// How to bless.
#[derive(Debug, Args)]
pub(crate) struct BlessArgs {
    /// Change nothing; fail if a generated file is not up to date.
    #[arg(long)]
    pub(crate) check: bool,
    /// Leave the snapshots in tests alone, and rewrite the generated files only.
    #[arg(long)]
    pub(crate) files: bool,
}

/// A file that is derived from the code.
#[derive(Debug)]
pub(crate) struct Generated {
    /// Named from the root.
    pub(crate) file: &'static str,
    from: Origin,
}

/// What a generated file is made from.
#[derive(Debug)]
enum Origin {
    /// What `mast` prints with these arguments.
    #[expect(dead_code, reason = "its first rows come with the commands that print the manual")]
    Mast(&'static [&'static str]),
    /// What a function of this program says.
    Own(fn() -> Result<String, Failed>),
}

/// Every generated file. A new one is a row here.
pub(crate) const GENERATED: &[Generated] =
    &[Generated { file: "docs/spec/README.md", from: Origin::Own(spec_index) }];

/// Rewrites the snapshots and the generated files, or checks the latter.
pub(crate) fn run(args: &BlessArgs) -> Result<(), Failed> {
    if !args.check && !args.files {
        let servers = Servers::start()?;
        let tests = servers.told_to(Process::new("cargo test --workspace --quiet"));
        tests.variable("UPDATE_EXPECT", "1").variable("TRYBUILD", "overwrite").run()?;
    }
    let mut stale = Vec::new();
    for generated in GENERATED {
        let text = generated.text()?;
        if place::read(generated.file).ok().as_deref() == Some(text.as_str()) {
            continue;
        }
        stale.push(generated.file);
        if !args.check {
            place::write(generated.file, &text)?;
            say::line(&format!("wrote {}", generated.file));
        }
    }
    if args.check && !stale.is_empty() {
        let what = format!("out of date: {} (run `cargo xtask bless`)", stale.join(", "));
        return Err(Failed::Found { what });
    }
    Ok(())
}

impl Generated {
    fn text(&self) -> Result<String, Failed> {
        match self.from {
            Origin::Mast(arguments) => {
                Process::new("cargo run --quiet --package mast --").with(arguments.iter().copied()).answer()
            }
            Origin::Own(text) => text(),
        }
    }
}

const SPEC: &str = "docs/spec";
const SPEC_INDEX_HEAD: &str = "\
<!-- Written by `cargo xtask bless`: edit the pages, not this list. -->
# What Mast does, page by page

Each page states one tool or one rule in full: what goes in, what comes out, what is refused and
with which reason code. The code cites these pages, and tests hold it to them. Where code and page
differ, one of the two is a bug.

| page | about |
|---|---|
";

/// The list of the pages that state what Mast does: each with its title and its first sentence.
fn spec_index() -> Result<String, Failed> {
    let mut index = SPEC_INDEX_HEAD.to_owned();
    for name in place::names(SPEC)? {
        if name == "README.md" || !name.ends_with(".md") {
            continue;
        }
        let (title, about) = title_and_about(&place::read(&format!("{SPEC}/{name}"))?).ok_or_else(|| {
            let what = "a page opens with `# Title` and a paragraph that says what it is about".to_owned();
            Failed::File { file: format!("{SPEC}/{name}"), what }
        })?;
        index.push_str(&format!("| [{title}]({name}) | {about} |\n"));
    }
    Ok(index)
}

/// The title of a page, and the first sentence of its first paragraph as one table cell.
fn title_and_about(page: &str) -> Option<(String, String)> {
    let mut lines = page.lines().skip_while(|line| !line.starts_with("# "));
    let title = lines.next()?.strip_prefix("# ")?.trim().to_owned();
    let paragraph: Vec<&str> =
        lines.skip_while(|line| line.trim().is_empty()).take_while(|line| !line.trim().is_empty()).collect();
    let paragraph = paragraph.join(" ");
    if paragraph.is_empty() || paragraph.starts_with(['#', '|']) {
        return None;
    }
    let sentence = paragraph.split_once(". ").map_or(paragraph.as_str(), |(first, _)| first);
    Some((title, sentence.trim_end_matches(['.', ':']).replace('|', "\\|")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_is_listed_by_its_title_and_first_sentence() {
        let page = "<!-- note -->\n# The clock\n\nTells the time\nin a place | zone. And more.\n\nBody.\n";
        let listed = title_and_about(page).unwrap();
        assert_eq!(listed, ("The clock".to_owned(), "Tells the time in a place \\| zone".to_owned()));
    }

    /// The files that `mast` prints need the binary; CI checks those with `--check`.
    #[test]
    fn what_this_program_generates_is_up_to_date() {
        for generated in GENERATED.iter().filter(|generated| matches!(generated.from, Origin::Own(_))) {
            let (is, should) = (place::read(generated.file).unwrap(), generated.text().unwrap());
            assert_eq!(is, should, "{}: run `cargo xtask bless --files`", generated.file);
        }
    }

    #[test]
    fn a_page_that_does_not_say_what_it_is_about_is_refused() {
        assert_eq!(title_and_about("# Title\n\n## Next\n"), None);
        assert_eq!(title_and_about("no title\n"), None);
    }
}

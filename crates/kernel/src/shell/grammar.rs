//! The grammar of bash, with the numbers of what is asked for: kinds of nodes and fields have names, and
//! looking at a name for each node costs more than parsing does.

use std::num::NonZeroU16;
use std::sync::LazyLock;

use tree_sitter::{Language, Node};

/// What a node is, as far as it matters here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Arithmetic,
    ArithmeticFor,
    Assignment,
    Command,
    Compound,
    Declaration,
    DoGroup,
    Expansion,
    FileRedirect,
    For,
    Function,
    HereDocument,
    HereEnd,
    HereStart,
    HereString,
    /// Text that stands for itself.
    Letters,
    Redirected,
    Separator,
    Subshell,
    /// `$(`, not that of `$((`.
    SubstitutionStart,
    Test,
    Unset,
    Other,
}

impl Kind {
    fn of(name: &str) -> Self {
        match name {
            "arithmetic_expansion" => Self::Arithmetic,
            "c_style_for_statement" => Self::ArithmeticFor,
            "variable_assignment" => Self::Assignment,
            "command" => Self::Command,
            "compound_statement" => Self::Compound,
            "declaration_command" => Self::Declaration,
            "do_group" => Self::DoGroup,
            "expansion" => Self::Expansion,
            "file_redirect" => Self::FileRedirect,
            "for_statement" => Self::For,
            "function_definition" => Self::Function,
            "heredoc_redirect" => Self::HereDocument,
            "heredoc_end" => Self::HereEnd,
            "heredoc_start" => Self::HereStart,
            "herestring_redirect" => Self::HereString,
            "word" | "string_content" | "regex" | "extglob_pattern" => Self::Letters,
            "redirected_statement" => Self::Redirected,
            ";" | "\n" | "in" => Self::Separator,
            "subshell" => Self::Subshell,
            "$(" => Self::SubstitutionStart,
            "test_command" => Self::Test,
            "unset_command" => Self::Unset,
            _ => Self::Other,
        }
    }
}

/// The grammar, and the numbers in it.
pub(super) struct Grammar {
    pub(super) language: Language,
    kinds: Vec<Kind>,
    pub(super) argument: NonZeroU16,
    pub(super) body: NonZeroU16,
    pub(super) destination: NonZeroU16,
    pub(super) name: NonZeroU16,
}

impl Grammar {
    pub(super) fn kind(&self, node: Node<'_>) -> Kind {
        self.kinds.get(usize::from(node.kind_id())).copied().unwrap_or(Kind::Other)
    }
}

/// None where the grammar is not the one that this was written for: then no text can be read.
pub(super) static GRAMMAR: LazyLock<Option<Grammar>> = LazyLock::new(|| {
    let language = Language::from(tree_sitter_bash::LANGUAGE);
    let number_max = u16::try_from(language.node_kind_count()).ok()?;
    let kinds =
        (0..number_max).map(|number| Kind::of(language.node_kind_for_id(number).unwrap_or(""))).collect();
    Some(Grammar {
        kinds,
        argument: language.field_id_for_name("argument")?,
        body: language.field_id_for_name("body")?,
        destination: language.field_id_for_name("destination")?,
        name: language.field_id_for_name("name")?,
        language,
    })
});

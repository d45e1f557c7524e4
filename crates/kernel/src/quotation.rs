//! Quotation marks: what closes what. Words between them are somebody else's, or are only talked about.

/// What closes a quotation that this character opens, where `before` stands before it.
pub(crate) const fn closing(open: char, before: Option<char>) -> Option<&'static [char]> {
    match open {
        '"' => Some(&['"']),
        '`' => Some(&['`']),
        '“' => Some(&['”', '"']),
        '„' => Some(&['“', '”', '"']),
        '«' => Some(&['»']),
        '»' => Some(&['«']),
        '‹' => Some(&['›']),
        '‘' | '‚' => Some(&['’', '‘']),
        '「' => Some(&['」']),
        '『' => Some(&['』']),
        '\'' if matches!(before, None | Some(' ' | '\n' | '\t' | '(' | ':')) => Some(&['\'']),
        _ => None,
    }
}

//! The markers, as data. Spelled as the chat templates and tool-call formats of current models have
//! them, in lower case; a marker is matched in any case unless it stands in [`UPPER`].

/// Words between `<` and anything that ends a word, with or without `/` before and digits behind
/// (`<unused12>`, `</tool_call>`, `<function=x>`).
pub(super) const ANGLE: &[&str] = &[
    // Hermes, Qwen, GLM, Granite, Nemotron, and formats that others share with them.
    "tool",
    "tools",
    "tool_call",
    "tool_calls",
    "tool_code",
    "tool_output",
    "tool_outputs",
    "tool_response",
    "tool_responses",
    "tool_result",
    "tool_results",
    "tool_use",
    "toolcall",
    "toolcalls",
    "tool_declare",
    "available_tools",
    "use_mcp_tool",
    "scratch_pad",
    "arg_key",
    "arg_value",
    // Qwen coder, MiniMax, Step, DeepSeek and whoever writes calls as elements.
    "function",
    "functions",
    "function_call",
    "function_calls",
    "function_model",
    "function_response",
    "function_result",
    "function_results",
    "invoke",
    "parameter",
    // Thinking.
    "think",
    "thinking",
    "thought",
    "seed:think",
    // Gemma.
    "start_of_turn",
    "end_of_turn",
    "start_of_image",
    "end_of_image",
    "start_function_call",
    "end_function_call",
    "start_function_declaration",
    "end_function_declaration",
    "start_function_response",
    "end_function_response",
    "unused",
    // Other families' special tokens with numbers.
    "extra_id_",
    "reserved_",
    "reserved_token_",
    "special_",
    "beginning_of_sentence",
    "end_of_sentence",
];

/// Words between `<` and `>` exactly: shorter than what may stand before a word in ordinary code.
pub(super) const ANGLE_CLOSED: &[&str] =
    &["s", "bos", "eos", "pad", "unk", "sop", "eop", "eot", "eod", "sys", "escape", "endoftext"];

/// Words between `[` and `]`, with or without `/` before.
pub(super) const SQUARE: &[&str] = &[
    "inst",
    "available_tools",
    "tool_call",
    "tool_calls",
    "tool_content",
    "tool_result",
    "tool_results",
    "system_prompt",
    "model_settings",
    "call_id",
    "gmask",
    "smask",
    "|system|",
    "|user|",
    "|assistant|",
    "|tool|",
    "|endofturn|",
    "|endofsystem|",
];

/// The same, for words that are ordinary in lower case: only as the templates write them.
pub(super) const UPPER: &[&str] =
    &["ARGS", "THINK", "IMG", "IMG_BREAK", "IMG_END", "PREFIX", "MIDDLE", "SUFFIX", "AUDIO", "BEGIN_AUDIO"];

/// Words that may have a name space before them: `minimax:tool_call`, `ns:invoke`, `seed:bos`.
pub(super) const SPACED: &[&str] =
    &["tool_call", "tool_calls", "function_calls", "invoke", "parameter", "bos", "eos", "think"];

/// Characters that look like others, and what they look like. What the compatibility forms of Unicode
/// fold by themselves (wide letters, mathematical letters) is not listed.
pub(super) const ALIKE: &[(&str, char)] = &[
    ("‹〈⟨❮˂ᐸ≺⧼", '<'),
    ("›〉⟩❯˃ᐳ≻⧽", '>'),
    ("【〔⟦⁅", '['),
    ("】〕⟧⁆", ']'),
    ("│┃∣ǀ❘❙¦⎮╎❚", '|'),
    ("∕⁄⧸╱", '/'),
    ("▁‗ˍ", '_'),
    ("аɑα", 'a'),
    ("ЬƄ", 'b'),
    ("сϲ", 'c'),
    ("ԁ", 'd'),
    ("еε℮", 'e'),
    ("һ", 'h'),
    ("іıι", 'i'),
    ("ӏ", 'l'),
    ("п", 'n'),
    ("оοσ", 'o'),
    ("рρ", 'p'),
    ("ѕ", 's'),
    ("т", 't'),
    ("υ", 'u'),
    ("хχ", 'x'),
    ("уγ", 'y'),
    ("м", 'm'),
    ("к", 'k'),
];

//! Transcripts of other agents: what each says was done, and which of its own results say so.

use mast_kernel::assertion::Support;
use mast_kernel::effect::EffectState;
use mast_kernel::transcript::{NotATranscript, read};

/// Which of the assertions in a transcript are supported, in their order.
fn supported(text: &str) -> Vec<bool> {
    let found = read(text).unwrap();
    let checked = found.said.iter().flat_map(|said| &said.assertions);
    checked.map(|checked| matches!(checked.support, Support::Supported { .. })).collect()
}

#[test]
fn chat_messages_with_tool_calls_are_read() {
    let text = r#"[
        {"role": "system", "content": "You are a coder."},
        {"role": "user", "content": [{"type": "text", "text": "Write notes.md, and run the tests."}]},
        {"role": "assistant", "content": null, "tool_calls": [
            {"id": "1", "type": "function", "function": {"name": "write_file", "arguments": "{\"path\": \"notes.md\", \"content\": \"x\"}"}},
            {"id": "2", "type": "function", "function": {"name": "shell", "arguments": "{\"command\": [\"bash\", \"-lc\", \"cargo test\"]}"}}]},
        {"role": "tool", "tool_call_id": "1", "content": "ok"},
        {"role": "tool", "tool_call_id": "2", "content": "{\"output\": \"test result: ok. 4 passed; 0 failed\", \"exit_code\": 0}"},
        {"role": "assistant", "content": "I wrote notes.md. All tests pass. I also deleted old.md."}]"#;
    assert_eq!(supported(text), [true, true, false]);
}

#[test]
fn messages_with_tool_blocks_are_read_and_a_line_may_hold_one() {
    let text = r#"{"role": "user", "content": "Look at a.txt."}
{"role": "assistant", "content": [{"type": "text", "text": "I will look."}, {"type": "tool_use", "id": "t1", "name": "Read", "input": {"file_path": "a.txt", "limit": 10}}]}
{"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t1", "content": [{"type": "text", "text": "one line"}]}]}
{"role": "assistant", "content": [{"type": "text", "text": "I read a.txt. I have read the whole file a.txt."}]}"#;
    // Ten lines of a file are no whole file.
    assert_eq!(supported(text), [true, false]);
}

#[test]
fn a_result_that_is_an_error_or_is_missing_supports_nothing() {
    let of = |result: &str| {
        format!(
            r#"[{{"role": "assistant", "content": [{{"type": "tool_use", "id": "t", "name": "str_replace_based_edit_tool", "input": {{"command": "create", "path": "b.md"}}}}]}},
            {result} {{"role": "assistant", "content": "I created b.md."}}]"#
        )
    };
    let gave = |more: &str| {
        of(&format!(
            r#"{{"role": "user", "content": [{{"type": "tool_result", "tool_use_id": "t", "content": "ok"{more}}}]}},"#
        ))
    };
    assert_eq!(supported(&gave("")), [true]);
    assert_eq!(supported(&gave(r#", "is_error": true"#)), [false]);
    assert_eq!(supported(&of("")), [false]);
    // A result for another call is none of this one.
    assert_eq!(supported(&gave("").replace(r#""tool_use_id": "t""#, r#""tool_use_id": "u""#)), [false]);
    let found = read(&of("")).unwrap();
    assert_eq!(mast_kernel::effect::states(&found.receipts)[0].1, EffectState::Unknown);
}

#[test]
fn what_is_no_transcript_says_what_is_missing() {
    assert!(matches!(read("{\"messages\": ["), Err(NotATranscript::Json { line: 1, .. })));
    assert_eq!(read("[]"), Err(NotATranscript::NoMessages));
    assert_eq!(read("17"), Err(NotATranscript::NoMessages));
    let second = "{\"role\": \"user\", \"content\": \"a\"}\n{\"role\"";
    assert!(matches!(read(second), Err(NotATranscript::Json { line: 2, .. })));
    let no_role = "[{\"role\": \"user\", \"content\": \"a\"}, {\"content\": \"b\"}]";
    assert_eq!(read(no_role), Err(NotATranscript::NoRole { number: 2 }));
}

#[test]
fn a_transcript_of_many_calls_is_read_without_end_of_patience() {
    // Each message is held against all calls before it; what they did is asked only where it matters.
    let mut lines = String::new();
    for number in 0..600 {
        lines += &format!(
            "{{\"role\": \"assistant\", \"content\": \"I wrote a{number}.md.\", \"tool_calls\": [{{\"id\": {number}, \
             \"function\": {{\"name\": \"write_file\", \"arguments\": \"{{\\\"path\\\": \\\"a{}.md\\\"}}\"}}}}]}}\n\
             {{\"role\": \"tool\", \"tool_call_id\": {number}, \"content\": \"ok\"}}\n",
            number + 1
        );
    }
    // Each file was written one message before it is spoken of; the first one never was.
    assert_eq!(supported(&lines).iter().filter(|supported| **supported).count(), 599);
}

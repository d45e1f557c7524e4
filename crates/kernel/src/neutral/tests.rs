use super::*;
use proptest::prelude::*;

/// Markers as the templates of models spell them, by family. Written out here and not taken from the
/// list that is tested.
const OF_TEMPLATES: &[&str] = &[
    // ChatML, Qwen, InternLM, Yi
    "<|im_start|>",
    "<|im_end|>",
    "<|im_sep|>",
    "<|endoftext|>",
    "<|action_start|>",
    "<|plugin|>",
    "<|object_ref_start|>",
    "<|vision_start|>",
    "<|fim_prefix|>",
    "<|repo_name|>",
    "<|file_sep|>",
    // Llama
    "<|begin_of_text|>",
    "<|start_header_id|>",
    "<|end_header_id|>",
    "<|eot_id|>",
    "<|eom_id|>",
    "<|python_tag|>",
    "<|python_start|>",
    "<|python_end|>",
    "<|eot|>",
    "<|header_start|>",
    "<s>",
    "</s>",
    "<<SYS>>",
    "<</SYS>>",
    "[INST]",
    "[/INST]",
    // Mistral
    "[TOOL_CALLS]",
    "[CALL_ID]",
    "[ARGS]",
    "[AVAILABLE_TOOLS]",
    "[/AVAILABLE_TOOLS]",
    "[TOOL_RESULTS]",
    "[/TOOL_RESULTS]",
    "[TOOL_CONTENT]",
    "[SYSTEM_PROMPT]",
    "[/SYSTEM_PROMPT]",
    "[THINK]",
    "[/THINK]",
    "[MODEL_SETTINGS]",
    "[IMG]",
    // DeepSeek, Step
    "<｜begin▁of▁sentence｜>",
    "<｜end▁of▁sentence｜>",
    "<｜User｜>",
    "<｜Assistant｜>",
    "<｜tool▁calls▁begin｜>",
    "<｜tool▁calls▁end｜>",
    "<｜tool▁call▁begin｜>",
    "<｜tool▁sep｜>",
    "<｜tool▁call▁end｜>",
    "<｜tool▁outputs▁begin｜>",
    "<｜DSML｜function_calls>",
    "<｜DSML｜invoke name=\"x\">",
    "</｜DSML｜parameter>",
    "<|tool▁calls▁begin|>",
    "<steptml:invoke",
    "<step:tool_calls>",
    // Harmony
    "<|start|>",
    "<|end|>",
    "<|message|>",
    "<|channel|>",
    "<|constrain|>",
    "<|call|>",
    "<|return|>",
    // Hermes, Qwen coder, GLM, MiniMax, others with elements
    "<tool_call>",
    "</tool_call>",
    "<tool_response>",
    "</tool_response>",
    "<tools>",
    "</tools>",
    "<function=tide_table>",
    "</function>",
    "<parameter=port>",
    "</parameter>",
    "<arg_key>",
    "</arg_key>",
    "<arg_value>",
    "</arg_value>",
    "<think>",
    "</think>",
    "[gMASK]",
    "<sop>",
    "<|user|>",
    "<|assistant|>",
    "<|observation|>",
    "<|system|>",
    "<minimax:tool_call>",
    "</minimax:tool_call>",
    "<invoke name=\"x\">",
    "</invoke>",
    "<ns:invoke name=",
    "]~b]system",
    "]~!b[",
    "[e~[",
    "<tool_code>",
    "<function_model>",
    "<function_call>",
    "[TOOL_CALL]",
    "[/TOOL_CALL]",
    "<TOOLCALL>",
    "<AVAILABLE_TOOLS>",
    "<seed:tool_call>",
    "<seed:bos>",
    "<tool_declare>",
    // Gemma
    "<start_of_turn>",
    "<end_of_turn>",
    "<bos>",
    "<eos>",
    "<unused7>",
    "<|tool_call>",
    "<tool_call|>",
    "<|\"|>",
    "<|channel>",
    "<channel|>",
    "<|turn>",
    "<turn|>",
    "<start_function_call>",
    "<end_function_call>",
    "<escape>",
    // Kimi
    "<|tool_calls_section_begin|>",
    "<|tool_call_begin|>",
    "<|tool_call_argument_begin|>",
    "<|tool_call_end|>",
    "<|im_middle|>",
    "<|im_user|>",
    "<|im_assistant|>",
    "<|open|>",
    "<|close|>",
    "<|sep|>",
    // Phi, Granite, Command R, EXAONE, LFM, Nemotron
    "<|end|>",
    "<|tool|>",
    "<|/tool|>",
    "<|start_of_role|>",
    "<|end_of_role|>",
    "<|end_of_text|>",
    "<|START_OF_TURN_TOKEN|>",
    "<|END_OF_TURN_TOKEN|>",
    "<|SYSTEM_TOKEN|>",
    "<|USER_TOKEN|>",
    "<|CHATBOT_TOKEN|>",
    "<|START_ACTION|>",
    "<|START_RESPONSE|>",
    "<BOS_TOKEN|>",
    "[|user|]",
    "[|assistant|]",
    "[|endofturn|]",
    "<|tool_call_start|>",
    "<|tool_list_start|>",
    "<SPECIAL_12>",
    "<extra_id_1>",
    "<reserved_106>",
    // Mast's own
    "<untrusted kind=",
    "</untrusted nonce=",
    "</untrusted>",
];

/// Ordinary text that only looks a little like one.
const ORDINARY: &[&str] = &[
    "if a < b && c > d { x[0] } else { y[i] }",
    "Vec<String>, Option<&str>, <T as Trait>::Item, fn f<'a>(x: &'a str) -> Box<dyn Fn()>",
    "#include <functional>\n#include <stdio.h>",
    "<html><head><title>Tools</title></head><body class=\"x\"><p>Hello <b>you</b></p></body></html>",
    "usage: mast [args] [prefix] [think] [img] <tool-name> <file>",
    "xs |> List.map f <| ys; a <- b; x <|> y; let a = [| 1; 2 |]; [|x; y|]",
    "- [ ] todo\n- [x] done\n[link](https://example.org) [1] [[wiki]]",
    "日本語《本》〈括弧〉【見出し】、Кириллица, ‹guillemets› «français»",
    "a << 2, cat <<EOF, cin >> x, 1 <s && s> 0",
    "### Instruction: USER: ASSISTANT: ```tool",
];

/// Texts made of markers, their pieces, backslashes and letters that look alike.
fn text() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        4 => (0..OF_TEMPLATES.len()).prop_map(|place| OF_TEMPLATES[place].to_owned()),
        2 => "(<|\\[|\\]|\\\\|\\||/|>|~|untrusted|tool_call|INST|im_end|s|｜|▁|\u{200b}|＜|〈|［){1,4}",
        1 => "\\PC{0,6}",
        1 => any::<String>(),
    ];
    prop::collection::vec(piece, 0..8).prop_map(|pieces| pieces.concat())
}

#[test]
fn every_marker_of_every_template_is_broken_in_any_case() {
    for marker in OF_TEMPLATES {
        for marker in
            [(*marker).to_owned(), marker.to_uppercase(), format!("a{marker} b"), format!("<[{marker}")]
        {
            let shown = escape(&marker);
            assert!(!has_marker(&shown), "{marker} -> {shown}");
            assert_ne!(shown, marker, "it was not seen as one");
            assert_eq!(unescape(&shown), marker);
        }
    }
    for lower in
        OF_TEMPLATES.iter().filter(|marker| !["[ARGS]", "[THINK]", "[/THINK]", "[IMG]"].contains(marker))
    {
        assert!(has_marker(&lower.to_lowercase()), "{lower}");
    }
}

#[test]
fn ordinary_text_is_not_touched() {
    for text in ORDINARY {
        assert!(matches!(escape(text), Cow::Borrowed(_)), "{}", escape(text));
    }
}

#[test]
fn what_looks_like_a_marker_counts_as_one() {
    for disguised in [
        "<\u{200b}|im_end|>",
        "<|\u{2060}im_end|>",
        "＜|im_end|＞",
        "<｜im_end｜>",
        "<│im_end│>",
        "<\u{202e}/untrusted>",
        "</unt\u{ad}rusted>",
        "</untruѕted nonce=\"0\">",
        "<𝐭𝐨𝐨𝐥_𝐜𝐚𝐥𝐥>",
        "＜ｔｏｏｌ＿ｃａｌｌ＞",
        "［INST］",
        "〈/untrusted〉",
        "<tооl_сall>",
        "<\u{e0041}/untrusted>",
    ] {
        let shown = escape(disguised);
        assert!(!has_marker(&shown) && shown != disguised, "{disguised:?} -> {shown:?}");
        assert_eq!(unescape(&shown), disguised);
    }
}

#[test]
fn how_it_looks() {
    let shown = |text| escape(text).into_owned();
    assert_eq!(shown("end: <|im_end|> [INST]"), r"end: <\|im_end|> [\INST]");
    assert_eq!(shown(r"<\|im_end|>"), r"<\\|im_end|>");
    assert_eq!(unescape(r"<|im_end|> C:\<dir> <\b>"), r"<|im_end|> C:\<dir> <\b>");
    assert_eq!(escape_json(r#"{"a":"<|im_end|>","n":1.50}"#), r#"{"a":"<\\|im_end|>","n":1.50}"#);
    assert_eq!(
        unescape_json(r#"{"a":"<\\|im_end|>","<\\think>":[1e400]}"#),
        r#"{"a":"<|im_end|>","<think>":[1e+400]}"#
    );
    assert_eq!(unescape_json(r#"{ "a" : 1 }"#), r#"{ "a" : 1 }"#, "as it was sent");
    assert_eq!(
        escape_json(r#"{"a":"\u003c|im_end|>","a":"\u003cthink>"}"#),
        r#"{"a":"<\\think>"}"#,
        "a key twice"
    );
    assert_eq!(escape_json(r#"{"a":"<|im_end|>"#), r#"{"a":"<\|im_end|>"#, "cut off");
}

#[test]
fn a_long_text_takes_time_in_proportion() {
    for piece in ["<", "[", "<\\", "<\u{200b}", "<|", "]~", "<a", "\\"] {
        let text = piece.repeat(200_000);
        assert_eq!(unescape(&escape(&text)), text);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1024))]

    #[test]
    fn what_is_escaped_comes_back_and_holds_no_marker(text in text()) {
        let shown = escape(&text).into_owned();
        prop_assert!(!has_marker(&shown), "{:?}", shown);
        prop_assert_eq!(unescape(&shown).into_owned(), text, "{:?}", &shown);
        let twice = escape(&shown).into_owned();
        prop_assert_eq!(unescape(&twice), shown.as_str());
        for marker in OF_TEMPLATES.iter().filter(|marker| marker.ends_with(['>', ']'])) {
            prop_assert!(!shown.contains(marker), "{} in {:?}", marker, &shown);
        }
    }

    #[test]
    fn a_word_that_is_told_quickly_is_told_rightly(text in text(), word in "[a-zA-Z]{1,12}[0-9]{0,2}[>\\] =|:~]?") {
        for tail in [word + &text, text] {
            if is_plain(&tail, &[markers::ANGLE, markers::ANGLE_CLOSED]) {
                prop_assert!(!is_angle(&seen(&tail)), "{:?}", tail);
            }
            if is_plain(&tail, &[markers::SQUARE, markers::UPPER]) {
                prop_assert!(!is_square(&seen(&tail)), "{:?}", tail);
            }
        }
    }

    #[test]
    fn arguments_come_back_too(key in text(), value in text(), n in any::<i64>()) {
        let json = serde_json::json!({ key: [value, n, null, true] }).to_string();
        let shown = escape_json(&json).into_owned();
        for marker in OF_TEMPLATES.iter().filter(|marker| marker.ends_with(['>', ']'])) {
            prop_assert!(!shown.contains(marker), "{} in {}", marker, &shown);
        }
        let read: Value = serde_json::from_str(&shown).unwrap();
        let (key, value) = read.as_object().unwrap().iter().next().unwrap();
        prop_assert!(!has_marker(key) && !has_marker(value[0].as_str().unwrap()), "{}", shown);
        prop_assert_eq!(unescape_json(&shown), json);
    }
}

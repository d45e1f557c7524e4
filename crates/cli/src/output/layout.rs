//! Columns and widths: pure functions from values to lines, so that a test compares whole lines.
//! A terminal may have 40 columns; what does not fit is cut with `…`. What a person is to judge is wrapped
//! instead, so that every line after the first is indented: nothing in it can pass for a row of its own.

use console::measure_text_width;

/// Narrowest terminal that lines are laid out for.
pub(crate) const WIDTH_MIN: usize = 40;
/// Narrowest terminal that a question is laid out for.
pub(crate) const CARD_MIN: usize = 16;
/// Widest that lines become: longer ones are hard to follow with the eye.
pub(crate) const WIDTH_MAX: usize = 120;
/// Where there is no terminal.
pub(crate) const WIDTH_DEFAULT: usize = 100;

/// Fewest columns that a text is wrapped to.
const WRAP_MIN: usize = 8;

/// The text, cut to so many columns; what was cut ends in `…`.
pub(crate) fn cut(text: &str, columns: usize) -> String {
    if measure_text_width(text) <= columns {
        return text.to_owned();
    }
    let mut shown = String::new();
    let mut taken = 0;
    for character in text.chars() {
        let wide = measure_text_width(character.encode_utf8(&mut [0; 4]));
        if taken + wide + 1 > columns {
            break;
        }
        taken += wide;
        shown.push(character);
    }
    shown.push('…');
    shown
}

/// The text, filled with spaces to so many columns.
pub(crate) fn pad(text: &str, columns: usize) -> String {
    let missing = columns.saturating_sub(measure_text_width(text));
    format!("{text}{}", " ".repeat(missing))
}

/// The text in lines of so many columns. What has no width of its own stays with the character that it
/// belongs to, so that a line shows by itself what it shows in the whole.
pub(crate) fn wrap(text: &str, columns: usize) -> Vec<String> {
    let columns = columns.max(WRAP_MIN);
    let (mut lines, mut current, mut taken) = (Vec::new(), String::new(), 0);
    let mut rest = text.chars().peekable();
    while let Some(first) = rest.next() {
        let mut cluster = String::from(first);
        let mut last = first;
        while let Some(next) = rest.next_if(|next| last == '\u{200d}' || columns_of(*next) == 0) {
            cluster.push(next);
            last = next;
        }
        // Terminals differ in what they join: the widest of them must not break the line.
        let apart: usize = cluster.chars().map(columns_of).sum();
        let wide = apart.max(measure_text_width(&cluster));
        if taken + wide > columns && !current.is_empty() {
            let begun = begun_word(&current, columns);
            lines.push(std::mem::replace(&mut current, begun));
            if let Some(line) = lines.last_mut() {
                line.truncate(line.len() - current.len());
            }
            taken = current.chars().map(columns_of).sum::<usize>().max(measure_text_width(&current));
        }
        current.push_str(&cluster);
        taken += wide;
    }
    lines.push(current);
    lines
}

/// The word that a full line ends in, if it is begun in the line's second half and can go to the next.
fn begun_word(line: &str, columns: usize) -> String {
    let Some((before, word)) = line.rsplit_once(' ') else { return String::new() };
    if measure_text_width(before) < columns / 2 { String::new() } else { word.to_owned() }
}

fn columns_of(character: char) -> usize {
    measure_text_width(character.encode_utf8(&mut [0; 4]))
}

/// A name and its value as lines: the value stands in a column of its own, and so does all that does not
/// fit. A name that is too long for its column comes first, on lines of its own.
pub(crate) fn row(name: &str, value: &str, (name_columns, width): (usize, usize)) -> Vec<String> {
    let indent = " ".repeat(name_columns);
    let room = width.saturating_sub(name_columns);
    let mut lines = Vec::new();
    let mut head = pad(name, name_columns);
    if measure_text_width(name) >= name_columns {
        let is_one_line = measure_text_width(name) <= width;
        for part in wrap(name, if is_one_line { width } else { room }) {
            let indented = if lines.is_empty() { part } else { format!("{indent}{part}") };
            lines.push(indented);
        }
        head.clone_from(&indent);
    }
    for part in wrap(value, room) {
        lines.push(format!("{}{part}", std::mem::replace(&mut head, indent.clone())));
    }
    lines
}

/// Rows as aligned columns, two spaces between them. The last column is cut to the width.
pub(crate) fn table(rows: &[Vec<String>], width: usize) -> Vec<String> {
    let n_columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let widest = |place: usize| {
        let cells = rows.iter().filter(|row| row.len() > place + 1).filter_map(|row| row.get(place));
        cells.map(|cell| measure_text_width(cell)).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..n_columns).map(widest).collect();
    rows.iter().map(|row| table_row(row, &widths, width)).collect()
}

fn table_row(row: &[String], widths: &[usize], width: usize) -> String {
    let mut line = String::new();
    let mut used = 0;
    for (place, (cell, column)) in row.iter().zip(widths).enumerate() {
        if place + 1 == row.len() {
            line.push_str(&cut(cell, width.saturating_sub(used)));
        } else {
            line.push_str(&pad(cell, *column));
            line.push_str("  ");
            used += column + 2;
        }
    }
    line.trim_end().to_owned()
}

/// A duration as a person reads it: `<1 ms`, `1 ms`, `8.4 s`, `2 min`.
pub(crate) fn millis(millis: u64) -> String {
    match millis {
        0 => "<1 ms".to_owned(),
        1..1_000 => format!("{millis} ms"),
        1_000..60_000 => format!("{}.{} s", millis / 1_000, millis % 1_000 / 100),
        _ => format!("{} min", millis / 60_000),
    }
}

/// A number with its noun: `1 tool call`, `2 tool calls`.
pub(crate) fn count(n: u64, noun: &str) -> String {
    if n == 1 { format!("1 {noun}") } else { format!("{n} {noun}s") }
}

/// The line of one call: `  math.calculate  17 * 23        allowed · pure computation     1 ms`.
/// The arguments give way first, then the reason.
pub(crate) fn call_line(tool: &str, summary: &str, judged: &str, took: &str, width: usize) -> String {
    let (tool_max, tool_columns) = if width < 60 { (14, 14) } else { (32, 20) };
    let tool = pad(&cut(tool, tool_max), tool_columns);
    let took = if took.is_empty() { String::new() } else { format!("{took:>8}") };
    let fixed = 2 + measure_text_width(&tool) + 2 + measure_text_width(&took);
    let room = width.saturating_sub(fixed);
    let judged_room = measure_text_width(judged).min(room.saturating_sub(10)).max(8);
    let judged = pad(&cut(judged, judged_room), judged_room.max(JUDGED_COLUMNS.min(room / 2)));
    let summary_room = room.saturating_sub(measure_text_width(&judged) + 2);
    let summary = pad(&cut(summary, summary_room), summary_room);
    format!("  {tool}  {summary}  {judged}{took}").trim_end().to_owned()
}

/// Columns of the decision in a call's line, where there is room for them.
const JUDGED_COLUMNS: usize = 30;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_fits_every_width() {
        for width in [40, 50, 60, 80, 100, 120] {
            for (tool, summary) in [
                ("math.calculate", "17 * 23"),
                ("mcp.a_server.with_a_long_name", "日本語日本語日本語日本語日本語"),
            ] {
                let line = call_line(tool, summary, "allowed · pure computation", "1 ms", width);
                assert_eq!(measure_text_width(&line), width, "{line}");
            }
        }
    }

    #[test]
    fn the_lines_of_a_run() {
        let lines = [
            call_line("math.calculate", "17 * 23", "allowed · pure computation", "1 ms", 100),
            call_line("demo.external_write", "ops", "asks · you are always asked", "", 80),
            call_line(
                "math.calculate",
                "(1 + 2) * (3 + 4) * (5 + 6)",
                "allowed · pure computation",
                "1 ms",
                60,
            ),
        ];
        expect_test::expect![[r#"
            |  math.calculate        17 * 23                               allowed · pure computation        1 ms|
            |  demo.external_write   ops                         asks · you are always asked|
            |  math.calculate        (1 + 2)…  allowed · pure co…    1 ms|"#]].assert_eq(&lines.map(|line| format!("|{line}|")).join("\n"));
    }

    #[test]
    fn a_table_is_aligned_and_cut() {
        let rows = [["run_1", "completed", "a long last column"], ["run_22", "failed", "short"]]
            .map(|row| row.map(str::to_owned).to_vec());
        assert_eq!(table(&rows, 30), ["run_1   completed  a long las…", "run_22  failed     short"]);
    }

    #[test]
    fn nothing_in_a_value_or_a_name_begins_where_rows_begin() {
        let forged = format!("\"x{}why asked   you asked for it", " ".repeat(200));
        for width in [20, 40, 80] {
            for (name, value) in [("content =", forged.as_str()), (forged.as_str(), "1")] {
                let lines = row(name, value, (12, width));
                assert!(lines.len() > 3, "{lines:?}");
                for line in &lines {
                    assert!(measure_text_width(line) <= width, "{width}: {line}");
                }
                assert!(lines.iter().skip(1).all(|line| line.starts_with(&" ".repeat(12))), "{lines:?}");
                let shown: String = lines.concat().replace(' ', "");
                assert!(shown.contains("whyaskedyouaskedforit"), "{shown}");
            }
        }
    }

    #[test]
    fn a_line_is_never_wider_than_asked_and_takes_no_mark_from_its_letter() {
        for text in
            ["❤\u{fe0f}".repeat(60), "e\u{301}".repeat(90), "👩\u{200d}👧".repeat(40), "日本".repeat(50)]
        {
            let lines = wrap(&text, 31);
            assert_eq!(lines.concat(), text);
            for line in lines {
                assert!(measure_text_width(&line) <= 31, "{line}");
                assert_eq!(super::super::line(&line), line);
            }
        }
    }

    #[test]
    fn durations_and_counts() {
        assert_eq!([0, 1, 8_449, 125_000].map(millis), ["<1 ms", "1 ms", "8.4 s", "2 min"]);
        assert_eq!([count(1, "tool call"), count(0, "tool call")], ["1 tool call", "0 tool calls"]);
    }
}

//! What happens when a server does not do what it should, on every provider that speaks HTTP.

use std::time::Duration;

use mast_kernel::limits;
use mast_provider::{Entry, Need, PROVIDERS, ProviderConfig, ProviderError, StreamEvent, TimeLimit, build};
use serde_json::json;

use crate::server::{Answer, Server, Then};
use crate::world::{KEY, ask, assert_no_key, config, request};

fn remote() -> impl Iterator<Item = &'static Entry> {
    PROVIDERS.iter().filter(|entry| entry.needs.contains(&Need::BaseUrl))
}

fn text_stream(entry: &Entry) -> Vec<u8> {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(entry.name);
    std::fs::read(folder.join("text.sse")).unwrap()
}

/// A stream that ends after its first word.
pub(crate) fn begun_stream(entry: &Entry) -> Vec<u8> {
    let whole = String::from_utf8(text_stream(entry)).unwrap();
    let (before, after) = whole.split_once("Wave").unwrap();
    let (event, _) = after.split_once("\n\n").unwrap();
    format!("{before}Wave{event}\n\n").into_bytes()
}

/// The code of the failure, what was heard before, how often it was asked, and the waits between.
async fn fail(
    entry: &Entry,
    answers: Vec<Answer>,
) -> (ProviderError, Vec<StreamEvent>, usize, Vec<Duration>) {
    let server = Server::start(answers).await;
    let (config, noted) = config(&server.url);
    let provider = build(entry.name, &config).unwrap();
    let (came, heard) = ask(provider.as_ref(), &request("Go.")).await;
    let error = came.unwrap_err();
    assert_no_key(&error);
    (error, heard, server.asked().len(), noted.waits())
}

fn busy(status: u16) -> Answer {
    Answer::json(status, &json!({"error": {"message": "busy", "type": "rate_limit_error"}}))
}

#[tokio::test]
async fn a_rate_limit_is_waited_for_as_told() {
    for entry in remote() {
        let answers = vec![
            busy(429).header("retry-after", "7"),
            busy(429)
                .header("date", "Sun, 06 Nov 1994 08:49:37 GMT")
                .header("retry-after", "Sun, 06 Nov 1994 08:49:40 GMT"),
            Answer::stream(text_stream(entry)),
        ];
        let server = Server::start(answers).await;
        let (config, noted) = config(&server.url);
        let provider = build(entry.name, &config).unwrap();
        let (came, _) = ask(provider.as_ref(), &request("Go.")).await;
        assert!(came.unwrap().text.starts_with("Waves"));
        assert_eq!(noted.waits(), [Duration::from_secs(7), Duration::from_secs(3)]);
        assert_eq!(server.asked().len(), 3);
    }
}

#[tokio::test]
async fn a_limit_longer_than_patience_is_reported_at_once() {
    for entry in remote() {
        let (error, _, n_asked, waits) = fail(entry, vec![busy(429).header("retry-after", "3600")]).await;
        assert_eq!((error.code(), n_asked, waits.len()), ("rate_limited", 1, 0));
        assert!(error.to_string().contains("again in 3600 s"), "{error}");
    }
}

#[tokio::test]
async fn a_server_that_fails_is_asked_three_times() {
    for entry in remote() {
        let (error, heard, n_asked, waits) = fail(entry, vec![busy(500), busy(503), busy(529)]).await;
        assert!(matches!(error, ProviderError::ServerFailed { status: 529, .. }), "{error}");
        assert_eq!((heard.len(), n_asked), (0, 3));
        assert_eq!(waits, [Duration::from_millis(250), Duration::from_millis(500)]);
    }
}

#[tokio::test]
async fn what_stays_wrong_is_not_asked_again() {
    for entry in remote() {
        for status in [400, 401, 403, 404, 413, 307] {
            let said = json!({"error": {"message": format!("wrong: {KEY}\n\u{1b}[31mred")}});
            let answer = Answer::json(status, &said).header("location", "http://127.0.0.1:9/elsewhere");
            let (error, _, n_asked, _) = fail(entry, vec![answer]).await;
            assert_eq!(n_asked, 1, "{status}");
            let expected = if matches!(status, 401 | 403) { "authentication" } else { "invalid_request" };
            assert_eq!(error.code(), expected, "{status}");
            assert!(!error.to_string().contains('\u{1b}'), "{error}");
        }
    }
}

#[tokio::test]
async fn a_stream_that_breaks_off_is_not_asked_for_again() {
    for entry in remote() {
        let half = begun_stream(entry);
        for then in [Then::Close, Then::BreakOff] {
            let (error, heard, n_asked, _) = fail(entry, vec![Answer::stream(half.clone()).then(then)]).await;
            assert_eq!((error.code(), n_asked), ("cut_short", 1), "{}: {then:?}", entry.name);
            assert!(matches!(heard.first(), Some(StreamEvent::TextDelta(_))), "{heard:?}");
            assert!(!heard.iter().any(|event| matches!(event, StreamEvent::Done(_))));
        }
    }
}

#[tokio::test]
async fn a_stream_that_breaks_off_before_its_first_word_is_asked_for_again() {
    for entry in remote() {
        let answers = vec![
            Answer::stream(": hello\n\n").then(Then::BreakOff),
            Answer::new(200, "text/event-stream", ""),
            Answer::stream(text_stream(entry)),
        ];
        let server = Server::start(answers).await;
        let provider = build(entry.name, &config(&server.url).0).unwrap();
        let (came, _) = ask(provider.as_ref(), &request("Go.")).await;
        assert!(came.unwrap().text.starts_with("Waves"), "{}", entry.name);
        assert_eq!(server.asked().len(), 3);
    }
}

/// Asks a server that hangs, under these limits of time.
async fn hang(entry: &Entry, answer: Answer, idle_ms: u64, total_ms: u64) -> (ProviderError, usize) {
    let server = Server::start(vec![answer.then(Then::Hang)]).await;
    let (mut config, _) = config(&server.url);
    config.time.idle = Duration::from_millis(idle_ms);
    config.time.total = Duration::from_millis(total_ms);
    let provider = build(entry.name, &config).unwrap();
    let (came, _) = ask(provider.as_ref(), &request("Go.")).await;
    (came.unwrap_err(), server.asked().len())
}

#[tokio::test]
async fn silence_ends_a_request() {
    for entry in remote() {
        let half = Answer::stream(begun_stream(entry));
        let (error, n_asked) = hang(entry, half.clone(), 40, 60_000).await;
        assert!(matches!(error, ProviderError::Timeout { limit: TimeLimit::Idle, .. }), "{error}");
        assert_eq!(n_asked, 1, "half a reply was heard");
        let (error, n_asked) = hang(entry, Answer::stream(""), 40, 60_000).await;
        assert_eq!((error.code(), n_asked), ("timeout", 3), "nothing was heard");
        let (error, _) = hang(entry, half, 60_000, 80).await;
        assert!(matches!(error, ProviderError::Timeout { limit: TimeLimit::Total, .. }), "{error}");
        assert_no_key(&error);
    }
}

#[tokio::test]
async fn a_whole_reply_is_taken_though_the_connection_stays_open() {
    for entry in remote() {
        let server = Server::start(vec![Answer::stream(text_stream(entry)).then(Then::Hang)]).await;
        let provider = build(entry.name, &config(&server.url).0).unwrap();
        let (came, _) = ask(provider.as_ref(), &request("Go.")).await;
        assert!(came.unwrap().text.starts_with("Waves"));
    }
}

#[tokio::test]
async fn nobody_there() {
    for entry in remote() {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        drop(listener);
        let (config, noted) = config(&format!("http://{address}/v1?api=secret-query"));
        let provider = build(entry.name, &config).unwrap();
        let (came, _) = ask(provider.as_ref(), &request("Go.")).await;
        let error = came.unwrap_err();
        assert_no_key(&error);
        assert!(error.is_unreachable());
        assert_eq!(
            error.to_string(),
            format!(
                "the model at http://{address} does not answer (connection refused); start it, correct \
                 `base_url`, or use `--provider offline`"
            )
        );
        assert_eq!(noted.waits().len(), 2);
    }
}

#[tokio::test]
async fn a_server_without_https_is_not_spoken_to() {
    for entry in remote() {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("https://{}/v1", listener.local_addr().unwrap());
        let (hello, hellos) = tokio::sync::oneshot::channel();
        tokio::spawn(async move {
            let (mut socket, _) = listener.accept().await.unwrap();
            let mut first = [0; 1];
            tokio::io::AsyncReadExt::read_exact(&mut socket, &mut first).await.unwrap();
            hello.send(first[0]).unwrap();
        });
        let provider = build(entry.name, &config(&url).0).unwrap();
        let (came, _) = ask(provider.as_ref(), &request("Go.")).await;
        let error = came.unwrap_err();
        assert_no_key(&error);
        assert!(error.is_unreachable(), "{error}");
        assert_eq!(hellos.await, Ok(22), "a TLS handshake, not a request");
    }
}

#[tokio::test]
async fn a_line_without_end_is_refused() {
    for entry in remote() {
        let mut line = b"data: ".to_vec();
        line.resize(limits::REPLY_BYTES_MAX + 1, b'x');
        let (error, heard, n_asked, _) = fail(entry, vec![Answer::stream(line)]).await;
        assert_eq!((error.code(), heard.len(), n_asked), ("too_large", 0, 1));
        let body = vec![b' '; limits::REPLY_BYTES_MAX + 1];
        let (error, ..) = fail(entry, vec![Answer::new(200, "application/json", body)]).await;
        assert_eq!(error.code(), "too_large");
    }
}

#[tokio::test]
async fn what_is_no_reply_at_all() {
    for entry in remote() {
        let page = Answer::new(200, "text/html", "<html>Sign in</html>");
        let (error, _, n_asked, _) = fail(entry, vec![page]).await;
        assert_eq!((error.code(), n_asked), ("protocol", 1), "{error}");
        let (error, ..) = fail(entry, vec![Answer::stream(b"data: \xff\n\n".to_vec())]).await;
        assert_eq!(error.code(), "protocol");
        let long = Answer::new(400, "text/plain", "y".repeat(200_000));
        let (error, ..) = fail(entry, vec![long]).await;
        assert!(error.to_string().len() < 600, "a server's words are cut");
    }
}

#[tokio::test]
async fn a_key_is_not_sent_in_the_clear() {
    for entry in remote() {
        let (config, _) = config("http://model.example/v1");
        assert!(build(entry.name, &config).is_err(), "{}", entry.name);
        let safe = ProviderConfig { base_url: Some("https://model.example/v1".to_owned()), ..config };
        assert!(build(entry.name, &safe).is_ok());
    }
}

use super::*;
use crate::contract::Discard;
use crate::fixture;

#[test]
fn recorded_streams() {
    let endpoint = fixture::endpoint(NAME);
    fixture::check_streams(NAME, || ChatDecoder::new(&Request::default(), &endpoint));
}

#[test]
fn recorded_bodies() {
    let endpoint = fixture::endpoint(NAME);
    fixture::check_bodies(NAME, || ChatDecoder::new(&Request::default(), &endpoint));
}

#[test]
fn errors_in_the_place_of_a_piece() {
    let endpoint = fixture::endpoint(NAME);
    let check = |piece: Value, code: &str, retryable: bool| {
        let mut decoder = ChatDecoder::new(&Request::default(), &endpoint);
        let error = decoder.piece(&piece, "delta", &mut Discard).unwrap_err();
        assert_eq!((error.code(), error.retryable()), (code, retryable), "{piece}: {error}");
    };
    check(json!({"error": {"message": "slow down", "code": 429}}), "rate_limited", true);
    check(json!({"error": {"message": "x", "type": "rate_limit_exceeded"}}), "rate_limited", true);
    check(json!({"error": {"message": "upstream", "code": 502}}), "server_failed", true);
    check(json!({"error": {"message": "x", "type": "server_error"}}), "server_failed", true);
    check(json!({"error": {"message": "too long", "code": "context_length_exceeded"}}), "stream", false);
    check(json!({"error": "model not found"}), "stream", false);
    check(json!({"object": "error", "message": "bad", "code": 400}), "stream", false);
}

#[test]
fn prices_are_whole_millionths() {
    assert_eq!(micro(0.000_014_25), Some(14));
    assert_eq!(micro(1.5), Some(1_500_000));
    assert_eq!(micro(f64::NAN), None);
    assert_eq!(micro(-1.0), None);
}

use super::*;
use crate::fixture;

#[test]
fn recorded_streams() {
    let endpoint = fixture::endpoint(NAME);
    fixture::check_streams(NAME, || MessageDecoder::new(&Request::default(), &endpoint));
}

#[test]
fn recorded_bodies() {
    let endpoint = fixture::endpoint(NAME);
    fixture::check_bodies(NAME, || MessageDecoder::new(&Request::default(), &endpoint));
}

#[test]
fn errors_in_the_place_of_an_event() {
    let endpoint = fixture::endpoint(NAME);
    let check = |kind: &str, code: &str, retryable: bool| {
        let decoder = MessageDecoder::new(&Request::default(), &endpoint);
        let event = json!({"type": "error", "error": {"type": kind, "message": "bad key sk-test-key"}});
        let error = decoder.error(&event);
        assert_eq!((error.code(), error.retryable()), (code, retryable), "{kind}");
        assert!(!format!("{error} {error:?}").contains("sk-test-key"), "{error}");
    };
    check("overloaded_error", "server_failed", true);
    check("api_error", "server_failed", true);
    check("rate_limit_error", "rate_limited", true);
    check("authentication_error", "authentication", false);
    check("permission_error", "authentication", false);
    check("invalid_request_error", "stream", false);
    check("request_too_large", "stream", false);
}

//! The one place that speaks HTTP: a POST with a JSON body, and the pieces of what comes back, bounded
//! in size and time.
//!
//! The client is built at the first request and not before: loading the root certificates takes tens
//! of milliseconds, which a run without a network should not pay. Redirects are not followed, since
//! they could carry the key to another host, and proxies of the environment are not used.

use std::error::Error as StdError;
use std::fmt;
use std::sync::OnceLock;
use std::time::Duration;

use mast_kernel::limits;
use reqwest::header::{CONTENT_TYPE, DATE, HeaderMap, HeaderValue, RETRY_AFTER};
use reqwest::{Client, Response, StatusCode, Url};
use serde_json::Value;

use crate::config::{BuildError, ProviderConfig, TimeLimits};
use crate::error::{ProviderError, TimeLimit};
use crate::secret::Secret;

/// How much of an error's body is read.
const ERROR_BYTES_MAX: usize = 65_536;
/// How much of a server's own words is shown.
const DETAIL_CHARS_MAX: usize = 400;
/// How much is read of one connection. Every few letters of a reply come in an envelope of their own,
/// so this is much more than a reply may hold; nothing of it is kept.
const WIRE_BYTES_MAX: usize = 64 * limits::REPLY_BYTES_MAX;

/// Where a provider is, and how it is asked.
pub(crate) struct Endpoint {
    provider: &'static str,
    url: Url,
    shown: String,
    headers: HeaderMap,
    key: Option<Secret>,
    time: TimeLimits,
    client: OnceLock<Client>,
}

/// The address may hold a query and the headers hold the key: neither is shown.
impl fmt::Debug for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Endpoint")
            .field("provider", &self.provider)
            .field("at", &self.shown)
            .finish_non_exhaustive()
    }
}

/// An answer whose status was good and whose body is still to be read.
pub(crate) struct Answer<'a> {
    endpoint: &'a Endpoint,
    response: Response,
    n_received: usize,
}

impl Endpoint {
    /// The address `path` under the configured one, with the key in a header that `key_header` makes.
    pub(crate) fn new(
        provider: &'static str,
        config: &ProviderConfig,
        base_url: &str,
        path: &str,
        mut headers: HeaderMap,
    ) -> Result<Self, BuildError> {
        let fault = |why| BuildError::BaseUrl { provider, why };
        let mut url = Url::parse(base_url).map_err(|_| fault("is not an address such as https://host/v1"))?;
        if !matches!(url.scheme(), "http" | "https") || url.host_str().is_none() {
            return Err(fault("must begin with http:// or https:// and name a host"));
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err(fault("must not hold a user name or password; use a key"));
        }
        if url.scheme() == "http" && config.key.is_some() && !is_near(&url) {
            return Err(fault("must begin with https:// since a key would be sent in the clear"));
        }
        url.set_path(&format!("{}{path}", url.path().trim_end_matches('/')));
        url.set_fragment(None);
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        let mut time = config.time;
        if !config.streaming {
            // Nothing comes until everything does.
            time.idle = time.total;
        }
        let port = url.port().map_or_else(String::new, |port| format!(":{port}"));
        let shown = format!("{}://{}{port}", url.scheme(), url.host_str().unwrap_or_default());
        let key = config.key.clone();
        Ok(Self { provider, url, shown, headers, key, time, client: OnceLock::new() })
    }

    /// Scheme, host and port.
    pub(crate) fn shown(&self) -> &str {
        &self.shown
    }

    /// Sends `body` and waits for a status. Any but a good one is an error.
    pub(crate) async fn post(&self, body: &Value) -> Result<Answer<'_>, ProviderError> {
        let client = self.client()?;
        let sent = client.post(self.url.clone()).headers(self.headers.clone()).body(body.to_string()).send();
        let response = self.within_idle(sent).await?.map_err(|fault| self.unsent(&fault))?;
        let answer = Answer { endpoint: self, response, n_received: 0 };
        if answer.response.status().is_success() { Ok(answer) } else { Err(answer.into_error().await) }
    }

    fn client(&self) -> Result<&Client, ProviderError> {
        if let Some(client) = self.client.get() {
            return Ok(client);
        }
        // Another part of the process may have chosen a TLS implementation before: then that one stands.
        drop(rustls::crypto::ring::default_provider().install_default());
        let built = Client::builder()
            .redirect(reqwest::redirect::Policy::none())
            // A proxy that the environment names would be shown the key and the whole prompt.
            .no_proxy()
            .connect_timeout(self.time.connect)
            .user_agent(concat!("mast/", env!("CARGO_PKG_VERSION")))
            .build()
            .map_err(|_| {
                self.unreachable("no HTTPS: the root certificates of this machine cannot be read")
            })?;
        Ok(self.client.get_or_init(|| built))
    }

    async fn within_idle<T>(&self, wait: impl Future<Output = T>) -> Result<T, ProviderError> {
        tokio::time::timeout(self.time.idle, wait).await.map_err(|_| ProviderError::Timeout {
            endpoint: self.shown.clone(),
            limit: TimeLimit::Idle,
            after: self.time.idle,
        })
    }

    fn unreachable(&self, why: &str) -> ProviderError {
        ProviderError::Unreachable { endpoint: self.shown.clone(), why: why.to_owned() }
    }

    /// Why a request was not answered. The library's own text is not used: it holds the address.
    fn unsent(&self, fault: &reqwest::Error) -> ProviderError {
        if fault.is_timeout() {
            return ProviderError::Timeout {
                endpoint: self.shown.clone(),
                limit: TimeLimit::Connect,
                after: self.time.connect,
            };
        }
        if fault.is_connect() { self.unreachable(reason(fault)) } else { self.cut_short("no answer came") }
    }

    fn cut_short(&self, what: &str) -> ProviderError {
        ProviderError::CutShort { provider: self.provider.to_owned(), what: what.to_owned() }
    }

    /// A server's own words: without the key, on one line, cut.
    pub(crate) fn detail(&self, text: &str) -> String {
        let scrubbed = self.key.as_ref().map_or_else(|| text.to_owned(), |key| key.scrub(text));
        one_line(&scrubbed)
    }
}

impl Answer<'_> {
    /// Whether it comes in pieces.
    pub(crate) fn is_event_stream(&self) -> bool {
        let kind = self.response.headers().get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
        kind.is_some_and(|kind| kind.to_ascii_lowercase().starts_with("text/event-stream"))
    }

    /// The next bytes; none at the end.
    pub(crate) async fn chunk(&mut self) -> Result<Option<impl AsRef<[u8]> + use<>>, ProviderError> {
        let endpoint = self.endpoint;
        let chunk = endpoint.within_idle(self.response.chunk()).await?;
        let chunk = chunk.map_err(|_| endpoint.cut_short("the connection ended"))?;
        let n_bytes = chunk.as_deref().map_or(0, <[u8]>::len);
        self.n_received = self.n_received.saturating_add(n_bytes);
        let limit = WIRE_BYTES_MAX;
        if self.n_received > limit {
            let provider = endpoint.provider.to_owned();
            return Err(ProviderError::TooLarge { provider, limit, what: "all bytes of the connection" });
        }
        Ok(chunk)
    }

    /// The whole body as JSON.
    pub(crate) async fn json(mut self) -> Result<Value, ProviderError> {
        let provider = self.endpoint.provider.to_owned();
        let mut body = Vec::new();
        while let Some(bytes) = self.chunk().await? {
            body.extend_from_slice(bytes.as_ref());
            if body.len() > limits::REPLY_BYTES_MAX {
                let limit = limits::REPLY_BYTES_MAX;
                return Err(ProviderError::TooLarge { provider, limit, what: "the whole body" });
            }
        }
        serde_json::from_slice(&body)
            .map_err(|_| ProviderError::Protocol { provider, what: "the body is not JSON".to_owned() })
    }

    async fn into_error(mut self) -> ProviderError {
        let (status, endpoint) = (self.response.status(), self.endpoint);
        let retry_after = retry_after(self.response.headers());
        let mut body = Vec::new();
        while body.len() < ERROR_BYTES_MAX {
            // What cannot be read of an error's body is left out: the status says enough.
            let Ok(Some(bytes)) = self.chunk().await else { break };
            body.extend_from_slice(bytes.as_ref());
        }
        let text = String::from_utf8_lossy(&body);
        let parsed: Value = serde_json::from_str(&text).unwrap_or(Value::Null);
        let said = message(&parsed).unwrap_or_else(|| text.trim().to_owned());
        let detail = endpoint.detail(if said.is_empty() { "no reason given" } else { &said });
        by_status(endpoint.provider, status, kind(&parsed), detail, retry_after)
    }
}

/// The error that a status stands for.
fn by_status(
    provider: &str,
    status: StatusCode,
    kind: &str,
    detail: String,
    retry_after: Option<Duration>,
) -> ProviderError {
    let provider = provider.to_owned();
    let is_redirect = status.is_redirection();
    match status.as_u16() {
        status @ (401 | 403) => ProviderError::Authentication { provider, status },
        // An empty account answers with the same status, and waiting does not fill it.
        429 if kind != "insufficient_quota" => ProviderError::RateLimited { provider, retry_after, detail },
        status @ (408 | 409 | 425 | 500..) => {
            ProviderError::ServerFailed { provider, status, detail, retry_after }
        }
        status if is_redirect => ProviderError::InvalidRequest {
            provider,
            status,
            detail: "it answered with a redirect, which is not followed; correct `base_url`".to_owned(),
        },
        status => ProviderError::InvalidRequest { provider, status, detail },
    }
}

/// The words of an error in the forms that servers use.
pub(crate) fn message(body: &Value) -> Option<String> {
    let error = body.get("error").unwrap_or(body);
    let said = error.get("message").or_else(|| error.get("detail")).unwrap_or(error);
    match said {
        Value::String(text) => Some(text.clone()),
        Value::Null => None,
        other => Some(other.to_string()),
    }
}

/// The server's name for an error.
pub(crate) fn kind(body: &Value) -> &str {
    let error = body.get("error").unwrap_or(body);
    let name = |field| error.get(field).and_then(Value::as_str);
    name("code").or_else(|| name("type")).unwrap_or_default()
}

/// On one line, without control characters, cut.
fn one_line(text: &str) -> String {
    let mut letters = text.chars().map(|letter| if letter.is_control() { ' ' } else { letter });
    let mut out: String = letters.by_ref().take(DETAIL_CHARS_MAX).collect();
    if letters.next().is_some() {
        out.push('…');
    }
    out.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Whether the host is this machine or an address of a private network.
fn is_near(url: &Url) -> bool {
    let host = url.host_str().unwrap_or_default().trim_matches(['[', ']']);
    match host.parse::<std::net::IpAddr>() {
        Ok(std::net::IpAddr::V4(address)) => address.is_loopback() || address.is_private(),
        Ok(std::net::IpAddr::V6(address)) => address.is_loopback() || address.is_unique_local(),
        Err(_) => host == "localhost",
    }
}

/// Why there is no connection, in a few words.
fn reason(fault: &reqwest::Error) -> &'static str {
    let mut cause: Option<&(dyn StdError + 'static)> = fault.source();
    let mut words = "no connection";
    while let Some(inner) = cause {
        if let Some(io) = inner.downcast_ref::<std::io::Error>()
            && let Some(told) = io_reason(io.kind())
        {
            return told;
        }
        let text = inner.to_string();
        if text.contains("dns error") {
            words = "its name is not known";
        } else if text.contains("certificate") {
            return "its certificate is not trusted";
        }
        cause = inner.source();
    }
    words
}

fn io_reason(kind: std::io::ErrorKind) -> Option<&'static str> {
    use std::io::ErrorKind;
    match kind {
        ErrorKind::ConnectionRefused => Some("connection refused"),
        ErrorKind::ConnectionReset | ErrorKind::ConnectionAborted => Some("connection reset"),
        ErrorKind::HostUnreachable => Some("no way to this host"),
        ErrorKind::NetworkUnreachable => Some("no network"),
        ErrorKind::TimedOut => Some("no answer in time"),
        _ => None,
    }
}

/// How long the server asks to be left alone. A date is compared with the server's own clock, which
/// stands in the same answer: ours may differ, and is not to be read here.
fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok()).map(str::trim);
    if let Some(millis) = text("retry-after-ms").and_then(|text| text.parse().ok()) {
        return Some(Duration::from_millis(millis));
    }
    let asked = text(RETRY_AFTER.as_str())?;
    if let Ok(seconds) = asked.parse::<f64>() {
        return Duration::try_from_secs_f64(seconds).ok();
    }
    let until = jiff::fmt::rfc2822::parse(asked).ok()?.timestamp().as_second();
    let now = jiff::fmt::rfc2822::parse(text(DATE.as_str())?).ok()?.timestamp().as_second();
    Some(Duration::from_secs(u64::try_from(until.saturating_sub(now)).unwrap_or(0)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn headers(pairs: &[(&'static str, &str)]) -> HeaderMap {
        pairs.iter().map(|(name, value)| (name.parse().unwrap(), value.parse().unwrap())).collect()
    }

    #[test]
    fn retry_after_in_all_its_forms() {
        let check = |pairs: &[(&'static str, &str)], millis: Option<u64>| {
            assert_eq!(retry_after(&headers(pairs)), millis.map(Duration::from_millis), "{pairs:?}");
        };
        check(&[("retry-after", "7")], Some(7_000));
        check(&[("retry-after", "0.25")], Some(250));
        check(&[("retry-after-ms", "40"), ("retry-after", "7")], Some(40));
        let date = ("date", "Sun, 06 Nov 1994 08:49:37 GMT");
        check(&[("retry-after", "Sun, 06 Nov 1994 08:49:50 GMT"), date], Some(13_000));
        check(&[("retry-after", "Sun, 06 Nov 1994 08:00:00 GMT"), date], Some(0));
        check(&[("retry-after", "Sun, 06 Nov 1994 08:49:50 GMT")], None);
        check(&[("retry-after", "-3")], None);
        check(&[("retry-after", "soon")], None);
        check(&[], None);
    }

    #[test]
    fn statuses_stand_for_errors() {
        let check = |status: u16, kind: &str, code: &str| {
            let status = StatusCode::from_u16(status).unwrap();
            assert_eq!(by_status("p", status, kind, String::new(), None).code(), code, "{status} {kind}");
        };
        check(301, "", "invalid_request");
        check(400, "", "invalid_request");
        check(401, "", "authentication");
        check(403, "", "authentication");
        check(404, "model_not_found", "invalid_request");
        check(408, "", "server_failed");
        check(413, "", "invalid_request");
        check(429, "", "rate_limited");
        check(429, "insufficient_quota", "invalid_request");
        check(500, "", "server_failed");
        check(529, "overloaded_error", "server_failed");
    }

    #[test]
    fn errors_are_read_in_the_forms_that_servers_use() {
        let check = |body: Value, told: Option<&str>| assert_eq!(message(&body).as_deref(), told, "{body}");
        check(json!({"error": {"message": "no such model"}}), Some("no such model"));
        check(json!({"error": "model not found"}), Some("model not found"));
        check(json!({"detail": "Not Found"}), Some("Not Found"));
        check(json!({"object": "error", "message": "too long"}), Some("too long"));
        check(json!({"detail": [{"msg": "extra"}]}), Some("[{\"msg\":\"extra\"}]"));
        check(Value::Null, None);
        assert_eq!(one_line("a\n\tb\u{1b}[0m  c"), "a b [0m c");
        assert_eq!(one_line(&"x".repeat(500)).chars().count(), DETAIL_CHARS_MAX + 1);
    }

    #[test]
    fn an_address_is_checked_when_a_provider_is_built() {
        let build = |address: &str, key: Option<&str>| {
            let config = ProviderConfig { key: key.map(Secret::new), ..ProviderConfig::default() };
            let made = Endpoint::new("p", &config, address, "/chat", HeaderMap::new());
            made.map(|made| (made.url.to_string(), made.shown)).map_err(|fault| fault.to_string())
        };
        let good = |address, url: &str, shown: &str| {
            assert_eq!(build(address, None), Ok((url.to_owned(), shown.to_owned())));
        };
        good("http://127.0.0.1:8080/v1/", "http://127.0.0.1:8080/v1/chat", "http://127.0.0.1:8080");
        good(
            "https://h.example/a?api-version=2",
            "https://h.example/a/chat?api-version=2",
            "https://h.example",
        );
        for bad in ["", "h.example/v1", "file:///etc", "https://user:pw@h.example", "https://"] {
            assert!(build(bad, None).is_err(), "{bad}");
        }
        assert!(build("http://h.example", Some("k")).unwrap_err().contains("https://"));
        for near in ["http://localhost:1", "http://127.0.0.1:1", "http://[::1]:1", "http://192.168.1.2"] {
            assert!(build(near, Some("k")).is_ok(), "{near}");
        }
    }
}

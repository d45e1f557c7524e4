//! Why there is no turn. Each message is one line that says what was attempted and what to do; none
//! holds a key, a header or the query of an address. Words of a server are cut, stripped of control
//! characters and marked as its own.

use std::time::Duration;

use thiserror::Error;

/// Why a request brought no turn.
#[derive(Debug, Error)]
pub enum ProviderError {
    /// No connection was made.
    #[error(
        "the model at {endpoint} does not answer ({why}); start it, correct `base_url`, or use `--provider offline`"
    )]
    Unreachable {
        /// Scheme, host and port.
        endpoint: String,
        /// In a few words.
        why: String,
    },
    /// It took too long.
    #[error("the model at {endpoint} {limit} {} s; ask again, or raise the limit in the configuration", after.as_secs_f64())]
    Timeout {
        /// Scheme, host and port.
        endpoint: String,
        /// Which limit was passed.
        limit: TimeLimit,
        /// The limit.
        after: Duration,
    },
    /// It asks for patience.
    #[error("{provider} takes no more requests for now{}: {detail}", wait_text(*retry_after))]
    RateLimited {
        /// The provider's name.
        provider: String,
        /// How long it asked to be left alone.
        retry_after: Option<Duration>,
        /// Its own words.
        detail: String,
    },
    /// It failed on its own side.
    #[error("{provider} failed on its side (status {status}): {detail}; ask again later")]
    ServerFailed {
        /// The provider's name.
        provider: String,
        /// The HTTP status.
        status: u16,
        /// Its own words.
        detail: String,
        /// How long it asked to be left alone.
        retry_after: Option<Duration>,
    },
    /// It does not take this request.
    #[error("{provider} refused the request (status {status}): {detail}")]
    InvalidRequest {
        /// The provider's name.
        provider: String,
        /// The HTTP status.
        status: u16,
        /// Its own words.
        detail: String,
    },
    /// It does not know the key, or the key may not do this.
    #[error(
        "{provider} does not accept the key, or not for this model (status {status}); set another with `mast config key`"
    )]
    Authentication {
        /// The provider's name.
        provider: String,
        /// The HTTP status.
        status: u16,
    },
    /// What came back is not what the protocol says.
    #[error("{provider} sent what cannot be read: {what}")]
    Protocol {
        /// The provider's name.
        provider: String,
        /// What was wrong.
        what: String,
    },
    /// The reply broke off before its end.
    #[error("the reply of {provider} broke off before its end ({what}); ask again")]
    CutShort {
        /// The provider's name.
        provider: String,
        /// Where it broke off.
        what: String,
    },
    /// The server reported an error where its reply should be or go on.
    #[error("{provider} reported an error in place of a reply ({kind}): {detail}")]
    Stream {
        /// The provider's name.
        provider: String,
        /// The server's name for the error.
        kind: String,
        /// Its own words.
        detail: String,
    },
    /// The reply is larger than any that is taken.
    #[error("the reply of {provider} is larger than any that is taken (at most {limit}: {what})")]
    TooLarge {
        /// The provider's name.
        provider: String,
        /// The bound, in bytes or in what `what` counts.
        limit: usize,
        /// What was too large.
        what: &'static str,
    },
    /// A script has no turn left.
    #[error("the script has {turns} turns and was asked for one more; add a turn to it")]
    ScriptExhausted {
        /// How many turns it has.
        turns: usize,
    },
    /// A script's check of the request did not hold.
    #[error("turn {turn} of the script (line {line}) expected {expected}, and the request has {found}")]
    ScriptExpectation {
        /// The turn, counted from 1.
        turn: usize,
        /// Its line in the script.
        line: u64,
        /// What should have been there.
        expected: String,
        /// What was there.
        found: String,
    },
}

/// Which limit of time was passed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TimeLimit {
    /// No connection within it.
    Connect,
    /// Nothing came for so long.
    Idle,
    /// The whole reply took longer.
    Total,
}

impl std::fmt::Display for TimeLimit {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Connect => "took no connection within",
            Self::Idle => "sent nothing for",
            Self::Total => "did not finish its reply within",
        })
    }
}

impl ProviderError {
    /// Whether the same request may succeed later. Whether it may be *sent* again also depends on
    /// whether any part of a reply was seen; see `retry`.
    #[must_use]
    pub const fn retryable(&self) -> bool {
        match self {
            Self::Unreachable { .. }
            | Self::Timeout { .. }
            | Self::RateLimited { .. }
            | Self::ServerFailed { .. }
            | Self::CutShort { .. } => true,
            Self::Stream { .. }
            | Self::InvalidRequest { .. }
            | Self::Authentication { .. }
            | Self::Protocol { .. }
            | Self::TooLarge { .. }
            | Self::ScriptExhausted { .. }
            | Self::ScriptExpectation { .. } => false,
        }
    }

    /// How long the provider asked to be left alone.
    #[must_use]
    pub const fn retry_after(&self) -> Option<Duration> {
        match self {
            Self::RateLimited { retry_after, .. } | Self::ServerFailed { retry_after, .. } => *retry_after,
            _ => None,
        }
    }

    /// Whether the provider could not be reached at all: the command line ends with 5.
    #[must_use]
    pub const fn is_unreachable(&self) -> bool {
        matches!(self, Self::Unreachable { .. } | Self::Timeout { limit: TimeLimit::Connect, .. })
    }

    /// A stable word for the journal and for metrics.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Unreachable { .. } => "unreachable",
            Self::Timeout { .. } => "timeout",
            Self::RateLimited { .. } => "rate_limited",
            Self::ServerFailed { .. } => "server_failed",
            Self::InvalidRequest { .. } => "invalid_request",
            Self::Authentication { .. } => "authentication",
            Self::Protocol { .. } => "protocol",
            Self::CutShort { .. } => "cut_short",
            Self::Stream { .. } => "stream",
            Self::TooLarge { .. } => "too_large",
            Self::ScriptExhausted { .. } => "script_exhausted",
            Self::ScriptExpectation { .. } => "script_expectation",
        }
    }
}

/// ` (again in 7 s)`, or nothing.
fn wait_text(wait: Option<Duration>) -> String {
    wait.map_or_else(String::new, |wait| format!(" (again in {} s)", wait.as_secs()))
}

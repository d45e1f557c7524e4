//! What Postgres' error codes mean to the person who runs Mast. A server that answers with an error has
//! written nothing; only where no answer came does nobody know.

use std::path::PathBuf;

use sqlx::postgres::PgConnectOptions;

use crate::error::StoreError;

/// What a server is called in an error: its address without the password.
pub(super) fn place_of(options: &PgConnectOptions) -> String {
    let database = options.get_database().unwrap_or_else(|| options.get_username());
    let host = match options.get_socket() {
        Some(folder) => folder.display().to_string(),
        None => options.get_host().to_owned(),
    };
    format!("postgres://{}@{host}:{}/{database}", options.get_username(), options.get_port())
}

/// Codes of Postgres, see <https://www.postgresql.org/docs/current/errcodes-appendix.html>.
mod code {
    pub(super) const UNIQUE: &str = "23505";
    pub(super) const SERIALIZATION: &str = "40001";
    pub(super) const DEADLOCK: &str = "40P01";
    pub(super) const DISK_FULL: &str = "53100";
    pub(super) const TOO_MANY: &str = "53300";
    pub(super) const LOCKED: &str = "55P03";
    pub(super) const STARTING: &str = "57P03";
    /// Shut down, crashed, idle for too long: the connection is gone with the error.
    pub(super) const GONE: [&str; 4] = ["57P01", "57P02", "57P05", "25P03"];
    /// The class of errors of the connection itself.
    pub(super) const CONNECTION: &str = "08";
}

fn code_of(error: &sqlx::Error) -> Option<String> {
    Some(error.as_database_error()?.code()?.into_owned())
}

/// Whether the connection is of no more use, so that a statement without an answer may have been done.
pub(super) fn is_lost(error: &sqlx::Error) -> bool {
    match error {
        sqlx::Error::Io(_)
        | sqlx::Error::Tls(_)
        | sqlx::Error::Protocol(_)
        | sqlx::Error::PoolTimedOut
        | sqlx::Error::PoolClosed
        | sqlx::Error::WorkerCrashed => true,
        _ => code_of(error).is_some_and(|code| {
            code::GONE.contains(&code.as_str())
                || code == code::STARTING
                || code.starts_with(code::CONNECTION)
        }),
    }
}

/// Whether the server may let us in a moment later.
pub(super) fn is_passing(error: &sqlx::Error) -> bool {
    is_lost(error) || code_of(error).is_some_and(|code| code == code::TOO_MANY)
}

/// Which columns were to be unique and would not have been: the constraint is called as they are.
pub(super) fn duplicate(error: &sqlx::Error) -> Option<String> {
    let error = error.as_database_error()?;
    let is_unique = error.code().is_some_and(|code| code == code::UNIQUE);
    is_unique.then(|| error.constraint().unwrap_or("columns").to_owned())
}

/// Whether two transactions were in each other's way, and this one gave way.
pub(super) fn is_overtaken(error: &sqlx::Error) -> bool {
    code_of(error).is_some_and(|code| code == code::SERIALIZATION || code == code::DEADLOCK)
}

/// What the server or the system says of an error, in one line.
fn words(error: &sqlx::Error) -> String {
    match error {
        sqlx::Error::Database(error) => error.message().to_owned(),
        sqlx::Error::Io(error) => {
            let text = error.to_string();
            text.split(" (os error").next().unwrap_or(&text).to_lowercase()
        }
        sqlx::Error::PoolTimedOut => "no answer in time".to_owned(),
        _ => "the connection failed".to_owned(),
    }
}

/// The error of connecting.
pub(super) fn connecting(place: &str, error: sqlx::Error) -> StoreError {
    StoreError::Server { place: place.to_owned(), why: words(&error), source: Box::new(error) }
}

/// The error of a statement.
pub(super) fn during(place: &str, attempt: &'static str, error: sqlx::Error) -> StoreError {
    if is_lost(&error) {
        return StoreError::ConnectionLost { place: place.to_owned() };
    }
    match code_of(&error).as_deref() {
        Some(code::LOCKED) => StoreError::Locked(PathBuf::from(place)),
        Some(code::DISK_FULL) => StoreError::DiskFull(PathBuf::from(place)),
        _ => StoreError::Database { attempt, source: Box::new(error) },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_password_is_never_part_of_a_name() {
        for (url, place) in [
            ("postgres://me:secret@host:5433/journal", "postgres://me@host:5433/journal"),
            ("postgres://me:secret@host/", "postgres://me@host:5432/me"),
            ("postgresql://me:s%40cret@[::1]/j?sslmode=disable", "postgres://me@[::1]:5432/j"),
            (
                "postgres:///j?user=me&password=secret&host=/run/postgresql&port=5432",
                "postgres://me@/run/postgresql:5432/j",
            ),
        ] {
            assert_eq!(place_of(&url.parse().unwrap()), place);
        }
    }
}

//! What SQLite's error codes mean to the person who runs Mast.

use std::path::Path;

use crate::error::StoreError;

/// Turns errors into words about this file.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Fault<'a> {
    pub(crate) path: &'a Path,
}

/// Primary result codes of SQLite, see <https://www.sqlite.org/rescode.html>.
mod code {
    pub(super) const BUSY: i32 = 5;
    pub(super) const LOCKED: i32 = 6;
    pub(super) const READONLY: i32 = 8;
    pub(super) const CORRUPT: i32 = 11;
    pub(super) const FULL: i32 = 13;
    pub(super) const CANTOPEN: i32 = 14;
    pub(super) const NOTADB: i32 = 26;
}

/// The primary result code of an error, if it is SQLite's own.
fn primary(error: &sqlx::Error) -> Option<i32> {
    let code = error.as_database_error()?.code()?;
    code.parse::<i32>().ok().map(|extended| extended & 0xff)
}

/// Whether another connection is at it.
pub(crate) fn is_busy(error: &sqlx::Error) -> bool {
    matches!(primary(error), Some(code::BUSY | code::LOCKED))
}

/// Which columns were to be unique and would not have been, as `table.column, table.column`.
pub(crate) fn duplicate(error: &sqlx::Error) -> Option<&str> {
    let error = error.as_database_error().filter(|error| error.is_unique_violation())?;
    error.message().strip_prefix("UNIQUE constraint failed: ")
}

impl Fault<'_> {
    /// The error of opening the file.
    pub(crate) fn opening(self, error: sqlx::Error) -> StoreError {
        match self.known(&error) {
            Some(known) => known,
            None => StoreError::Open { path: self.path.to_path_buf(), source: Box::new(error) },
        }
    }

    /// The error of making the file.
    pub(crate) fn making(self, error: std::io::Error) -> StoreError {
        match error.kind() {
            std::io::ErrorKind::PermissionDenied | std::io::ErrorKind::ReadOnlyFilesystem => {
                StoreError::ReadOnly(self.path.to_path_buf())
            }
            std::io::ErrorKind::StorageFull => StoreError::DiskFull(self.path.to_path_buf()),
            _ => StoreError::Open { path: self.path.to_path_buf(), source: Box::new(error) },
        }
    }

    /// The error of a statement.
    pub(crate) fn during(self, attempt: &'static str, error: sqlx::Error) -> StoreError {
        match self.known(&error) {
            Some(known) => known,
            None => StoreError::Database { attempt, source: Box::new(error) },
        }
    }

    fn known(self, error: &sqlx::Error) -> Option<StoreError> {
        let path = self.path.to_path_buf();
        match primary(error)? {
            code::BUSY | code::LOCKED => Some(StoreError::Locked(path)),
            code::READONLY => Some(StoreError::ReadOnly(path)),
            code::CORRUPT | code::NOTADB => Some(StoreError::Damaged(path)),
            code::FULL => Some(StoreError::DiskFull(path)),
            code::CANTOPEN => Some(StoreError::Open { path, source: error.to_string().into() }),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use sqlx::Connection as _;
    use sqlx::sqlite::SqliteConnection;

    use super::*;

    /// What a person reads when SQLite itself fails on these statements.
    async fn said(statements: &'static str) -> String {
        let mut connection = SqliteConnection::connect("sqlite::memory:").await.unwrap();
        let error = sqlx::raw_sql(statements).execute(&mut connection).await.unwrap_err();
        Fault { path: Path::new("mast.db") }.during("writing", error).to_string()
    }

    #[tokio::test]
    async fn a_full_disk_and_a_read_only_file_say_what_to_do() {
        expect_test::expect!["the disk that holds mast.db is full: make room and try again"].assert_eq(
            &said(
                "PRAGMA page_size = 512; CREATE TABLE t (x); PRAGMA max_page_count = 3; \
                 INSERT INTO t VALUES (zeroblob(100000));",
            )
            .await,
        );
        expect_test::expect!["mast.db cannot be written: check the owner and mode of the file and of its folder, or choose another --data-dir"]
            .assert_eq(&said("PRAGMA query_only = ON; CREATE TABLE t (x);").await);
        expect_test::expect!["the database failed while writing"].assert_eq(&said("SELECT nothing;").await);
    }
}

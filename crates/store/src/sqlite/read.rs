//! Reading, by connections of its own: a reader sees whole commits and waits for no writer.

use async_trait::async_trait;
use sqlx::sqlite::{SqliteArguments, SqliteRow};
use sqlx::{Row as _, Sqlite};

use super::SqliteStore;
use super::fault::Fault;
use crate::audit::Cells;
use crate::error::StoreError;
use crate::read::{Parameter, Question, Select, readable};

type Query = sqlx::query::Query<'static, Sqlite, SqliteArguments>;

/// The texts of a row, also of one that is not text.
pub(super) fn cells_of(row: &SqliteRow) -> Cells {
    (0..row.len()).map(|place| text_of(row, place)).collect()
}

fn text_of(row: &SqliteRow, place: usize) -> Option<String> {
    let bytes = row.try_get_unchecked::<Option<Vec<u8>>, _>(place).ok().flatten()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

/// A statement with its parameters bound.
pub(super) fn query(question: Question) -> Query {
    let bind = |query: Query, parameter| match parameter {
        Parameter::Text(text) => query.bind(text),
        Parameter::Number(number) => query.bind(number),
    };
    question.parameters.into_iter().fold(sqlx::query(question.statement), bind)
}

#[async_trait]
impl Select for SqliteStore {
    async fn select(&self, question: Question) -> Result<Vec<Cells>, StoreError> {
        let attempt = question.attempt;
        let rows = query(question).fetch_all(&self.readers).await;
        let rows = rows.map_err(|error| Fault { path: &self.path }.during(attempt, error))?;
        Ok(rows.iter().map(cells_of).collect())
    }
}

readable!(SqliteStore, crate::select::shelf);

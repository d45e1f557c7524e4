//! Reading, by connections of its own: a reader sees whole commits and waits for no writer.

use async_trait::async_trait;
use sqlx::postgres::{PgArguments, PgRow};
use sqlx::{Postgres, Row as _};

use super::PostgresStore;
use super::fault::{during, is_lost};
use crate::audit::Cells;
use crate::error::StoreError;
use crate::read::{Parameter, Question, Select, readable};

type Query = sqlx::query::Query<'static, Postgres, PgArguments>;

/// The texts of a row.
pub(super) fn cells_of(row: &PgRow) -> Cells {
    (0..row.len()).map(|place| row.try_get(place).ok().flatten()).collect()
}

/// A statement with its parameters bound.
pub(super) fn query(question: &Question) -> Query {
    let bind = |query: Query, parameter: &Parameter| match parameter {
        Parameter::Text(text) => query.bind(text.clone()),
        Parameter::Number(number) => query.bind(*number),
    };
    question.parameters.iter().fold(sqlx::query(question.statement), bind)
}

#[async_trait]
impl Select for PostgresStore {
    async fn select(&self, question: Question) -> Result<Vec<Cells>, StoreError> {
        let mut rows = query(&question).fetch_all(&self.readers).await;
        // A connection that was idle may have gone with its server; nothing is lost by asking again. The
        // others of the pool may have gone with it, so there is a try for each.
        for _ in 0..self.readers.size() {
            if !rows.as_ref().is_err_and(is_lost) {
                break;
            }
            rows = query(&question).fetch_all(&self.readers).await;
        }
        let rows = rows.map_err(|error| during(&self.place, question.attempt, error))?;
        Ok(rows.iter().map(cells_of).collect())
    }
}

readable!(PostgresStore, crate::select::shelf);

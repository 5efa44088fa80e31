//! What the repos share in turning rows into domain types and back.

use sea_orm::{
    ActiveModelTrait, ConnectionTrait, DbErr, EntityTrait, IntoActiveModel, ModelTrait, Select, SelectTwo, Selector,
    SelectorTrait,
};
use serde::Serialize;
use serde::de::DeserializeOwned;
use uuid::Uuid;

use crate::domain::model::secret::SecretHash;
use crate::domain::model::session::{EndReason, Ended};
use crate::domain::model::timestamp::Timestamp;
use crate::store::Error;

/// The row that is being read: named when it turns out to be corrupt.
#[derive(Clone, Copy)]
pub(super) struct Row {
    pub(super) table: &'static str,
    pub(super) id: Uuid,
}

impl Row {
    pub(super) fn corrupt(self) -> Error {
        Error::Corrupt { table: self.table, id: self.id.to_string() }
    }

    /// What a stored word or number means; nothing = corrupt.
    pub(super) fn some<T>(self, meaning: Option<T>) -> Result<T, Error> {
        meaning.ok_or_else(|| self.corrupt())
    }

    pub(super) fn json<T: DeserializeOwned>(self, text: &str) -> Result<T, Error> {
        serde_json::from_str(text).map_err(|_| self.corrupt())
    }

    pub(super) fn hash(self, bytes: &[u8]) -> Result<SecretHash, Error> {
        bytes.try_into().map(SecretHash).map_err(|_| self.corrupt())
    }

    /// An end has a time and a reason, or neither.
    pub(super) fn ended(self, at: Option<i64>, reason: Option<&str>) -> Result<Option<Ended>, Error> {
        match (at, reason) {
            (None, None) => Ok(None),
            (Some(at), Some(reason)) => {
                let reason = self.some(EndReason::from_name(reason))?;
                Ok(Some(Ended { at: Timestamp::from_micros(at), reason }))
            }
            _ => Err(self.corrupt()),
        }
    }
}

/// Queries that a unique key bounds to one row.
pub(super) trait Unique: Sized {
    /// What a row gives.
    type Item;

    /// All that it finds, which is one row or none. `one` would add a limit as a bound value, and SQLite compiles
    /// a statement anew each time such a value is bound.
    fn unique<C: ConnectionTrait>(
        self,
        connection: &C,
    ) -> impl Future<Output = Result<Option<Self::Item>, DbErr>> + Send;
}

impl<E: EntityTrait> Unique for Select<E>
where
    E::Model: Send,
{
    type Item = E::Model;

    async fn unique<C: ConnectionTrait>(self, connection: &C) -> Result<Option<E::Model>, DbErr> {
        Ok(self.all(connection).await?.pop())
    }
}

impl<E: EntityTrait, F: EntityTrait> Unique for SelectTwo<E, F>
where
    E::Model: Send,
    F::Model: Send,
{
    type Item = (E::Model, Option<F::Model>);

    async fn unique<C: ConnectionTrait>(self, connection: &C) -> Result<Option<Self::Item>, DbErr> {
        Ok(self.all(connection).await?.pop())
    }
}

impl<S: SelectorTrait + Send + Sync> Unique for Selector<S>
where
    S::Item: Send,
{
    type Item = S::Item;

    async fn unique<C: ConnectionTrait>(self, connection: &C) -> Result<Option<S::Item>, DbErr> {
        Ok(self.all(connection).await?.pop())
    }
}

/// The stored form of a list or a document.
pub(super) fn json(value: &impl Serialize) -> Result<String, Error> {
    serde_json::to_string(value).map_err(|error| Error::Other(error.to_string()))
}

/// A row to be inserted whole.
pub(super) fn whole<M, A>(model: M) -> A
where
    M: ModelTrait + IntoActiveModel<A>,
    A: ActiveModelTrait<Entity = M::Entity>,
{
    model.into_active_model().reset_all()
}

//! What the repos share in turning rows into domain types and back.

use sea_orm::{ActiveModelTrait, IntoActiveModel, ModelTrait};
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

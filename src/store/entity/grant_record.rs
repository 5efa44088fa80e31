//! Table `grant_record`.

use sea_orm::entity::prelude::*;

#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "grant_record")]
pub struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub realm_id: Uuid,
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: Uuid,
    pub client_key: Uuid,
    pub user_id: Uuid,
    pub session_id: Uuid,
    pub code_id: Option<Uuid>,
    pub grant_type: String,
    pub offline: bool,
    pub terms: String,
    pub refresh_secret_hash: Option<Vec<u8>>,
    pub generation: i64,
    pub rotated_at: i64,
    pub presenter: Option<Vec<u8>>,
    pub grace_streak: i64,
    pub grace_generation: i64,
    pub created_at: i64,
    pub last_used_at: i64,
    pub expires_at: i64,
    pub ended_at: Option<i64>,
    pub ended_reason: Option<String>,
}

#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}

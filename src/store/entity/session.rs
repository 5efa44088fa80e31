//! Table `session`.

use sea_orm::entity::prelude::*;

#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "session")]
pub struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub realm_id: Uuid,
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: Uuid,
    pub user_id: Uuid,
    pub device_id: Uuid,
    pub secret_hash: Vec<u8>,
    pub previous_secret_hash: Option<Vec<u8>>,
    pub secret_rotated_at: i64,
    pub auth_time: i64,
    pub acr: String,
    pub amr: String,
    pub credential_epoch: i64,
    pub remembered: bool,
    pub created_at: i64,
    pub last_seen_at: i64,
    pub idle_millis: i64,
    pub expires_at: i64,
    pub ended_at: Option<i64>,
    pub ended_reason: Option<String>,
}

#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}

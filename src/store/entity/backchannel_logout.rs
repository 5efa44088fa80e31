//! Table `backchannel_logout`.

use sea_orm::entity::prelude::*;

#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "backchannel_logout")]
pub struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub realm_id: Uuid,
    #[sea_orm(primary_key, auto_increment = false)]
    pub session_id: Uuid,
    #[sea_orm(primary_key, auto_increment = false)]
    pub client_key: Uuid,
    pub user_id: Uuid,
    pub sub: Option<String>,
    pub queued_at: i64,
    pub due_at: i64,
    pub attempts: i64,
    pub failure: Option<String>,
    pub done_at: Option<i64>,
    pub outcome: Option<String>,
}

#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}

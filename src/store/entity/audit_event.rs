//! Table `audit_event`.

use sea_orm::entity::prelude::*;

#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "audit_event")]
pub struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub realm_id: Uuid,
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: Uuid,
    pub occurred_at: i64,
    pub kind: String,
    pub user_id: Option<Uuid>,
    pub client_key: Option<Uuid>,
    pub session_id: Option<Uuid>,
    pub grant_id: Option<Uuid>,
    pub reason: Option<String>,
    pub actor: String,
    pub request: Option<String>,
    pub personal_hash: Option<Vec<u8>>,
}

#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}

//! Table `initial_access_token`.

use sea_orm::entity::prelude::*;

#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "initial_access_token")]
pub struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub realm_id: Uuid,
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: Uuid,
    pub hash: Vec<u8>,
    pub label: String,
    pub created_at: i64,
    pub expires_at: i64,
    pub uses_left: i64,
}

#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}

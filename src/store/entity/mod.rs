//! One file per table, with plain columns, as the migrations describe it. Private to the store: repos turn
//! rows into domain types. Tables that only batches and short-lived state touch (`redemption`, `shortlived`,
//! `counter`) have no entity.

#![expect(unreachable_pub, reason = "the derives of sea-orm write `pub`; the module itself is private")]

pub mod administrative_power;
pub mod audit_event;
pub mod audit_personal;
pub mod backchannel_logout;
pub mod change;
pub mod client;
pub mod client_secret;
pub mod consent;
pub mod credential;
pub mod device;
pub mod grant_record;
pub mod identifier;
pub mod initial_access_token;
pub mod logo;
pub mod meta;
pub mod outbox;
pub mod realm;
pub mod resource;
pub mod revoked_token;
pub mod role;
pub mod role_composite;
pub mod scope;
pub mod session;
pub mod setup_link;
pub mod signing_key;
pub mod user_account;
pub mod user_group;
pub mod user_group_member;
pub mod user_group_role;
pub mod user_role;

//! Grants: one file each, named as in the rules. What they share: facts about a person, minting, the answer.

pub mod answer;
pub mod authorization_code;
pub mod client_credentials;
pub mod facts;
pub mod implicit;
pub mod inspect;
pub mod mint;
pub mod presenter;
pub mod refresh_text;
pub mod refresh_token;

//! The store, asked directly.

mod accounts;
mod applications;
mod batch;
mod cutter;
mod db;
mod endings;
mod implicit;
mod node;
mod people;
mod race;
mod readmodel;
mod registration;
mod repos;
mod scopes;
mod shortlived;
mod signed_in;
mod tables;

//! The store, asked directly.

mod batch;
mod db;
mod node;
mod people;
mod race;
mod readmodel;
mod repos;
mod shortlived;
mod signed_in;
mod tables;

//! The store, asked directly.

mod db;
mod people;
mod repos;
mod tables;

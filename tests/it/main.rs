//! it
mod adapters;

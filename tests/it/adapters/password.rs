//! password

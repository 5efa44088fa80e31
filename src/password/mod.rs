//! Room: password.

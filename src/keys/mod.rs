//! Room: keys.

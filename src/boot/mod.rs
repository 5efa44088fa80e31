//! Room: boot.

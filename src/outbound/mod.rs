//! Room: outbound.

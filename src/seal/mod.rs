//! Room: seal.

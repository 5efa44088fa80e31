//! The one integration test binary: modules by behaviour, the harness in `kit`.

// `cfg(test)` tells clippy that the harness too may unwrap.
#[cfg(test)]
mod architecture;

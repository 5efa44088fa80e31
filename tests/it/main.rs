//! The one integration test binary: modules by behaviour, the harness in `kit`.

// `cfg(test)` tells clippy that the harness too may unwrap.
#[cfg(test)]
mod adapters;
#[cfg(test)]
mod architecture;
#[cfg(test)]
mod e2e;
#[cfg(test)]
mod kit;
#[cfg(test)]
mod main_job;
#[cfg(test)]
mod pages;
#[cfg(test)]
mod process;
#[cfg(test)]
mod store;

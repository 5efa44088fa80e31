//! The binary: allocator, TLS provider, then the command line.

use std::process::ExitCode;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    // Whoever relies on the default must find ours, whatever a library brings along. The first call wins.
    let _ = rustls::crypto::aws_lc_rs::default_provider().install_default();
    doorward::cli::main()
}

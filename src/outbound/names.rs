//! Looks host names up. A name may lead elsewhere at the next look-up, so each request looks up once and
//! connects to what it has checked; a test puts answers of its own in the place of the system's.

use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::pin::Pin;

use tokio::net::lookup_host;

/// The addresses of a host.
pub type Found<'a> = Pin<Box<dyn Future<Output = io::Result<Vec<SocketAddr>>> + Send + 'a>>;

/// Where names are looked up.
pub trait Names: Send + Sync {
    /// All addresses of `host`, each with `port`.
    fn look_up<'a>(&'a self, host: &'a str, port: u16) -> Found<'a>;
}

/// As the operating system is set up.
#[derive(Debug, Clone, Copy)]
pub struct SystemNames;

impl Names for SystemNames {
    fn look_up<'a>(&'a self, host: &'a str, port: u16) -> Found<'a> {
        Box::pin(async move { Ok(lookup_host((host, port)).await?.collect()) })
    }
}

//! A name service that a hostile owner of a name runs: each look-up leads elsewhere.

use std::net::{IpAddr, SocketAddr};
use std::sync::Mutex;

use doorward::outbound::names::{Found, Names};

/// A name that leads elsewhere each time it is looked up; the last answer stays.
pub struct Turning(Mutex<Vec<Vec<IpAddr>>>);

impl Turning {
    /// With these answers, in this order.
    pub fn new(answers: Vec<Vec<IpAddr>>) -> Self {
        Self(Mutex::new(answers))
    }

    /// Answers that were not given yet; the last one is never given away.
    pub fn left(&self) -> usize {
        self.0.lock().expect("answers").len()
    }
}

impl Names for Turning {
    fn look_up<'a>(&'a self, host: &'a str, port: u16) -> Found<'a> {
        assert_eq!(host, "localhost");
        let mut answers = self.0.lock().expect("answers");
        let now = if answers.len() > 1 { answers.remove(0) } else { answers[0].clone() };
        Box::pin(async move { Ok(now.into_iter().map(|address| SocketAddr::new(address, port)).collect()) })
    }
}

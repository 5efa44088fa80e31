//! Stands between the store and its PostgreSQL, and cuts a connection between a COMMIT and its answer: what was
//! committed then is known to the database alone.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

/// A `Query` message of PostgreSQL's protocol with nothing but this word.
const COMMIT: &[u8] = b"Q\0\0\0\x0bCOMMIT\0";

/// The way to a database that can be cut.
pub(crate) struct Cutter {
    /// The database's address, through here.
    pub(crate) url: String,
    state: Arc<State>,
}

#[derive(Default)]
struct State {
    cuts: AtomicUsize,
    armed: AtomicBool,
    /// Whether the cut waits until the database has answered, or comes while it commits.
    waits: AtomicBool,
}

impl Cutter {
    /// Listens in front of the database.
    pub(crate) async fn before(url: &str) -> Self {
        let mut address = url::Url::parse(url).unwrap();
        let server = format!("{}:{}", address.host_str().unwrap(), address.port().unwrap());
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        address.set_host(Some("127.0.0.1")).unwrap();
        address.set_port(Some(listener.local_addr().unwrap().port())).unwrap();
        let state = Arc::new(State::default());
        let shared = Arc::clone(&state);
        tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                tokio::spawn(pass(client, server.clone(), Arc::clone(&shared)));
            }
        });
        Self { url: address.to_string(), state }
    }

    /// The next COMMIT reaches the database, and its answer reaches nobody.
    pub(crate) fn cut_next_commit(&self, waits: bool) {
        self.state.waits.store(waits, Ordering::SeqCst);
        self.state.armed.store(true, Ordering::SeqCst);
    }

    /// How many were cut.
    pub(crate) fn cuts(&self) -> usize {
        self.state.cuts.load(Ordering::SeqCst)
    }
}

async fn pass(mut client: TcpStream, server: String, state: Arc<State>) {
    let Ok(mut server) = TcpStream::connect(server).await else { return };
    let (mut asked, mut answered) = (vec![0; 65_536], vec![0; 65_536]);
    loop {
        tokio::select! {
            read = client.read(&mut asked) => {
                let Ok(read @ 1..) = read else { return };
                if server.write_all(&asked[..read]).await.is_err() {
                    return;
                }
                if asked[..read].ends_with(COMMIT) && state.armed.swap(false, Ordering::SeqCst) {
                    if state.waits.load(Ordering::SeqCst) {
                        let _ = server.read(&mut answered).await;
                    }
                    state.cuts.fetch_add(1, Ordering::SeqCst);
                    return;
                }
            }
            read = server.read(&mut answered) => {
                let Ok(read @ 1..) = read else { return };
                if client.write_all(&answered[..read]).await.is_err() {
                    return;
                }
            }
        }
    }
}

//! Unix sockets: what a proxy on the same machine talks to.

use std::os::unix::fs::FileTypeExt;
use std::path::Path;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::UnixStream;

use crate::kit::process::Doorward;

async fn ask(socket: &Path, path: &str, host: &str) -> String {
    let mut stream = UnixStream::connect(socket).await.expect("the socket takes connections");
    let request = format!("GET {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).await.expect("sent");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.expect("an answer");
    answer
}

#[tokio::test]
async fn a_socket_serves_and_one_that_a_crash_left_behind_is_replaced() {
    let mut server = Doorward::prepare().await;
    server.apply(crate::kit::op::REALM);
    let (public, management) = (server.folder().join("web.sock"), server.folder().join("management.sock"));
    server.set("DOORWARD_LISTEN", &format!("unix:{},127.0.0.1:{}", public.display(), server.port()));
    server.start().await;
    let host = server.issuer().trim_start_matches("http://").to_owned();
    let answer = ask(&public, "/.well-known/openid-configuration", &host).await;
    assert!(answer.starts_with("HTTP/1.1 200") && answer.contains(&server.issuer()), "{answer}");

    server.kill();
    assert!(public.symlink_metadata().expect("left behind").file_type().is_socket());
    server.start().await;
    assert!(ask(&public, "/.well-known/openid-configuration", &host).await.starts_with("HTTP/1.1 200"));
    assert!(server.terminate().await.success());

    // The management address may be one as well.
    server.set("DOORWARD_MANAGEMENT__LISTEN", &format!("unix:{}", management.display()));
    for _ in 0..2 {
        server.start_unwatched().await;
        let answer = ask(&management, "/health/ready", "any").await;
        assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
        server.kill();
    }
}

#[tokio::test]
async fn a_file_that_is_no_socket_is_never_replaced() {
    let mut server = Doorward::prepare().await;
    let path = server.folder().join("precious.sock");
    std::fs::write(&path, "precious").expect("written");
    server.set("DOORWARD_LISTEN", &format!("unix:{}", path.display()));
    server.refused(&[]).says(78, &["listen", "precious.sock", "in use"]);
    server.set("DOORWARD_LISTEN", "");
    server.set("DOORWARD_MANAGEMENT__LISTEN", &format!("unix:{}", path.display()));
    server.refused(&[]).says(78, &["management.listen", "precious.sock", "in use"]);
    assert_eq!(std::fs::read_to_string(&path).expect("still there"), "precious");
}

//! A relying party written by others: the `openidconnect` crate over our in-process transport.

use doorward::http::front::Front;
use openidconnect::core::{CoreClient, CoreProviderMetadata};
use openidconnect::{
    AuthType, ClientId, ClientSecret, EndpointMaybeSet, EndpointNotSet, EndpointSet, HttpRequest, HttpResponse,
    IssuerUrl, RedirectUrl,
};

use super::flow::Client;
use super::op::Op;

/// A client made from discovery.
pub type Discovered =
    CoreClient<EndpointSet, EndpointNotSet, EndpointNotSet, EndpointNotSet, EndpointMaybeSet, EndpointMaybeSet>;

/// The transport's error.
#[derive(Debug)]
pub struct Never;

impl std::fmt::Display for Never {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("the transport failed")
    }
}

impl std::error::Error for Never {}

/// Sends a request of the crate through the front.
pub async fn transport(front: Front, request: HttpRequest) -> Result<HttpResponse, Never> {
    use http_body_util::BodyExt;
    let (mut head, body) = request.into_parts();
    let url = url::Url::parse(&head.uri.to_string()).map_err(|_| Never)?;
    let host = url[url::Position::BeforeHost..url::Position::AfterPort].to_owned();
    head.uri = url[url::Position::BeforePath..].parse().map_err(|_| Never)?;
    head.headers.insert("host", host.parse().map_err(|_| Never)?);
    let peer = doorward::http::extract::address::Peer::Tcp(([127, 0, 0, 1], 40_001).into());
    let response = front.serve(peer, http::Request::from_parts(head, body.into())).await.map_err(|_| Never)?;
    let (head, body) = response.into_parts();
    let bytes = body.collect().await.map_err(|_| Never)?.to_bytes().to_vec();
    Ok(http::Response::from_parts(head, bytes))
}

/// Discovers the provider and makes a client.
pub async fn discover(op: &Op, client: Client) -> Discovered {
    let front = op.front.clone();
    let send = move |request: HttpRequest| transport(front.clone(), request);
    let issuer = IssuerUrl::new(op.public_url.clone()).expect("an issuer");
    let metadata = CoreProviderMetadata::discover_async(issuer, &send).await.expect("discovery");
    let secret = client.secret.map(|secret| ClientSecret::new(secret.to_owned()));
    CoreClient::from_provider_metadata(metadata, ClientId::new(client.id.to_owned()), secret)
        .set_auth_type(if client.in_body { AuthType::RequestBody } else { AuthType::BasicAuth })
        .set_redirect_uri(RedirectUrl::new(client.redirect_uri.to_owned()).expect("a redirect URI"))
}

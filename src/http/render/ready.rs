//! Documents whose bytes are ready: served with ETag and caching, answered 304 where the caller has them.

use axum::body::{Body, Bytes};
use http::header::{CACHE_CONTROL, CONTENT_TYPE, ETAG, HeaderMap, HeaderValue, IF_NONE_MATCH};
use http::{Response, StatusCode};

/// Serves ready bytes.
#[must_use]
pub fn document(
    request: &HeaderMap,
    bytes: Bytes,
    etag: &HeaderValue,
    media_type: &'static str,
    caching: &str,
) -> Response<Body> {
    let has_it = request.get_all(IF_NONE_MATCH).iter().filter_map(|value| value.to_str().ok()).any(|value| {
        value.split(',').any(|tag| {
            let tag = tag.trim();
            tag == "*" || tag.trim_start_matches("W/").as_bytes() == etag.as_bytes()
        })
    });
    let mut response = Response::new(if has_it { Body::empty() } else { Body::from(bytes) });
    if has_it {
        *response.status_mut() = StatusCode::NOT_MODIFIED;
    }
    let headers = response.headers_mut();
    headers.reserve(super::HEADERS);
    headers.insert(ETAG, etag.clone());
    if let Ok(caching) = HeaderValue::from_str(caching) {
        headers.insert(CACHE_CONTROL, caching);
    }
    if !has_it {
        headers.insert(CONTENT_TYPE, HeaderValue::from_static(media_type));
    }
    response
}

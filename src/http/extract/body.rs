//! Reading a form body: media type without parameters and case (RFC 9110 section 8.3.1), bounded size.

use axum::body::{Body, Bytes};
use http::HeaderMap;
use http::header::CONTENT_TYPE;
use http_body_util::{BodyExt, LengthLimitError, Limited};

/// Why a body was not read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BodyFault {
    /// Over the limit.
    TooLarge,
    /// Not a form.
    ContentType,
    /// The connection broke, or the framing was wrong.
    Broken,
}

/// Reads a form's bytes.
///
/// # Errors
/// See [`BodyFault`].
pub async fn read_form(headers: &HeaderMap, body: Body, limit: usize) -> Result<Bytes, BodyFault> {
    let declared = headers.get(CONTENT_TYPE).map(|value| value.to_str().unwrap_or(""));
    let is_form = declared.is_some_and(|text| {
        let media = text.split(';').next().unwrap_or("").trim();
        media.eq_ignore_ascii_case("application/x-www-form-urlencoded")
    });
    let bytes = match Limited::new(body, limit).collect().await {
        Ok(collected) => collected.to_bytes(),
        Err(error) if error.is::<LengthLimitError>() => return Err(BodyFault::TooLarge),
        Err(_) => return Err(BodyFault::Broken),
    };
    match (declared, bytes.is_empty()) {
        (None, true) => Ok(bytes),
        _ if is_form => Ok(bytes),
        _ => Err(BodyFault::ContentType),
    }
}

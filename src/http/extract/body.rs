//! Reading a body, a form or JSON: media type without parameters and case (RFC 9110 section 8.3.1), bounded size.

use axum::body::{Body, Bytes};
use http::HeaderMap;
use http::header::CONTENT_TYPE;
use http_body_util::{BodyExt, LengthLimitError, Limited};

/// Why a body was not read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BodyFault {
    /// Over the limit.
    TooLarge,
    /// Of another type.
    ContentType,
    /// The connection broke, or the framing was wrong.
    Broken,
}

/// What a body may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Media {
    /// A form; an empty body without a type is an empty one.
    Form,
    /// A JSON document.
    Json,
}

impl Media {
    const fn name(self) -> &'static str {
        match self {
            Self::Form => "application/x-www-form-urlencoded",
            Self::Json => "application/json",
        }
    }
}

/// Reads a body's bytes.
///
/// # Errors
/// See [`BodyFault`].
pub async fn read(headers: &HeaderMap, body: Body, media: Media, limit: usize) -> Result<Bytes, BodyFault> {
    let declared = headers.get(CONTENT_TYPE).map(|value| value.to_str().unwrap_or(""));
    let fits = declared.is_some_and(|text| {
        let declared = text.split(';').next().unwrap_or("").trim();
        declared.eq_ignore_ascii_case(media.name())
    });
    let bytes = match Limited::new(body, limit).collect().await {
        Ok(collected) => collected.to_bytes(),
        Err(error) if error.is::<LengthLimitError>() => return Err(BodyFault::TooLarge),
        Err(_) => return Err(BodyFault::Broken),
    };
    match (declared, bytes.is_empty()) {
        (None, true) if media == Media::Form => Ok(bytes),
        _ if fits => Ok(bytes),
        _ => Err(BodyFault::ContentType),
    }
}

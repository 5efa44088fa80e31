//! Room: http.

//! Audit events that are appended in the batch.

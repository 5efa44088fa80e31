//! A batch that failed is run again, operation by operation.

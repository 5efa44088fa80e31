//! Room: tasks.

//! Sign-in rules: what comes next, which factors count, names.

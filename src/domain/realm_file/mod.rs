//! The realm file: what is declared, and the plan that makes the stored realm equal to it.

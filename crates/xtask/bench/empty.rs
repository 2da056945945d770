//! The least that a static program can be: what is measured against its start is ours alone.

fn main() {}

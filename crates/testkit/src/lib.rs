//! What tests share: captured hosts, the laws, random documents, harnesses around real tools.

pub mod documents;
pub mod fabric;
pub mod hosts;
pub mod laws;

//! JSON Schema, draft 2020-12, of what goes in and what comes out.

use anyhow::Result;
use ibplan_core::protocol::Response;
use ibplan_core::request::Envelope;
use ibplan_core::state::HostState;
use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, Schema};
use serde_json::Value;

/// Where a schema is identified to be; nothing is ever fetched from there.
const BASE: &str = concat!(env!("CARGO_PKG_REPOSITORY"), "/schemas/v1");

/// The host document.
pub(crate) fn host() -> Schema {
    let settings = SchemaSettings::draft2020_12();
    made::<HostState>(settings, "host", "Host document of ibplan, version 1")
}

/// A request, the host document included.
pub(crate) fn request() -> Schema {
    let settings = SchemaSettings::draft2020_12();
    let mut schema = made::<Envelope>(
        settings,
        "request",
        "Request to an agent program of ibplan, version 1",
    );
    schema.insert(
        "description".to_owned(),
        "What an agent program reads from standard input: one JSON object.".into(),
    );
    schema
}

/// A response. Later versions may add fields: readers ignore those they do not know.
pub(crate) fn response() -> Schema {
    let settings = SchemaSettings::draft2020_12().for_serialize();
    let mut schema = made::<Response>(
        settings,
        "response",
        "Response of an agent program of ibplan, version 1",
    );
    schema.insert(
        "description".to_owned(),
        "What an agent program writes to standard output: one JSON object. Readers ignore fields that they do not know."
            .into(),
    );
    schema
}

fn made<T: JsonSchema>(settings: SchemaSettings, name: &str, title: &str) -> Schema {
    let mut schema = settings.into_generator().into_root_schema_for::<T>();
    schema.insert("$id".to_owned(), format!("{BASE}/{name}.schema.json").into());
    schema.insert("title".to_owned(), title.into());
    let mut value = schema.as_value().clone();
    tidy(&mut value);
    Schema::try_from(value).unwrap_or(schema)
}

/// A default of null says nothing, and line breaks in doc comments mean nothing.
fn tidy(value: &mut Value) {
    match value {
        Value::Object(members) => {
            if members.get("default").is_some_and(Value::is_null) {
                members.remove("default");
            }
            if let Some(Value::String(text)) = members.get_mut("description") {
                *text = text.split_whitespace().collect::<Vec<_>>().join(" ");
            }
            members.values_mut().for_each(tidy);
        }
        Value::Array(items) => items.iter_mut().for_each(tidy),
        _ => {}
    }
}

/// As written to its file.
pub(crate) fn text(schema: &Schema) -> Result<String> {
    Ok(serde_json::to_string_pretty(schema)? + "\n")
}

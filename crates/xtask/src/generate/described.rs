//! Every property of a schema must say what it means.

use serde_json::Value;

/// Pointers of the properties that have no description.
pub(crate) fn missing(schema: &Value) -> Vec<String> {
    let mut found = Vec::new();
    walk(schema, "", &mut found);
    found
}

fn walk(schema: &Value, at: &str, found: &mut Vec<String>) {
    match schema {
        Value::Object(members) => {
            if let Some(Value::Object(properties)) = members.get("properties") {
                // An enum variant that holds a value is an object with one property; the variant's own description serves.
                let variant = properties.len() == 1 && described(schema) && at.contains("/oneOf/");
                for (name, property) in properties {
                    if !variant && !described(property) {
                        found.push(format!("{at}/properties/{name}"));
                    }
                }
            }
            for (name, member) in members {
                walk(member, &format!("{at}/{name}"), found);
            }
        }
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                walk(item, &format!("{at}/{index}"), found);
            }
        }
        _ => {}
    }
}

fn described(schema: &Value) -> bool {
    let text = schema.get("description").and_then(Value::as_str);
    text.is_some_and(|t| t.trim().len() > 3)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_bare_property_is_named_however_deep_it_lies() {
        let schema = json!({
            "properties": {"a": {"description": "what a is"}, "b": {"type": "string"}},
            "$defs": {"T": {"properties": {"c": {"$ref": "#/x"}, "d": {"description": " "}}}},
        });
        assert_eq!(
            missing(&schema),
            ["/properties/b", "/$defs/T/properties/c", "/$defs/T/properties/d"].map(str::to_owned)
        );
    }

    #[test]
    fn a_variant_that_holds_a_value_is_described_by_itself() {
        let variant = |text: &str| json!({"oneOf": [{"description": text, "properties": {"link": {"type": "string"}}}]});
        assert!(missing(&variant("A link loses traffic.")).is_empty());
        assert_eq!(missing(&variant("")).len(), 1);
    }
}

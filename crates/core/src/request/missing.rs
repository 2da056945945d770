//! serde tells only the first missing field of an object. The others are found by trying: the missing one is filled with values
//! until one is taken, and then the next missing field shows.

use super::shape::{missing_field, read};
use super::tree::{Key, at_place};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

/// Larger documents are read once for each mistake and no more (values, counted with those inside).
const SMALL: usize = 5000;

/// The fields that are missing from the object at `place`, `first` among them.
pub(super) fn all<T: DeserializeOwned>(value: &Value, place: &[Key], first: String) -> Vec<String> {
    let mut names = vec![first];
    if size(value) > SMALL {
        return names;
    }
    let mut filled = value.clone();
    while let Some(next) = next::<T>(&mut filled, place, &names) {
        names.push(next);
    }
    names
}

/// Fills the last missing field with what is taken there, and tells the field that is missed next.
fn next<T: DeserializeOwned>(filled: &mut Value, place: &[Key], names: &[String]) -> Option<String> {
    let name = names.last()?;
    // One of these is right for every field of the document that has no default.
    let candidates = [
        json!("ib0"),
        json!(1),
        json!({}),
        json!(["ib0"]),
        json!("default"),
        json!("192.168.0.1"),
        json!("unlimited"),
        json!("plan"),
        json!("ibplan/v1"),
    ];
    for candidate in candidates {
        at_place(filled, place)?
            .as_object_mut()?
            .insert(name.clone(), candidate);
        let Err((path, text)) = read::<T>(filled) else {
            return None;
        };
        if path == place {
            return missing_field(&text).filter(|next| !names.contains(next));
        }
        let refused = path.len() > place.len()
            && path.starts_with(place)
            && path[place.len()] == Key::Name(name.clone());
        if !refused {
            return None;
        }
    }
    None
}

fn size(value: &Value) -> usize {
    match value {
        Value::Array(items) => items.iter().map(size).sum::<usize>() + 1,
        Value::Object(members) => members.values().map(size).sum::<usize>() + 1,
        _ => 1,
    }
}

#[cfg(test)]
mod tests {
    use crate::pointer::Pointer;
    use crate::request::read_document;
    use serde_json::json;

    #[test]
    fn every_missing_field_of_an_object_is_told() {
        let (_, errors) = read_document(
            json!({
                "subnet_manager": { "partitions": [{}, { "pkey": 5 }, { "name": "a", "pkey": 1, "members": {} }] },
                "bonds": [{}],
                "ipoib": [{ "interface": "ib0", "routes": [{}, { "via": 7 }] }],
            }),
            &Pointer::root(),
        );
        let mut told: Vec<(String, String)> = errors
            .into_iter()
            .map(|e| (e.path.to_string(), e.message))
            .collect();
        told.sort();
        let missing = |path: &str, field: &str| (path.to_owned(), format!("the field `{field}` is missing"));
        let routes: Vec<_> = told
            .iter()
            .filter(|(p, _)| p.starts_with("/ipoib"))
            .cloned()
            .collect();
        assert_eq!(
            routes[..2],
            [
                missing("/ipoib/0/routes/0", "to"),
                missing("/ipoib/0/routes/0", "via")
            ]
        );
        assert!(
            routes[2..].iter().any(|(p, _)| p == "/ipoib/0/routes/1/via"),
            "{routes:?}"
        );
        assert!(
            routes[2..].contains(&missing("/ipoib/0/routes/1", "to")),
            "{routes:?}"
        );
        told.retain(|(p, _)| !p.starts_with("/ipoib"));
        assert_eq!(
            told,
            [
                missing("/bonds/0", "name"),
                missing("/bonds/0", "ports"),
                missing("/subnet_manager/partitions/0", "members"),
                missing("/subnet_manager/partitions/0", "name"),
                missing("/subnet_manager/partitions/0", "pkey"),
                missing("/subnet_manager/partitions/1", "members"),
                missing("/subnet_manager/partitions/1", "name"),
            ]
        );
    }
}

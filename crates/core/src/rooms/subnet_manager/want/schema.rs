//! JSON Schema of the types that read themselves.
use super::{GroupMtu, GroupRate, MTUS, Member, OptionValue, PartitionName, RATES, SubnetPrefix};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};

macro_rules! schema {
    ($type:ty, $name:literal, $schema:expr) => {
        impl JsonSchema for $type {
            fn schema_name() -> std::borrow::Cow<'static, str> {
                $name.into()
            }

            fn json_schema(_: &mut SchemaGenerator) -> Schema {
                $schema
            }
        }
    };
}

const GUID: &str = "0x(?!0+$|[fF]{16}$)[0-9a-fA-F]{1,16}|(?!0000:0000:0000:0000$|[fF]{4}:[fF]{4}:[fF]{4}:[fF]{4}$)[0-9a-fA-F]{4}(:[0-9a-fA-F]{4}){3}";

schema!(
    PartitionName,
    "PartitionName",
    json_schema!({
        "type": "string", "pattern": "^[A-Za-z][A-Za-z0-9_.-]{0,31}$",
        "description": "Name of a partition; Default is the default partition.",
    })
);
schema!(
    Member,
    "Member",
    json_schema!({
        "type": "string", "pattern": format!("^(ALL|ALL_CAS|ALL_SWITCHES|ALL_ROUTERS|SELF|{GUID})$"),
        "description": "A port GUID, or ALL, ALL_CAS, ALL_SWITCHES, ALL_ROUTERS, SELF.",
    })
);
schema!(
    SubnetPrefix,
    "SubnetPrefix",
    json_schema!({
        "type": "string",
        "pattern": "^(0x(?!0{16}$)[0-9a-fA-F]{16}|(?!0000:0000:0000:0000$)[0-9a-fA-F]{4}(:[0-9a-fA-F]{4}){3})$",
        "description": "Subnet prefix, 64 bits: four groups of four digits, or 0x and 16 digits. Default fe80:0000:0000:0000.",
    })
);
schema!(GroupMtu, "GroupMtu", {
    let numbers: Vec<u16> = MTUS.iter().map(|(b, _)| *b).collect();
    let words: Vec<String> = numbers.iter().map(u16::to_string).collect();
    json_schema!({
        "description": "InfiniBand MTU in bytes; the IP MTU is 4 less.",
        "anyOf": [{ "enum": numbers }, { "enum": words }],
    })
});
schema!(GroupRate, "GroupRate", {
    let whole: Vec<u16> = RATES
        .iter()
        .filter(|(t, _)| t % 10 == 0)
        .map(|(t, _)| t / 10)
        .collect();
    let words: Vec<String> = whole.iter().map(u16::to_string).collect();
    json_schema!({
        "description": "Rate in Gb/s.",
        "anyOf": [{ "type": "integer", "enum": whole }, { "const": 2.5 }, { "enum": words }, { "const": "2.5" }],
    })
});
schema!(
    OptionValue,
    "OptionValue",
    json_schema!({
        "description": "Value of a key of opensm.conf: a boolean, a number, a word, or a list of words joined with commas.",
        "anyOf": [
            { "type": "boolean" },
            { "type": "integer" },
            { "type": "string", "pattern": "^[^\\s#\"'\\u0000-\\u001f\\u007f-\\u009f]{1,512}$" },
            { "type": "array", "minItems": 1, "items": { "type": "string", "pattern": "^[^\\s#\"'\\u0000-\\u001f\\u007f-\\u009f]{1,512}$" } },
        ],
    })
);

//! Parts of a document that are objects and nothing else.
//!
//! serde reads a list in place of an object as its fields in order, so `"scope": ["src/**"]` would be
//! refused for what stands in the list, or worse, be taken for something else.

/// Reads and writes a type whose derived implementations are its own (`#[serde(remote = "Self")]`) as
/// an object; what stands there instead is answered with an example.
macro_rules! objects_only {
    ($($name:ident like $example:literal;)+) => { $(
        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                $name::serialize(self, serializer)
            }
        }

        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                struct Object;

                impl<'de> serde::de::Visitor<'de> for Object {
                    type Value = $name;

                    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                        f.write_str(concat!("an object such as ", $example))
                    }

                    fn visit_map<A: serde::de::MapAccess<'de>>(
                        self,
                        map: A,
                    ) -> Result<$name, A::Error> {
                        $name::deserialize(serde::de::value::MapAccessDeserializer::new(map))
                    }
                }

                deserializer.deserialize_map(Object)
            }
        }
    )+ };
}

pub(crate) use objects_only;

#[cfg(test)]
mod tests {
    use crate::{Task, read_strict};

    fn with(part: &str) -> Result<Task, String> {
        let text = format!(r#"{{"schema":"task/1","id":"t","prompt":"x",{part}}}"#);
        read_strict(&text).map_err(|e| e.to_string())
    }

    #[test]
    fn a_list_or_a_word_is_no_object() {
        for (part, error) in [
            (
                r#""scope":["src/**"]"#,
                "$.scope: invalid type: sequence, expected an object such as \
                 {\"write\": [\"src/**\"]}",
            ),
            (
                r#""limits":["a"]"#,
                "$.limits: invalid type: sequence, expected an object such as {\"steps\": 20}",
            ),
            (
                r#""sandbox":"off""#,
                "$.sandbox: invalid type: string \"off\", expected an object such as \
                 {\"network\": \"none\"}",
            ),
            (
                r#""verify":["make"]"#,
                "$.verify[0]: invalid type: string \"make\", expected an object such as \
                 {\"command\": \"cargo test\"}",
            ),
            (
                r#""verify":[["make"]]"#,
                "$.verify[0]: invalid type: sequence, expected an object such as \
                 {\"command\": \"cargo test\"}",
            ),
        ] {
            assert_eq!(with(part).unwrap_err(), error);
        }
    }
}

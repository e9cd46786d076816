//! The `"schema": "name/major"` tag every document carries.

use std::marker::PhantomData;

use serde::de::{DeserializeOwned, Error as _};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A document with a schema tag.
pub trait Document: Serialize + DeserializeOwned {
    /// The tag, for example `health/1`.
    const SCHEMA: &'static str;
}

/// The value of a document's `schema` key: always `T::SCHEMA`, checked when read.
pub struct SchemaTag<T>(PhantomData<fn() -> T>);

impl<T> SchemaTag<T> {
    /// The tag of `T`.
    #[must_use]
    pub const fn new() -> Self {
        Self(PhantomData)
    }
}

impl<T> Default for SchemaTag<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T> Clone for SchemaTag<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for SchemaTag<T> {}

impl<T> PartialEq for SchemaTag<T> {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl<T> Eq for SchemaTag<T> {}

impl<T: Document> std::fmt::Debug for SchemaTag<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(T::SCHEMA)
    }
}

impl<T: Document> Serialize for SchemaTag<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(T::SCHEMA)
    }
}

impl<'de, T: Document> Deserialize<'de> for SchemaTag<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let found = String::deserialize(deserializer)?;
        if found == T::SCHEMA {
            Ok(Self::new())
        } else {
            Err(D::Error::custom(format!(
                "schema is `{found}`, this tool reads `{}`",
                T::SCHEMA
            )))
        }
    }
}

#[cfg(test)]
impl<T: Document> schemars::JsonSchema for SchemaTag<T> {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        format!("Schema of {}", T::SCHEMA).into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({ "const": T::SCHEMA })
    }
}

/// Ties a document type to its schema name.
macro_rules! document {
    ($type:ty, $schema:literal) => {
        impl $crate::schema::Document for $type {
            const SCHEMA: &'static str = $schema;
        }
    };
}
pub(crate) use document;

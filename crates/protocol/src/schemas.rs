//! The published JSON Schemas: generated from the types, committed in `schemas/`.

/// The JSON Schema of a document, as pretty-printed JSON text; none for an unknown name.
///
/// `name` is the schema tag, for example `health/1`.
pub fn schema_text(name: &str) -> Option<&'static str> {
    SCHEMAS
        .iter()
        .find(|(known, _)| *known == name)
        .map(|(_, text)| *text)
}

macro_rules! committed {
    ($($tag:literal => $file:literal),+ $(,)?) => {
        const SCHEMAS: &[(&str, &str)] =
            &[$(($tag, include_str!(concat!("../schemas/", $file, ".json")))),+];
    };
}

committed! {
    "clean/1" => "clean-1",
    "error/1" => "error-1",
    "estimate/1" => "estimate-1",
    "event/1" => "event-1",
    "handoff/1" => "handoff-1",
    "health/1" => "health-1",
    "landed/1" => "landed-1",
    "launch/1" => "launch-1",
    "launched/1" => "launched-1",
    "plan/1" => "plan-1",
    "reservation/1" => "reservation-1",
    "review/1" => "review-1",
    "run/1" => "run-1",
    "slots/1" => "slots-1",
    "status/1" => "status-1",
    "task/1" => "task-1",
    "trace/1" => "trace-1",
    "verdict/1" => "verdict-1",
}

#[cfg(test)]
mod tests {
    use schemars::JsonSchema;
    use serde_json::Value;

    use super::{SCHEMAS, schema_text};
    use crate::{
        Clean, Document, ErrorDocument, Estimate, Event, Handoff, Health, Landed, Launch, Launched,
        Plan, Reservation, Review, Run, SlotsStatus, Status, Task, Trace, Verdict, read,
    };

    /// Compares the generated schema with the committed file; `SNAPSHOTS=overwrite` rewrites it.
    fn guard<T: Document + JsonSchema + PartialEq + std::fmt::Debug>() {
        let file_name = T::SCHEMA.replace('/', "-");
        let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
        let schema = schemars::schema_for!(T);
        let generated = serde_json::to_string_pretty(&schema).unwrap() + "\n";
        let path = root.join("schemas").join(format!("{file_name}.json"));
        snapbox::assert_data_eq!(generated, snapbox::Data::read_from(&path, None).raw());

        let example =
            std::fs::read_to_string(root.join("examples").join(format!("{file_name}.json")))
                .unwrap_or_else(|e| panic!("example of {}: {e}", T::SCHEMA));
        let value: Value = serde_json::from_str(&example).unwrap();
        let schema = serde_json::to_value(&schema).unwrap();
        let validator = jsonschema::validator_for(&schema).unwrap();
        let errors: Vec<String> = validator
            .iter_errors(&value)
            .map(|e| format!("{}: {e}", e.instance_path()))
            .collect();
        assert!(errors.is_empty(), "{}: {errors:?}", T::SCHEMA);

        // What we write follows the schema too, and reading it gives back the same document.
        let document: T = read(&example).unwrap();
        let written = serde_json::to_value(&document).unwrap();
        assert!(validator.is_valid(&written), "{}: {written}", T::SCHEMA);
        assert_eq!(read::<T>(&written.to_string()).unwrap(), document);
        // An example shows every key: writing it again loses and adds none.
        assert_eq!(
            written,
            value,
            "the example of {} is not complete",
            T::SCHEMA
        );
    }

    #[test]
    fn schemas_and_examples_agree_with_the_types() {
        guard::<Clean>();
        guard::<ErrorDocument>();
        guard::<Estimate>();
        guard::<Event>();
        guard::<Handoff>();
        guard::<Health>();
        guard::<Landed>();
        guard::<Launch>();
        guard::<Launched>();
        guard::<Plan>();
        guard::<Reservation>();
        guard::<Review>();
        guard::<Run>();
        guard::<SlotsStatus>();
        guard::<Status>();
        guard::<Task>();
        guard::<Trace>();
        guard::<Verdict>();
    }

    #[test]
    fn every_committed_schema_can_be_asked_for() {
        assert_eq!(SCHEMAS.len(), 18);
        assert!(schema_text("health/1").unwrap().contains("providers"));
        assert!(schema_text("nonsense/1").is_none());
    }
}

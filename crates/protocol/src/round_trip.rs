//! Property tests: what is written can be read, by older and newer readers alike.

use proptest::prelude::*;
use serde_json::{Map, Value, json};

use crate::{Event, Health, Provider, RelPath, TaskId, Timestamp, read};

fn health() -> Value {
    serde_json::from_str(include_str!("../examples/health-1.json")).unwrap()
}

proptest! {
    #[test]
    fn any_millisecond_survives(millis in 0u64..253_402_300_799_000) {
        let time = Timestamp::new(std::time::UNIX_EPOCH + std::time::Duration::from_millis(millis));
        let text = serde_json::to_string(&time).unwrap();
        prop_assert_eq!(serde_json::from_str::<Timestamp>(&text).unwrap(), time);
    }

    #[test]
    fn an_old_tool_in_the_middle_of_a_pipe_loses_no_new_key(
        key in "new_[a-z]{1,8}", number in any::<i64>(), text in ".*",
    ) {
        let mut new = health();
        let value = json!({ "n": number, "t": text });
        new["providers"][0][&key] = value.clone();
        new["providers"][0]["models"][0][&key] = value.clone();
        let old: Health = read(&new.to_string()).unwrap();
        let written = serde_json::to_value(&old).unwrap();
        prop_assert_eq!(&written["providers"][0][&key], &value);
        prop_assert_eq!(&written["providers"][0]["models"][0][&key], &value);
    }

    #[test]
    fn a_new_tool_reads_what_an_old_one_wrote(drop in 0usize..20) {
        // Keys that were added later are absent in old documents; only the founding ones are needed.
        let needed = ["id", "base_url", "server", "state", "state_reason"];
        let mut old = health();
        let provider = old["providers"][0].as_object_mut().unwrap();
        let keys: Vec<String> = provider.keys().cloned().collect();
        let key = &keys[drop % keys.len()];
        provider.remove(key);
        let result = read::<Health>(&old.to_string());
        prop_assert_eq!(result.is_ok(), !needed.contains(&key.as_str()), "{}", key);
    }

    #[test]
    fn any_text_is_read_or_refused_never_a_panic(text in ".*") {
        let _ = read::<Health>(&text);
        let _ = TaskId::new(text.clone());
        let _ = RelPath::new(text);
    }

    #[test]
    fn events_keep_what_they_carry(kind in "[a-z-]{1,12}", n in any::<u32>()) {
        let mut data = Map::new();
        data.insert("n".into(), n.into());
        let event = Event {
            schema: crate::SchemaTag::new(),
            at: Timestamp::new(std::time::UNIX_EPOCH),
            run: None,
            task: None,
            kind,
            data,
        };
        let text = serde_json::to_string(&event).unwrap();
        prop_assert_eq!(read::<Event>(&text).unwrap(), event);
    }
}

#[test]
fn enums_of_newer_tools_read_as_unknown() {
    let mut new = health();
    new["providers"][0]["state"] = "dreaming".into();
    new["providers"][0]["server"]["kind"] = "quantum".into();
    let old: Health = read(&new.to_string()).unwrap();
    let provider: &Provider = &old.providers[0];
    assert_eq!(provider.state, crate::ServerState::Unknown);
    assert_eq!(provider.server.kind, crate::ServerKind::Unknown);
}

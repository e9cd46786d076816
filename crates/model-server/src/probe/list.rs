//! Model lists (`/v1/models`), in all their dialects.

use std::collections::BTreeMap;

use baton_protocol::{ContextSource, Model, ModelState};
use serde_json::{Value, json};

use super::finding::{limit, model};
use crate::stream::number;

/// A served window, under every name servers give it, nearest to the truth first.
const WINDOWS: [&[&str]; 9] = [
    &["max_model_len"],
    &["meta", "n_ctx"],
    &["metadata", "context_length"],
    &["context_length"],
    &["context_window"],
    &["max_context_length"],
    &["max_input_tokens"],
    &["top_provider", "context_length"],
    &["model_info", "max_input_tokens"],
];

/// A list without entries.
static NONE: Vec<Value> = Vec::new();

/// The entries of a list: `data`, `models`, or the array itself. Servers written in Go say
/// `"data": null` for no entries.
pub(crate) fn entries(body: &Value) -> Option<&Vec<Value>> {
    if body.get("data").is_some_and(Value::is_null)
        && body.get("object").is_some_and(|object| object == "list")
    {
        return Some(&NONE);
    }
    ["data", "models"]
        .iter()
        .find_map(|key| body.get(*key).and_then(Value::as_array))
        .or_else(|| body.as_array())
}

/// Reads a list. Models that cannot chat (embeddings, rerankers) are left out.
pub(crate) fn models(body: &Value) -> Vec<Model> {
    let Some(entries) = entries(body) else {
        return Vec::new();
    };
    let mut models: Vec<Model> = Vec::new();
    let mut places: BTreeMap<String, usize> = BTreeMap::new();
    for model in entries.iter().filter_map(one) {
        let known = places.get(&model.id).and_then(|at| models.get_mut(*at));
        if let Some(known) = known {
            // Named twice (two servers behind one gateway): nobody knows which one will answer.
            known.max_model_len = smaller(known.max_model_len, model.max_model_len);
            limit(known, model.usable_context, ContextSource::ServedWindow);
        } else {
            places.insert(model.id.clone(), models.len());
            models.push(model);
        }
    }
    inherit(&mut models);
    // A name tells little, so it only counts where it leaves something to chat with.
    if models.iter().any(|m| !is_named_otherwise(&m.id)) {
        models.retain(|m| !is_named_otherwise(&m.id));
    }
    models
}

fn smaller(a: Option<u64>, b: Option<u64>) -> Option<u64> {
    a.into_iter().chain(b).min()
}

/// Whether a name is one that models have which do not chat. Many lists tell nothing else.
fn is_named_otherwise(id: &str) -> bool {
    let name = id.to_lowercase();
    let name = name.rsplit('/').next().unwrap_or(&name);
    let parts: Vec<&str> = name
        .split(|c: char| !c.is_ascii_alphanumeric())
        .filter(|part| !part.is_empty())
        .collect();
    let has = |words: &[&str]| parts.iter().any(|part| words.contains(part));
    let begins = |words: &[&str]| parts.first().is_some_and(|part| words.contains(part));
    has(&["embed", "embedding", "embeddings", "rerank", "reranker"])
        || begins(&["whisper", "tts", "dall"])
}

fn one(entry: &Value) -> Option<Model> {
    let id = ["id", "name", "model", "key"]
        .iter()
        .find_map(|key| entry.get(*key).and_then(Value::as_str))
        .or_else(|| entry.as_str())
        .filter(|id| !id.is_empty())?;
    if !can_chat(entry) {
        return None;
    }
    let mut model = model(id, ModelState::Unknown);
    let window = smallest_window(entry);
    model.max_model_len = window;
    limit(&mut model, window, ContextSource::ServedWindow);
    if let Some(aliases) = entry.get("aliases").and_then(Value::as_array)
        && aliases.iter().any(|alias| alias.as_str() != Some(id))
    {
        model.other.insert("aliases".to_owned(), json!(aliases));
    }
    if let Some(parent) = entry.get("parent").and_then(Value::as_str) {
        model.other.insert("parent".to_owned(), json!(parent));
    }
    if let Some(trained) = entry
        .get("meta")
        .and_then(|m| number(m.get("n_ctx_train")?))
    {
        model
            .other
            .insert("trained_context".to_owned(), json!(trained));
    }
    if let Some(parameters) = entry.get("meta").and_then(|m| number(m.get("n_params")?)) {
        model
            .other
            .insert("parameters".to_owned(), json!(parameters));
    }
    Some(model)
}

/// The smallest window an entry names. Zero and null are no window.
fn smallest_window(entry: &Value) -> Option<u64> {
    WINDOWS
        .iter()
        .filter_map(|path| {
            let mut value = entry;
            for key in *path {
                value = value.get(key)?;
            }
            number(value)
        })
        .filter(|n| *n > 0)
        .min()
}

/// Words in a type, task or mode that rule chat out.
const NOT_CHAT: [&str; 11] = [
    "embed",
    "rerank",
    "transcription",
    "speech",
    "image_gen",
    "image-gen",
    "text-to-image",
    "moderation",
    "classif",
    "text-to-video",
    "sentence-similarity",
];

/// The same, where the whole word is that: `image` is one, `image-text-to-text` is not.
const NOT_CHAT_ALONE: [&str; 11] = [
    "stt",
    "tts",
    "asr",
    "audio",
    "image",
    "images",
    "video",
    "score",
    "reward",
    "pooling",
    "diffusion",
];

/// Whether an entry is a model for chat, as far as it tells.
pub(crate) fn can_chat(entry: &Value) -> bool {
    let text = |key: &str| {
        entry
            .get(key)
            .and_then(Value::as_str)
            .unwrap_or_default()
            .to_lowercase()
    };
    let kinds = [text("type"), text("task"), text("mode"), text("model_type")];
    let says_not = kinds.iter().any(|kind| {
        NOT_CHAT.iter().any(|word| kind.contains(word)) || NOT_CHAT_ALONE.contains(&kind.as_str())
    });
    let only_other_output = entry
        .get("architecture")
        .and_then(|a| a.get("output_modalities"))
        .and_then(Value::as_array)
        .is_some_and(|outputs| !outputs.is_empty() && !outputs.iter().any(|o| o == "text"));
    // Ollama tells embedding models by nothing else.
    let is_bert = entry
        .get("details")
        .and_then(|details| details.get("family")?.as_str())
        .is_some_and(|family| family.to_lowercase().contains("bert"));
    !says_not && !only_other_output && !is_bert
}

/// The longest line of parents that is followed: an adapter of a merge of a base.
const GENERATIONS: usize = 3;

/// A LoRA child without a window of its own has its parent's.
fn inherit(models: &mut [Model]) {
    for _ in 0..GENERATIONS {
        let windows: BTreeMap<String, Option<u64>> = models
            .iter()
            .map(|m| (m.id.clone(), m.max_model_len))
            .collect();
        for model in models.iter_mut().filter(|m| m.usable_context.is_none()) {
            let parent = model.other.get("parent").and_then(Value::as_str);
            let window = parent.and_then(|parent| windows.get(parent).copied().flatten());
            model.max_model_len = window;
            limit(model, window, ContextSource::Inherited);
        }
    }
}

/// Finds the model a name means: an exact id, an alias, or the only file whose stem it is.
pub(crate) fn find<'a>(models: &'a [Model], name: &str) -> Option<&'a Model> {
    let by_id = models.iter().find(|m| m.id == name);
    let alias = |m: &&Model| {
        m.other
            .get("aliases")
            .and_then(Value::as_array)
            .is_some_and(|aliases| aliases.iter().any(|a| a == name))
    };
    by_id
        .or_else(|| models.iter().find(alias))
        .or_else(|| only(models.iter().filter(|m| stem(&m.id) == Some(name))))
}

fn only<'a>(mut models: impl Iterator<Item = &'a Model>) -> Option<&'a Model> {
    let first = models.next()?;
    models.next().is_none().then_some(first)
}

/// The name of a model file without folder and extension; none for an id that is no path.
fn stem(id: &str) -> Option<&str> {
    let (_, file) = id.rsplit_once('/')?;
    Some(file.strip_suffix(".gguf").unwrap_or(file))
}

#[cfg(test)]
mod tests {
    use baton_protocol::ContextSource;
    use serde_json::{Value, json};

    use super::{find, models};

    fn usable(body: &Value) -> Vec<(String, Option<u64>, Option<ContextSource>)> {
        models(body)
            .into_iter()
            .map(|m| (m.id, m.usable_context, m.usable_context_source))
            .collect()
    }

    const SERVED: Option<ContextSource> = Some(ContextSource::ServedWindow);

    #[test]
    fn r17_the_served_window_comes_before_the_trained_one() {
        let body = json!({"data": [{"id": "/models/x.gguf", "meta": {"n_ctx": 256_000, "n_ctx_train": 262_144}}]});
        assert_eq!(
            usable(&body),
            [("/models/x.gguf".to_owned(), Some(256_000), SERVED)]
        );
        let one = models(&body);
        assert_eq!(
            find(&one, "x").map(|m| m.id.as_str()),
            Some("/models/x.gguf")
        );
        assert!(find(&one, "y").is_none());
        let two = models(&json!({"data": [{"id": "/a/x.gguf"}, {"id": "/b/x.gguf"}]}));
        assert!(find(&two, "x").is_none(), "two models: no guess");
    }

    #[test]
    fn r18_every_name_of_the_window_is_read_and_the_smallest_wins() {
        for entry in [
            json!({"id": "m", "metadata": {"context_length": 16_384}, "context_length": 262_144}),
            json!({"id": "m", "max_model_len": 16_384}),
            json!({"id": "m", "context_length": "16384"}),
            json!({"id": "m", "meta": {"n_ctx": 16_384.0}}),
        ] {
            assert_eq!(
                usable(&json!({"data": [entry]}))[0].1,
                Some(16_384),
                "{entry}"
            );
        }
    }

    #[test]
    fn r19_a_lora_child_has_its_parent_s_window() {
        let body = json!({"data": [
            {"id": "base", "root": "/x", "parent": null, "max_model_len": 131_072},
            {"id": "lora_1", "root": "/l", "parent": "base", "max_model_len": null},
            {"id": "orphan", "parent": "gone", "max_model_len": null},
        ]});
        assert_eq!(
            usable(&body),
            [
                ("base".to_owned(), Some(131_072), SERVED),
                (
                    "lora_1".to_owned(),
                    Some(131_072),
                    Some(ContextSource::Inherited)
                ),
                ("orphan".to_owned(), None, None),
            ]
        );
    }

    #[test]
    fn r13_an_embeddings_model_is_no_chat_candidate() {
        let body = json!({"data": [
            {"id": "e", "type": "embeddings"},
            {"id": "r", "task": "rerank"},
            {"id": "m", "type": "llm"},
        ]});
        assert_eq!(usable(&body), [("m".to_owned(), None, None)]);
    }

    #[test]
    fn r19_an_adapter_of_an_adapter_has_the_base_s_window_and_a_circle_has_none() {
        let body = json!({"data": [
            {"id": "c", "parent": "b", "max_model_len": null},
            {"id": "b", "parent": "a", "max_model_len": null},
            {"id": "a", "max_model_len": 4096},
            {"id": "x", "parent": "y"},
            {"id": "y", "parent": "x"},
            {"id": "z", "parent": "z"},
        ]});
        let windows: Vec<Option<u64>> = usable(&body).into_iter().map(|m| m.1).collect();
        assert_eq!(
            windows,
            [Some(4096), Some(4096), Some(4096), None, None, None]
        );
    }

    #[test]
    fn r18_a_model_that_is_listed_twice_has_the_smaller_window_in_either_order() {
        for (first, second) in [(8192, 4096), (4096, 8192)] {
            let body = json!({"data": [
                {"id": "m", "max_model_len": first},
                {"id": "m", "max_model_len": second},
            ]});
            let found = models(&body);
            assert_eq!(found.len(), 1);
            assert_eq!(found[0].usable_context, Some(4096));
            assert_eq!(found[0].max_model_len, Some(4096));
        }
    }

    #[test]
    fn r13_what_does_not_chat_is_known_by_its_kind_or_else_by_its_name() {
        let ids =
            |body: &Value| -> Vec<String> { models(body).into_iter().map(|m| m.id).collect() };
        for kind in [
            "stt",
            "tts",
            "image",
            "embed",
            "text-to-image",
            "moderation",
            "score",
        ] {
            let body = json!({"data": [{"id": "a", "type": kind}, {"id": "b", "type": "chat"}]});
            assert_eq!(ids(&body), ["b"], "{kind}");
        }
        let sees = json!({"data": [{"id": "v", "task": "image-text-to-text"}, {"id": "w", "type": "vlm"}]});
        assert_eq!(ids(&sees), ["v", "w"]);
        let bare = json!({"data": [
            {"id": "nomic-ai/nomic-embed-text-v1.5"},
            {"id": "text-embedding-3-small"},
            {"id": "bge-reranker-v2-m3"},
            {"id": "whisper-1"},
            {"id": "whispering-llama"},
            {"id": "qwen3"},
        ]});
        assert_eq!(ids(&bare), ["whispering-llama", "qwen3"]);
        let only = json!({"data": [{"id": "text-embedding-3-small"}]});
        assert_eq!(
            ids(&only).len(),
            1,
            "a name alone leaves no server without a model"
        );
    }

    #[test]
    fn r40_zero_is_unknown_and_never_unlimited() {
        for zero in [json!(0), json!(-5), json!(null), json!("0")] {
            let body = json!({"data": [{"id": "m", "context_length": zero}]});
            assert_eq!(usable(&body)[0].1, None, "{body}");
        }
    }

    #[test]
    fn aliases_name_a_model_and_nothing_else_does() {
        let body =
            json!({"data": [{"id": "gemma-tiny", "aliases": ["gemma-tiny", "second-name"]}]});
        let list = models(&body);
        assert!(find(&list, "second-name").is_some());
        assert!(find(&list, "gemma").is_none());
        assert!(find(&list, "GEMMA-TINY").is_none());
        // `root` is where the weights lie, not a name.
        let rooted = models(&json!({"data": [{"id": "a", "root": "b"}]}));
        assert!(find(&rooted, "b").is_none());
    }

    #[test]
    fn odd_lists_do_not_break_it() {
        for body in [
            json!(null),
            json!({}),
            json!({"data": {}}),
            json!({"data": [1, null, {}]}),
        ] {
            assert!(models(&body).is_empty(), "{body}");
        }
    }
}

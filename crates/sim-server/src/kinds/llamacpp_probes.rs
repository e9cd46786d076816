//! llama-server's probe documents: models, properties, slots, metrics.

use std::fmt::Write as _;

use serde_json::{Value, json};

use super::{Stamp, extend};
use crate::config::Config;
use crate::engine::{Snapshot, Task};

const TEMPLATE: &str = "{%- for message in messages %}{{- '<|im_start|>' + message.role + '\\n' + message.content + '<|im_end|>\\n' }}{%- endfor %}{%- if add_generation_prompt %}{{- '<|im_start|>assistant\\n' }}{%- endif %}";

pub(super) fn models(config: &Config, stamp: &Stamp) -> Value {
    let name = &config.models[0];
    json!({
        "models": [{
            "name": name, "model": name, "modified_at": "", "size": "", "digest": "", "type": "model",
            "description": "", "tags": [""], "capabilities": ["completion"], "parameters": "",
            "details": {"parent_model": "", "format": "gguf", "family": "", "families": [""],
                        "parameter_size": "", "quantization_level": ""},
        }],
        "object": "list",
        "data": [{
            "id": name, "aliases": config.models, "tags": [], "object": "model",
            "architecture": {"input_modalities": ["text"], "output_modalities": ["text"]},
            "created": stamp.created, "owned_by": "llamacpp", "meta": meta(config),
        }],
    })
}

pub(super) fn meta(config: &Config) -> Value {
    json!({"vocab_type": 2, "n_vocab": 151_936, "n_ctx": config.context,
           "n_ctx_train": config.trained_context, "n_embd": 1536, "n_params": 1_777_088_000_u64,
           "size": 1_111_370_240_u64, "ftype": "Q4_K - Medium"})
}

pub(super) fn props(config: &Config) -> Value {
    let mut params = params(-1, false);
    extend(
        &mut params,
        json!({"chat_format": "Content-only", "reasoning_format": "none", "generation_prompt": ""}),
    );
    json!({
        "default_generation_settings": {"params": params, "n_ctx": config.context},
        "total_slots": config.slots, "model_alias": config.models[0], "model_ftype": "Q4_K - Medium",
        "model_path": config.models[0], "modalities": {"vision": false, "video": false, "audio": false},
        "media_marker": "<__media_simulated__>", "endpoint_slots": true, "endpoint_props": false,
        "endpoint_metrics": true, "ui": true, "ui_settings": {}, "chat_template": TEMPLATE,
        "chat_template_caps": {
            "supports_object_arguments": true, "supports_parallel_tool_calls": true,
            "supports_preserve_reasoning": false, "supports_reasoning_effort": false,
            "supports_string_content": true, "supports_system_role": true, "supports_tool_calls": true,
            "supports_tools": true, "supports_typed_content": false,
        },
        "bos_token": "<|endoftext|>", "eos_token": "<|im_end|>", "build_info": "b11434-sdist",
        "is_sleeping": false, "cors_proxy_enabled": false,
    })
}

/// Sampling parameters, which this server repeats wherever it can.
fn params(limit: i64, stream: bool) -> Value {
    let mut all = json!({
        "seed": 4_294_967_295_u32, "temperature": 0.8, "dynatemp_range": 0.0, "dynatemp_exponent": 1.0,
        "top_k": 40, "top_p": 0.95, "min_p": 0.05, "top_n_sigma": -1.0, "xtc_probability": 0.0,
        "xtc_threshold": 0.1, "typical_p": 1.0, "repeat_last_n": 64, "repeat_penalty": 1.0,
        "presence_penalty": 0.0, "frequency_penalty": 0.0, "dry_multiplier": 0.0, "dry_base": 1.75,
        "dry_allowed_length": 2, "dry_penalty_last_n": 64, "mirostat": 0, "mirostat_tau": 5.0,
    });
    extend(
        &mut all,
        json!({
            "mirostat_eta": 0.1, "adaptive_target": -1.0, "adaptive_decay": 0.9, "max_tokens": limit,
            "n_predict": limit, "n_keep": 0, "n_discard": 0, "ignore_eos": false, "stream": stream,
            "n_probs": 0, "min_keep": 0, "chat_format": "peg-native", "reasoning_format": "deepseek",
            "reasoning_in_content": false, "generation_prompt": "<|im_start|>assistant\n",
        }),
    );
    let samplers = [
        "penalties",
        "dry",
        "top_n_sigma",
        "top_k",
        "typ_p",
        "top_p",
        "min_p",
        "xtc",
        "temperature",
    ];
    extend(
        &mut all,
        json!({
            "samplers": samplers, "speculative.types": "none", "timings_per_token": false,
            "post_sampling_probs": false, "backend_sampling": false, "lora": [],
        }),
    );
    all
}

/// A slot that was never used shows little; one that was shows its last task for ever.
pub(super) fn slots(config: &Config, now: &Snapshot) -> Value {
    let slot = |slot: &crate::engine::SlotView| {
        let mut entry = json!({"id": slot.id, "n_ctx": config.context, "speculative": false,
                               "is_processing": slot.processing});
        if let Some(task) = &slot.task {
            extend(&mut entry, task_fields(task, slot.processing));
        }
        entry
    };
    now.slots.iter().map(slot).collect()
}

fn task_fields(task: &Task, running: bool) -> Value {
    let limit = i64::try_from(task.limit).unwrap_or(-1);
    json!({
        "id_task": task.ticket, "n_prompt_tokens": task.prompt + task.generated,
        "n_prompt_tokens_processed": task.read, "n_prompt_tokens_cache": task.cached,
        "params": params(limit, true),
        "next_token": [{"has_next_token": running, "has_new_line": false,
                        "n_remain": task.limit.saturating_sub(task.generated), "n_decoded": task.generated}],
    })
}

pub(super) fn metrics(now: &Snapshot) -> String {
    let totals = now.totals;
    let rows: [(&str, &str, u64); 15] = [
        ("prompt_tokens_total", "counter", totals.prompt),
        ("prompt_tokens_cached_total", "counter", totals.cached),
        ("prompt_seconds_total", "counter", 0),
        ("tokens_predicted_total", "counter", totals.generated),
        ("tokens_predicted_seconds_total", "counter", 0),
        ("n_decode_total", "counter", totals.generated),
        ("n_tokens_max", "counter", totals.longest),
        ("spec_decode_num_draft_tokens_total", "counter", 0),
        ("spec_decode_num_accepted_tokens_total", "counter", 0),
        ("spec_decode_num_drafts_total", "counter", 0),
        ("prompt_tokens_seconds", "gauge", 0),
        ("predicted_tokens_seconds", "gauge", 0),
        ("requests_processing", "gauge", now.running as u64),
        ("requests_deferred", "gauge", now.waiting as u64),
        ("n_busy_slots_per_decode", "gauge", now.running as u64),
    ];
    let mut out = String::new();
    for (name, kind, value) in rows {
        // Writing to a string cannot fail.
        let _ = writeln!(
            out,
            "# TYPE llamacpp:{name} {kind}\nllamacpp:{name} {value}"
        );
    }
    out
}

//! vLLM's `/metrics`: the gauges and counters a client reads, with the labels of the real server.

use std::fmt::Write as _;

use crate::config::Config;
use crate::engine::Snapshot;

/// One sample: its labels beside engine and model, and the value.
type Sample = (&'static str, f64);

pub(super) fn render(config: &Config, now: &Snapshot, block: u64) -> String {
    let mut out = String::new();
    let pool = config.pool_tokens();
    #[expect(
        clippy::cast_precision_loss,
        reason = "counters of a simulator stay far below 2^52"
    )]
    let float = |n: u64| n as f64;
    let awake = [
        ("sleep_state=\"awake\"", 1.0),
        ("sleep_state=\"weights_offloaded\"", 0.0),
        ("sleep_state=\"discard_all\"", 0.0),
    ];
    let waiting = float(now.waiting as u64);
    let totals = now.totals;
    let mut family = |name: &str, kind: &str, samples: &[Sample]| {
        // Writing to a string cannot fail.
        let _ = writeln!(out, "# TYPE vllm:{name} {kind}");
        for (labels, value) in samples {
            let comma = if labels.is_empty() { "" } else { "," };
            let model = &config.models[0];
            let _ = writeln!(
                out,
                "vllm:{name}{{engine=\"0\",model_name=\"{model}\"{comma}{labels}}} {value:?}"
            );
        }
    };
    family(
        "num_requests_running",
        "gauge",
        &[("", float(now.running as u64))],
    );
    family("num_requests_waiting", "gauge", &[("", waiting)]);
    let reasons = [
        ("reason=\"capacity\"", waiting),
        ("reason=\"deferred\"", 0.0),
    ];
    family("num_requests_waiting_by_reason", "gauge", &reasons);
    family("engine_sleep_state", "gauge", &awake);
    family(
        "kv_cache_usage_perc",
        "gauge",
        &[("", float(now.pool_used) / float(pool.max(1)))],
    );
    family(
        "prefix_cache_queries_total",
        "counter",
        &[("", float(totals.prompt + totals.cached))],
    );
    family(
        "prefix_cache_hits_total",
        "counter",
        &[("", float(totals.cached))],
    );
    family(
        "num_preemptions_total",
        "counter",
        &[("", float(totals.preempted))],
    );
    family(
        "prompt_tokens_total",
        "counter",
        &[("", float(totals.prompt + totals.cached))],
    );
    family(
        "prompt_tokens_cached_total",
        "counter",
        &[("", float(totals.cached))],
    );
    family(
        "generation_tokens_total",
        "counter",
        &[("", float(totals.generated))],
    );
    let ended = [
        ("finished_reason=\"stop\"", float(totals.stopped)),
        ("finished_reason=\"length\"", float(totals.cut)),
        ("finished_reason=\"abort\"", 0.0),
        ("finished_reason=\"error\"", 0.0),
        ("finished_reason=\"repetition\"", 0.0),
    ];
    family("request_success_total", "counter", &ended);
    let rejected = [
        ("reason=\"max_num_queued_reqs\"", float(totals.rejected)),
        ("reason=\"max_num_queued_tokens\"", 0.0),
    ];
    family("admission_rejections_total", "counter", &rejected);
    let info = format!(
        "# TYPE vllm:cache_config_info gauge\nvllm:cache_config_info{{block_size=\"{block}\",cache_dtype=\"auto\",\
         enable_prefix_caching=\"True\",engine=\"0\",kv_cache_size_tokens=\"{pool}\",num_gpu_blocks=\"{}\"}} 1.0\n",
        pool / block
    );
    out.push_str(&info);
    out
}

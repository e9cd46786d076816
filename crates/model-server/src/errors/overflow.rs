//! Recognises "the prompt is too long" in the words of every server, and finds the numbers.

use serde_json::Value;

use crate::stream::number;

/// What an overflow message tells.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Overflow {
    /// The prompt's tokens. None where the server only says "more than the limit".
    pub prompt_tokens: Option<u64>,
    /// The window, in tokens.
    pub limit: Option<u64>,
}

/// A wording: what must occur (lower case), and where its numbers are.
struct Wording {
    /// All of these occur in the message.
    needles: &'static [&'static str],
    /// The number after this text is the window.
    limit: &'static [&'static str],
    /// The number after this text is the prompt.
    prompt: &'static [&'static str],
}

/// Wordings seen in the wild. The first that matches gives the numbers.
const WORDINGS: &[Wording] = &[
    // llama.cpp: `request (124315 tokens) exceeds the available context size (123904 tokens)`
    Wording {
        needles: &["exceeds the available context size"],
        limit: &["available context size ("],
        prompt: &["request ("],
    },
    // llama.cpp before that: `Input prompt is too big compared to KV size`
    Wording {
        needles: &["compared to kv size"],
        limit: &[],
        prompt: &[],
    },
    // llama.cpp, shared pool; LM Studio
    Wording {
        needles: &["context size has been exceeded"],
        limit: &[],
        prompt: &[],
    },
    // vLLM: `You passed 5000 input tokens and requested 0 output tokens. However, the model's context
    // length is only 4096 tokens, resulting in a maximum input length of …`
    Wording {
        needles: &["context length is only"],
        limit: &["context length is only "],
        prompt: &["you passed "],
    },
    // vLLM: `maximum context length is 4096 tokens. However, your prompt contains at least 4097
    // input tokens`; older: `you requested 70000 tokens (62466 in the messages, …)`. The number
    // after "at least" is the limit plus one, not the size of the prompt.
    Wording {
        needles: &["maximum context length"],
        limit: &[
            "maximum context length is ",
            "maximum context length of ",
            "maximum context length (",
            "model with ",
        ],
        prompt: &[
            "you requested (",
            "prompt contains ",
            "your request has ",
            "resulted in ",
            "your messages resulted in ",
            "tokens (",
            "tokens: ",
            "prompt contains ",
        ],
    },
    // vLLM: `max_tokens=100000 cannot be greater than max_model_len=4096`
    Wording {
        needles: &["cannot be greater than", "max_model_len"],
        limit: &["max_model_len=max_total_tokens=", "max_model_len="],
        prompt: &[],
    },
    Wording {
        needles: &["longer than the maximum model length"],
        limit: &["maximum model length of "],
        prompt: &["prompt (length ", "prompt (total length "],
    },
    Wording {
        needles: &["too long to fit into the model"],
        limit: &["context length "],
        prompt: &["prompt (total length ", "prompt (length "],
    },
    // exllama and kin: `Prompt length 5000 is greater than max_seq_len 4096`
    Wording {
        needles: &["prompt length", "max_seq_len"],
        limit: &["max_seq_len "],
        prompt: &["prompt length "],
    },
    // llama-cpp-python: `Requested tokens (5000) exceed context window of 4096`
    Wording {
        needles: &["requested tokens", "context window"],
        limit: &["context window of "],
        prompt: &["requested tokens ("],
    },
    // vLLM once: `Input prompt (5000 tokens) is too long and exceeds limit of 4096`
    Wording {
        needles: &["prompt", "too long", "exceeds limit of"],
        limit: &["exceeds limit of "],
        prompt: &["prompt ("],
    },
    Wording {
        needles: &["number of tokens in the prompt", "cannot exceed"],
        limit: &["cannot exceed "],
        prompt: &["received "],
    },
    Wording {
        needles: &["longer than the", "maximum sequence length"],
        limit: &[" > "],
        prompt: &["this model ("],
    },
    // TensorRT-LLM: `The sum of prompt length (5000), query length (0) and max_tokens (100) should
    // not exceed max_num_tokens (4096)`
    Wording {
        needles: &["prompt length", "should not exceed"],
        limit: &["max_num_tokens (", "max_seq_len ("],
        prompt: &["prompt length ("],
    },
    // TensorRT-LLM: `prompt length (5000) exceeds maximum input length (4096)`
    Wording {
        needles: &["exceed", "maximum input length"],
        limit: &["maximum input length (", "maximum input length of "],
        prompt: &["prompt length (", "input length ("],
    },
    // Hosted ones that gateways pass on
    Wording {
        needles: &["maximum prompt length"],
        limit: &["maximum prompt length is "],
        prompt: &["request contains "],
    },
    Wording {
        needles: &["prompt token count", "exceeds the limit"],
        limit: &["exceeds the limit of "],
        prompt: &["prompt token count of "],
    },
    Wording {
        needles: &["input token count", "maximum number of tokens"],
        limit: &["tokens allowed ("],
        prompt: &["token count ("],
    },
    Wording {
        needles: &["exceed context limit"],
        limit: &["> "],
        prompt: &["context limit: "],
    },
    Wording {
        needles: &["session_len"],
        limit: &["session_len "],
        prompt: &[],
    },
    Wording {
        needles: &["reached context length of"],
        limit: &["reached context length of "],
        prompt: &[],
    },
    // LM Studio, with its own word order
    Wording {
        needles: &["context", "overflow", "tokens"],
        limit: &["context length of only ", "context length of "],
        prompt: &["keep the first "],
    },
    Wording {
        needles: &["greater than the context length"],
        limit: &["n_ctx: ", "context length (", "context length of "],
        prompt: &["n_keep: ", "number of tokens (", "tokens to keep ("],
    },
    // SGLang: `Input length (5000 tokens) exceeds the maximum allowed length (4096 tokens)`;
    // `The input (5000 tokens) is longer than the model's context length (4096 tokens).`
    Wording {
        needles: &["input", "exceeds the maximum allowed length"],
        limit: &["allowed length ("],
        prompt: &["input length ("],
    },
    Wording {
        needles: &["longer than the model's context length"],
        limit: &["context length ("],
        prompt: &["input ("],
    },
    // TGI: ``inputs` tokens + `max_new_tokens` must be <= 4096. Given: 5000 `inputs` tokens``
    Wording {
        needles: &["must be <=", "inputs"],
        limit: &["must be <= "],
        prompt: &["given: "],
    },
    Wording {
        needles: &["inputs", "must have less than", "tokens"],
        limit: &["less than "],
        prompt: &["given: "],
    },
    // Ollama: `input length exceeds the context length`, and kin
    Wording {
        needles: &["input length", "exceeds", "context length"],
        limit: &["context length of ", "context length ("],
        prompt: &["input length of ", "input length ("],
    },
    Wording {
        needles: &["exceeds", "context window"],
        limit: &["context window of ", "context window ("],
        prompt: &[],
    },
    Wording {
        needles: &["exceed", "context length"],
        limit: &["context length of ", "context length ("],
        prompt: &[],
    },
    Wording {
        needles: &["prompt is too long"],
        limit: &["> "],
        prompt: &["too long: "],
    },
    Wording {
        needles: &["input is too long"],
        limit: &[],
        prompt: &[],
    },
    Wording {
        needles: &["reduce the length of the"],
        limit: &[],
        prompt: &[],
    },
    // A template that lost the user's turn to a silent cut (Ollama, and Qwen's templates)
    Wording {
        needles: &["no user query found in messages"],
        limit: &[],
        prompt: &[],
    },
    Wording {
        needles: &["context_length_exceeded"],
        limit: &[],
        prompt: &[],
    },
    // LiteLLM names its class in the message
    Wording {
        needles: &["contextwindowexceedederror"],
        limit: &[],
        prompt: &[],
    },
    Wording {
        needles: &["model_max_prompt_tokens_exceeded"],
        limit: &[],
        prompt: &[],
    },
];

/// Types and codes that mean overflow whatever the message says.
const TYPES: [&str; 5] = [
    "exceed_context_size_error",
    "context_length_exceeded",
    "context_window_exceeded",
    "prompt_over_max_safe_ctx",
    "model_max_prompt_tokens_exceeded",
];

/// Reads an error (an object, or the text some servers send instead) as an overflow.
pub fn overflow(error: &Value) -> Option<Overflow> {
    let message = super::message_of(error);
    let by_type = ["type", "code"].iter().any(|key| {
        error
            .get(*key)
            .and_then(Value::as_str)
            .is_some_and(|t| TYPES.contains(&t))
    });
    let by_words = from_words(&message);
    if !by_type && by_words.is_none() {
        return None;
    }
    let words = by_words.unwrap_or_default();
    let field = |name: &str| error.get(name).and_then(number).filter(|n| *n > 0);
    Some(Overflow {
        prompt_tokens: field("n_prompt_tokens").or(words.prompt_tokens),
        limit: field("n_ctx").or(words.limit),
    })
}

fn from_words(message: &str) -> Option<Overflow> {
    let text = message.to_lowercase();
    let wording = WORDINGS
        .iter()
        .find(|w| w.needles.iter().all(|needle| text.contains(needle)))?;
    let find = |labels: &[&str]| labels.iter().find_map(|label| number_after(&text, label));
    Some(Overflow {
        prompt_tokens: parts(&text).or_else(|| find(wording.prompt)),
        limit: find(wording.limit),
    })
}

/// A prompt told in parts: `(52139 of text input, 12757 of tool input, 200000 in the output)`.
fn parts(text: &str) -> Option<u64> {
    let (before, after) = text.split_once(" of text input")?;
    let words = number_after(&format!("({}", before.rsplit_once('(')?.1), "(")?;
    let tools = after
        .split_once(" of tool input")
        .and_then(|(before, _)| number_after(before, ", "))
        .unwrap_or(0);
    words.checked_add(tools)
}

/// The number right after a label; commas group its digits.
fn number_after(text: &str, label: &str) -> Option<u64> {
    let (_, rest) = text.split_once(label)?;
    let end = rest
        .find(|c: char| !c.is_ascii_digit() && c != ',')
        .unwrap_or(rest.len());
    let (digits, after) = rest.split_at(end);
    // vLLM counts a very long prompt in characters.
    if after.trim_start().starts_with("character") {
        return None;
    }
    let digits = digits.replace(',', "");
    digits.parse().ok().filter(|n| *n > 0)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{Overflow, overflow};

    fn check(error: &Value, prompt_tokens: Option<u64>, limit: Option<u64>) {
        assert_eq!(
            overflow(error),
            Some(Overflow {
                prompt_tokens,
                limit
            }),
            "{error}"
        );
    }

    #[test]
    fn c01_llama_cpp_names_both_numbers_in_fields() {
        check(
            &json!({"code": 400, "message": "request (124315 tokens) exceeds the available context size (123904 tokens), try increasing it", "type": "exceed_context_size_error", "n_prompt_tokens": 124_315, "n_ctx": 123_904}),
            Some(124_315),
            Some(123_904),
        );
        // The words alone suffice.
        check(
            &json!(
                "request (4329 tokens) exceeds the available context size (4096 tokens), try increasing it"
            ),
            Some(4329),
            Some(4096),
        );
    }

    #[test]
    fn c02_the_type_decides_even_with_code_500_and_other_words() {
        check(
            &json!({"code": 500, "message": "the request exceeds the available context size. try increasing the context size or enable context shift", "type": "exceed_context_size_error", "n_prompt_tokens": 1407, "n_ctx": 256}),
            Some(1407),
            Some(256),
        );
        check(
            &json!({"type": "exceed_context_size_error", "message": "?"}),
            None,
            None,
        );
    }

    #[test]
    fn c03_c04_context_size_has_been_exceeded_in_an_object_and_as_text() {
        check(
            &json!({"code": 500, "message": "Context size has been exceeded.", "type": "server_error"}),
            None,
            None,
        );
        check(&json!("Context size has been exceeded."), None, None);
    }

    #[test]
    fn c05_lm_studio_s_long_sentence_gives_its_numbers() {
        check(
            &json!(
                "Trying to keep the first 10136 tokens when context the overflows. However, the model is loaded with context length of only 7866 tokens, which is not enough. Try to load the model with a larger context length, or provide a shorter input"
            ),
            Some(10_136),
            Some(7_866),
        );
    }

    #[test]
    fn c07_c08_vllm_prompt_and_output_over_the_window() {
        check(
            &json!({"message": "'max_tokens' or 'max_completion_tokens' is too large: 65535. This model's maximum context length is 128000 tokens and your request has 62466 input tokens (65535 > 128000 - 62466). None", "type": "BadRequestError"}),
            Some(62_466),
            Some(128_000),
        );
        check(
            &json!({"message": "This model's maximum context length is 6048 tokens. However, you requested 6616 tokens (568 in the messages, 6048 in the completion). Please reduce the length of the messages or completion."}),
            Some(568),
            Some(6_048),
        );
        check(
            &json!({"message": "max_tokens=100000 cannot be greater than max_model_len=4096. Please request fewer output tokens.", "param": "max_tokens"}),
            None,
            Some(4_096),
        );
    }

    #[test]
    fn c09_a_prompt_told_in_parts_is_their_sum() {
        check(
            &json!(
                "This endpoint's maximum context length is 262144 tokens. However, you requested about 264896 tokens (52139 of text input, 12757 of tool input, 200000 in the output). Please reduce the length of either one."
            ),
            Some(64_896),
            Some(262_144),
        );
        check(
            &json!(
                "This endpoint's maximum context length is 8192 tokens. However, you requested about 10000 tokens (9000 of text input, 1000 in the output)."
            ),
            Some(9_000),
            Some(8_192),
        );
    }

    #[test]
    fn words_of_more_servers_and_gateways() {
        for (words, prompt, limit) in [
            (
                "You passed 4097 input tokens and requested 0 output tokens. However, the model's context length is only 4096 tokens, resulting in a maximum input length of 4096 tokens. Please reduce the length of the input prompt.",
                Some(4097),
                Some(4096),
            ),
            (
                "The decoder prompt (length 5000) is longer than the maximum model length of 4096. Make sure that `max_model_len` is no smaller than the number of text tokens.",
                Some(5000),
                Some(4096),
            ),
            (
                "The prompt (total length 5000) is too long to fit into the model (context length 4096).",
                Some(5000),
                Some(4096),
            ),
            (
                "Requested token count exceeds the model's maximum context length of 32768 tokens. You requested a total of 40000 tokens: 35000 tokens from the input messages and 5000 tokens for the completion.",
                Some(35_000),
                Some(32_768),
            ),
            (
                "Prompt contains 40000 tokens and 0 draft tokens, too large for model with 32768 maximum context length",
                Some(40_000),
                Some(32_768),
            ),
            (
                "This model's maximum prompt length is 131072 but the request contains 537812 tokens.",
                Some(537_812),
                Some(131_072),
            ),
            (
                "prompt token count of 200000 exceeds the limit of 128000",
                Some(200_000),
                Some(128_000),
            ),
            (
                "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).",
                Some(1_200_000),
                Some(1_048_576),
            ),
            (
                "input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000, decrease input length",
                Some(190_000),
                Some(200_000),
            ),
            (
                "Prompt length 5000 is greater than max_seq_len 4096",
                Some(5000),
                Some(4096),
            ),
            (
                "The number of tokens to keep from the initial prompt is greater than the context length (n_keep: 5000 >= n_ctx: 4096).",
                Some(5000),
                Some(4096),
            ),
            (
                "Input prompt is too big compared to KV size. Please try increasing KV size.",
                None,
                None,
            ),
            (
                "Requested tokens (5000) exceed context window of 4096",
                Some(5000),
                Some(4096),
            ),
            (
                "Input prompt (5000 tokens) is too long and exceeds limit of 4096",
                Some(5000),
                Some(4096),
            ),
            (
                "too many tokens: total number of tokens in the prompt cannot exceed 4081 - received 5000. Try using a shorter prompt, or enable prompt truncating.",
                Some(5000),
                Some(4081),
            ),
            (
                "Token indices sequence length is longer than the specified maximum sequence length for this model (5000 > 4096).",
                Some(5000),
                Some(4096),
            ),
            (
                "The sum of prompt length (5000), query length (0) and max_tokens (100) should not exceed max_num_tokens (4096)",
                Some(5000),
                Some(4096),
            ),
            (
                "litellm.ContextWindowExceededError: litellm.BadRequestError: OpenAIException - too long",
                None,
                None,
            ),
            (
                "prompt length (5000) exceeds maximum input length (4096)",
                Some(5000),
                Some(4096),
            ),
        ] {
            check(&json!(words), prompt, limit);
        }
    }

    #[test]
    fn vllm_s_at_least_is_the_limit_plus_one_and_not_the_prompt() {
        check(
            &json!({"message": "This model's maximum context length is 4096 tokens. However, your prompt contains at least 4097 input tokens, which exceeds this limit even without any output tokens. Please reduce the length of the input prompt. (parameter=input_tokens, value=4097)", "type": "BadRequestError", "param": "input_tokens", "code": 400}),
            None,
            Some(4_096),
        );
    }

    #[test]
    fn vllm_s_characters_are_no_tokens() {
        check(
            &json!(
                "This model's maximum context length is 4096 tokens. However, your prompt contains 1000050 characters (more than 524288 characters, which is the upper bound for 4096 input tokens). Please reduce the length of the input prompt."
            ),
            None,
            Some(4_096),
        );
    }

    #[test]
    fn c13_a_template_that_lost_the_user_s_turn_is_a_likely_overflow() {
        check(
            &json!({"message": "no user query found in messages", "type": "api_error"}),
            None,
            None,
        );
    }

    #[test]
    fn other_servers_words() {
        check(
            &json!(
                "The input (5000 tokens) is longer than the model's context length (4096 tokens)."
            ),
            Some(5_000),
            Some(4_096),
        );
        check(
            &json!(
                "Input validation error: `inputs` tokens + `max_new_tokens` must be <= 4096. Given: 5000 `inputs` tokens and 100 `max_new_tokens`"
            ),
            Some(5_000),
            Some(4_096),
        );
        check(
            &json!({"message": "prompt exceeds safe context", "type": "exceed_context_size_error", "code": "prompt_over_max_safe_ctx"}),
            None,
            None,
        );
        check(
            &json!(
                "The number of tokens to keep from the initial prompt is greater than the context length. Try to load the model with a larger context length"
            ),
            None,
            None,
        );
        check(
            &json!("prompt is too long: 210,000 tokens > 200,000 maximum"),
            Some(210_000),
            Some(200_000),
        );
    }

    #[test]
    fn other_errors_are_no_overflow() {
        for error in [
            json!({"message": "Loading model", "type": "unavailable_error", "code": 503}),
            json!({"message": "The model `nope` does not exist. Valid aliases: qwen38.", "type": "NotFoundError"}),
            json!({"message": "rate limit exceeded", "type": "rate_limit"}),
            json!("tokens per minute exceeded"),
            json!(null),
        ] {
            assert_eq!(overflow(&error), None, "{error}");
        }
    }
}

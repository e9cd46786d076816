//! Tokenizer families whose class-model weights are known.

/// A family of tokenizers with (nearly) one vocabulary.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Family {
    /// Qwen 2, 2.5 and 3.
    Qwen,
    /// Llama 3.
    Llama3,
    /// gpt-oss (`o200k`).
    GptOss,
    /// `DeepSeek` V3 and R1.
    DeepSeek,
    /// Gemma 2 and 3.
    Gemma,
    /// None of these: only the byte bound holds.
    #[default]
    Unknown,
}

/// Parts of model names, tried in this order, on lower-case letters and digits only. A distilled
/// model carries the tokenizer of the model it was distilled into, so those names come first.
const NAMES: &[(&str, Family)] = &[
    ("distillqwen", Family::Qwen),
    ("distillllama", Family::Llama3),
    ("gptoss", Family::GptOss),
    ("qwen", Family::Qwen),
    ("qwq", Family::Qwen),
    ("llama3", Family::Llama3),
    ("deepseekv3", Family::DeepSeek),
    ("deepseekr1", Family::DeepSeek),
    ("gemma2", Family::Gemma),
    ("gemma3", Family::Gemma),
];

impl Family {
    /// All families with weights.
    pub const KNOWN: [Self; 5] = [
        Self::Qwen,
        Self::Llama3,
        Self::GptOss,
        Self::DeepSeek,
        Self::Gemma,
    ];

    /// The family a model's name tells, or [`Family::Unknown`]. A name is a hint, not a proof: a
    /// fit that rests on it is confirmed by the server's own count where it has one.
    pub fn of_model(name: &str) -> Self {
        let plain: String = name
            .chars()
            .filter(char::is_ascii_alphanumeric)
            .map(|c| c.to_ascii_lowercase())
            .collect();
        NAMES
            .iter()
            .find(|(part, _)| plain.contains(part))
            .map_or(Self::Unknown, |(_, family)| *family)
    }

    /// The family of this name (`qwen`, `llama3`, `gpt-oss`, `deepseek`, `gemma`), as on a command
    /// line.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::KNOWN
            .into_iter()
            .find(|family| family.name().eq_ignore_ascii_case(name))
    }

    /// Its name in messages.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Qwen => "qwen",
            Self::Llama3 => "llama3",
            Self::GptOss => "gpt-oss",
            Self::DeepSeek => "deepseek",
            Self::Gemma => "gemma",
            Self::Unknown => "unknown",
        }
    }

    /// The column of the weight tables.
    pub(crate) const fn column(self) -> Option<usize> {
        match self {
            Self::Qwen => Some(0),
            Self::Llama3 => Some(1),
            Self::GptOss => Some(2),
            Self::DeepSeek => Some(3),
            Self::Gemma => Some(4),
            Self::Unknown => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Family;

    #[test]
    fn a_model_name_tells_its_family() {
        for (name, family) in [
            ("Qwen/Qwen3-Coder-30B-A3B-Instruct", Family::Qwen),
            ("qwen2.5-coder-1.5b-instruct-q4_k_m.gguf", Family::Qwen),
            ("meta-llama/Llama-3.3-70B-Instruct", Family::Llama3),
            ("openai/gpt-oss-20b", Family::GptOss),
            ("deepseek-ai/DeepSeek-V3.1", Family::DeepSeek),
            ("deepseek-ai/DeepSeek-R1-Distill-Llama-8B", Family::Llama3),
            ("deepseek-ai/DeepSeek-R1-Distill-Qwen-7B", Family::Qwen),
            ("google/gemma-3-27b-it", Family::Gemma),
            // Other vocabularies under a known brand.
            ("meta-llama/Llama-2-7b", Family::Unknown),
            ("deepseek-coder-6.7b", Family::Unknown),
            ("mistralai/Devstral-Small", Family::Unknown),
            ("default", Family::Unknown),
        ] {
            assert_eq!(Family::of_model(name), family, "{name}");
        }
    }

    #[test]
    fn names_round_trip() {
        for family in Family::KNOWN {
            assert_eq!(Family::from_name(family.name()), Some(family));
        }
        assert_eq!(Family::from_name("unknown"), None);
    }
}

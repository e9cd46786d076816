//! Every kind of secret that the tools know fails a report that holds it, and is never repeated.

use serde_json::json;

use crate::kit::{A, Case, envelope, handoff, markdown};

/// A body of token characters, as long as any shape needs.
const BODY: &str = "9aB3xK7qLm2Zt5VwYc8dEf1GhJ4nPr6sTu0WvXyAbCdEfGhJkLmNpQrStUvWxYz234567890";

const OUTCOME: &str = "The bound is inclusive now.";

fn tokens() -> Vec<String> {
    let prefixes = [
        "sk-",
        "sk-proj-",
        "sk-ant-api03-",
        "sk-or-v1-",
        "sk_live_",
        "sk_test_",
        "rk_live_",
        "whsec_",
        "ghp_",
        "gho_",
        "ghu_",
        "ghs_",
        "ghr_",
        "github_pat_",
        "glpat-",
        "hf_",
        "xoxb-",
        "xoxp-",
        "xoxa-",
        "xoxr-",
        "xoxs-",
        "xapp-",
        "AKIA",
        "ASIA",
        "AIza",
        "ya29.",
        "GOCSPX-",
        "npm_",
        "pypi-",
        "gsk_",
        "nvapi-",
        "pplx-",
        "xai-",
        "tgp_v1_",
        "dop_v1_",
        "shpat_",
        "SG.",
        "AGE-SECRET-KEY-1",
        "eyJ",
    ];
    prefixes.iter().map(|p| format!("{p}{BODY}")).collect()
}

/// What stands in a text around the secret, the secret, and what is left of it.
fn in_texts() -> Vec<(String, String)> {
    let mut texts: Vec<(String, String)> = tokens()
        .into_iter()
        .map(|token| (format!("I used {token}, as told."), token))
        .collect();
    for (text, secret) in [
        (
            "git push https://me:hunter2hunter2@git.example.com/a.git",
            "hunter2hunter2",
        ),
        (
            "postgres://app:s3cr3tpw@db.example.com:5432/app",
            "s3cr3tpw",
        ),
        (
            "-----BEGIN RSA PRIVATE KEY-----\nMIIEowIBAAKCAQEA\n-----END RSA PRIVATE KEY-----",
            "MIIEowIBAAKCAQEA",
        ),
        (
            "-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNzaC1rZXk",
            "b3BlbnNzaC1rZXk",
        ),
        (
            "-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBg\n-----END PRIVATE KEY-----",
            "MIIEvQIBADANBg",
        ),
        ("export KEY=correct-horse-battery", "correct-horse-battery"),
        (
            "Authorization: Bearer another-known-key",
            "another-known-key",
        ),
    ] {
        texts.push((text.to_owned(), secret.to_owned()));
    }
    texts
}

#[test]
fn every_kind_of_secret_fails_every_form_of_report() {
    let case = Case::new(A);
    case.write("src/a.rs", "2\n");
    for (i, (text, secret)) in in_texts().into_iter().enumerate() {
        let report = match i % 3 {
            0 => handoff(&["src/a.rs"])
                .to_string()
                .replace(OUTCOME, &escaped(&text)),
            1 => envelope(&["src/a.rs"])
                .to_string()
                .replace(OUTCOME, &escaped(&text)),
            _ => markdown(&["src/a.rs"]).replace(OUTCOME, &text),
        };
        let run = case
            .run()
            .env("OPENAI_API_KEY", "correct-horse-battery")
            .env("OPENCODE_VLLM_API_KEY", "another-known-key");
        let judged = crate::kit::Judged(run.stdin(report).run());
        assert_eq!(judged.0.code, Some(1), "{text}: {judged:#?}");
        let judged = judged.check("secrets", "fail", "change that key");
        let said = judged.0.stdout + &judged.0.stderr;
        assert!(!said.contains(&secret), "{secret}: {said}");
    }
}

/// The text as it stands inside quotes in JSON.
fn escaped(text: &str) -> String {
    let quoted = json!(text).to_string();
    quoted[1..quoted.len() - 1].to_owned()
}

#[test]
fn a_secret_written_with_escapes_is_one_all_the_same() {
    let case = Case::new(A);
    case.write("src/a.rs", "2\n");
    let token = "ghp_0123456789abcdefghijABCDEFGHIJ";
    let hidden = "\\u0067hp\\u005f0123456789abcdefghijABCDEFGHIJ";
    let report = handoff(&["src/a.rs"]).to_string().replace(OUTCOME, hidden);
    let judged = case.judge(report).check("secrets", "fail", "").exit(1);
    assert!(!judged.0.stdout.contains(token));
}

#[test]
fn what_only_looks_like_a_secret_accuses_nobody() {
    let case = Case::new(A);
    case.write("src/a.rs", "2\n");
    for text in [
        "Pinned sha512-0kIvKx5bCDEFpk1yqNHGlA6Yk7cGk3nq5xLxNwQ9JcRf4t0Zb2vQ== in the lock file.",
        "It builds on commit 9ce284324437adc7ac62d1e632eed0d533314f78.",
        "The id is 123e4567-e89b-12d3-a456-426614174000.",
        "Uses sk-learn and the task-runner; hf_hub is unchanged.",
        "Set OPENAI_API_KEY=$OPENAI_API_KEY or sk-... before you start.",
        "The key begins with eyJ and AKIA, as all of them do.",
        "Clone ssh://git@host/a.git or https://user@host/a.git.",
        "A test checks -----BEGIN PUBLIC KEY----- headers.",
        "sha256:4d7a214614ab2935c943f9e0ff69d22eadbb8f32b1258daaa5e2ca24d17e2393",
    ] {
        let report = handoff(&["src/a.rs"]).to_string().replace(OUTCOME, text);
        case.judge(report).check("secrets", "pass", "").exit(0);
    }
}

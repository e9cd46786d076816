//! Plain JSON over HTTP, for a service beside the model server (a lock service's gateway): one POST
//! with one answer, or one POST whose answer is a stream of JSON lines.
//!
//! Unlike a model server such a service answers within milliseconds and is asked often, so the
//! connection is kept and the limit is one number.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use ureq::Agent;
use ureq::http::Request;
use ureq::tls::{Certificate, ClientCert, PrivateKey, RootCerts, TlsConfig};

use crate::net::tls;

/// No answer of such a service is larger.
const LARGEST_ANSWER: u64 = 16 << 20;
/// A kept connection that was idle for longer may have been closed by the other side.
const MAX_IDLE: Duration = Duration::from_secs(3);

/// The TLS files of a service; none of them is needed for http.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct JsonTls {
    /// A PEM file with the authorities to trust instead of the system's.
    pub ca_file: Option<PathBuf>,
    /// PEM files with our certificate and its key.
    pub identity: Option<(PathBuf, PathBuf)>,
}

/// Why there is no answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct JsonFailure(pub String);

/// A service that speaks JSON. Copies share their connections.
#[derive(Debug, Clone)]
pub struct JsonHost {
    agent: Agent,
    root: String,
}

impl JsonHost {
    /// A service at `root`, for example `http://10.0.0.5:2379`. Nothing is sent yet. No proxy is used.
    pub fn new(root: &str, tls: &JsonTls) -> Result<Self, JsonFailure> {
        let mut config = Agent::config_builder()
            .http_status_as_error(false)
            .max_redirects(0)
            .max_redirects_will_error(false)
            .max_idle_age(MAX_IDLE)
            .proxy(None)
            .accept_encoding("identity")
            .user_agent(concat!("baton/", env!("CARGO_PKG_VERSION")));
        if root.starts_with("https://") {
            config = config.tls_config(tls_config(tls).map_err(JsonFailure)?);
        }
        Ok(Self {
            agent: Agent::new_with_config(config.build()),
            root: root.trim_end_matches('/').to_owned(),
        })
    }

    /// Where it is.
    pub fn root(&self) -> &str {
        &self.root
    }

    /// Asks and reads the whole answer: its HTTP status and its JSON. All within `limit`.
    pub fn post(
        &self,
        path: &str,
        body: &Value,
        headers: &[(&str, &str)],
        limit: Duration,
    ) -> Result<(u16, Value), JsonFailure> {
        let request = self.request(path, body.to_string(), headers)?;
        let request = self
            .agent
            .configure_request(request)
            .timeout_global(Some(limit))
            .build();
        let mut response = self.agent.run(request).map_err(|e| self.failed(&e))?;
        let status = response.status().as_u16();
        let body = response.body_mut().with_config().limit(LARGEST_ANSWER);
        let bytes = body.read_to_vec().map_err(|e| self.failed(&e))?;
        match serde_json::from_slice(&bytes) {
            Ok(value) => Ok((status, value)),
            Err(_) => Err(JsonFailure(format!(
                "{}{path}: HTTP {status}, and the answer is not JSON",
                self.root
            ))),
        }
    }

    /// Asks (every question a line of one request) and hands every JSON line of the answer to `on_line` until that says false, the stream
    /// ends, or [`Self::stop`] is called. Blocks the calling thread. `connect` bounds the wait for
    /// the answer's beginning, not the stream.
    pub fn stream(
        &self,
        path: &str,
        questions: &[Value],
        headers: &[(&str, &str)],
        connect: Duration,
        on_line: &mut dyn FnMut(&Value) -> bool,
    ) -> Result<(), JsonFailure> {
        let lines: Vec<String> = questions.iter().map(Value::to_string).collect();
        let request = self.request(path, lines.join("\n"), headers)?;
        let request = self
            .agent
            .configure_request(request)
            .timeout_connect(Some(connect))
            .timeout_recv_response(Some(connect))
            .build();
        let response = self.agent.run(request).map_err(|e| self.failed(&e))?;
        let reader = response.into_body().into_with_config();
        let mut lines = BufReader::new(reader.limit(u64::MAX).reader());
        let mut line = String::new();
        loop {
            line.clear();
            match lines.read_line(&mut line) {
                Ok(0) => return Ok(()),
                Ok(_) => {}
                Err(e) => return Err(JsonFailure(format!("{}{path}: {e}", self.root))),
            }
            if line.trim().is_empty() {
                continue;
            }
            let value = serde_json::from_str(&line).map_err(|_| {
                JsonFailure(format!("{}{path}: a line of it is not JSON", self.root))
            })?;
            if !on_line(&value) {
                return Ok(());
            }
        }
    }

    /// Ends every request of this service that is under way, and with it the streams.
    pub fn stop(&self) {
        self.agent.clone().shutdown();
    }

    fn request(
        &self,
        path: &str,
        body: String,
        headers: &[(&str, &str)],
    ) -> Result<Request<Vec<u8>>, JsonFailure> {
        let mut request = Request::builder()
            .method("POST")
            .uri(format!("{}{path}", self.root))
            .header("Content-Type", "application/json");
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let request = request.body(body.into_bytes());
        request.map_err(|e| JsonFailure(format!("{}: {e}", self.root)))
    }

    fn failed(&self, error: &ureq::Error) -> JsonFailure {
        JsonFailure(format!("{}: {error}", self.root))
    }
}

fn tls_config(tls: &JsonTls) -> Result<TlsConfig, String> {
    let mut builder = TlsConfig::builder();
    if let Some(file) = &tls.ca_file {
        let certificates = certificates(file)?;
        builder = builder.root_certs(RootCerts::from(certificates));
    }
    if let Some((certificate, key)) = &tls.identity {
        let chain = certificates(certificate)?;
        let key = PrivateKey::from_pem(&read(key)?)
            .map_err(|e| format!("{} holds no private key: {e}", key.display()))?;
        builder = builder.client_cert(Some(ClientCert::new_with_certs(&chain, key)));
    }
    Ok(builder.build())
}

fn certificates(file: &Path) -> Result<Vec<Certificate<'static>>, String> {
    tls::certificates(file, &file.display().to_string())
}

fn read(file: &Path) -> Result<Vec<u8>, String> {
    std::fs::read(file).map_err(|e| format!("cannot read {}: {e}", file.display()))
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};
    use std::net::TcpListener;
    use std::time::Duration;

    use serde_json::{Value, json};

    use super::{JsonHost, JsonTls};

    /// Answers one request with these bytes and closes.
    fn answering(answer: &'static str) -> (String, std::thread::JoinHandle<String>) {
        let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let root = format!("http://{}", listener.local_addr().unwrap());
        let thread = std::thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            let mut asked = Vec::new();
            let mut piece = [0; 1024];
            while !String::from_utf8_lossy(&asked).ends_with('}') {
                let n = stream.read(&mut piece).unwrap();
                asked.extend_from_slice(&piece[..n]);
            }
            stream.write_all(answer.as_bytes()).unwrap();
            String::from_utf8(asked).unwrap()
        });
        (root, thread)
    }

    const LIMIT: Duration = Duration::from_secs(20);

    #[test]
    fn a_question_is_asked_and_its_answer_read_whatever_the_status() {
        let (root, server) =
            answering("HTTP/1.1 404 Not Found\r\nContent-Length: 11\r\n\r\n{\"code\": 5}");
        let host = JsonHost::new(&root, &JsonTls::default()).unwrap();
        let body = json!({"ID": "1"});
        let answer = host.post("/v3/x", &body, &[("Authorization", "t")], LIMIT);
        assert_eq!(answer, Ok((404, json!({"code": 5}))));
        let asked = server.join().unwrap().to_ascii_lowercase();
        assert!(asked.starts_with("post /v3/x http/1.1\r\n"), "{asked}");
        assert!(asked.contains("\r\nauthorization: t\r\n"), "{asked}");
        assert!(asked.ends_with("{\"id\":\"1\"}"), "{asked}");
    }

    #[test]
    fn what_is_not_json_is_a_failure() {
        let (root, server) = answering("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nhtml");
        let host = JsonHost::new(&root, &JsonTls::default()).unwrap();
        let answer = host.post("/", &json!({}), &[], LIMIT);
        assert!(answer.unwrap_err().0.contains("not JSON"));
        server.join().unwrap();
    }

    #[test]
    fn the_lines_of_a_stream_come_one_by_one() {
        let (root, server) = answering(
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n\
             a\r\n{\"n\": 1}\n{\r\n8\r\n\"n\": 2}\n\r\n9\r\n{\"n\": 3}\n\r\n0\r\n\r\n",
        );
        let host = JsonHost::new(&root, &JsonTls::default()).unwrap();
        let mut seen: Vec<Value> = Vec::new();
        let ended = host.stream("/", &[json!({})], &[], LIMIT, &mut |line| {
            seen.push(line["n"].clone());
            seen.len() < 2
        });
        assert_eq!((ended, seen), (Ok(()), vec![json!(1), json!(2)]));
        server.join().unwrap();
    }

    #[test]
    fn a_missing_file_is_named() {
        let tls = JsonTls {
            ca_file: Some("/no/such/ca.pem".into()),
            identity: None,
        };
        let failure = JsonHost::new("https://h:1", &tls).unwrap_err();
        assert!(failure.0.contains("/no/such/ca.pem"), "{failure}");
    }
}

//! One HTTP request on a thread of its own.
//!
//! The caller waits on a channel, so every wait of its can be bounded and can be cancelled at once,
//! whatever the socket does. Dropping an [`Exchange`] shuts its socket down, which ends the thread.
//! Each request has its own connection: servers close idle ones after a few seconds, and a reused
//! dead connection cannot be told from a server that died.

use std::io::{ErrorKind, Read};
use std::sync::mpsc::SyncSender;
use std::sync::{Arc, PoisonError};
use std::time::{Duration, Instant};

use ureq::http::{Request, Response, Uri};
use ureq::unversioned::transport::DefaultConnector;
use ureq::{Agent, Body};

use super::endpoint::Endpoint;
use super::failure::Failure;
use super::resolver::{RecordingResolver, Tried};

/// Redirects followed before giving up.
const MAX_REDIRECTS: u32 = 5;
/// How much is read at once, and written.
const BUFFER: usize = 16 << 10;
/// The same for a question without a body: there may be hundreds of them at once.
const SMALL_BUFFER: usize = 4 << 10;
/// Enough for a TLS handshake in a debug build.
const STACK_SIZE: usize = 512 << 10;

/// What to ask.
#[derive(Debug, Clone)]
pub(crate) struct Order {
    /// The address.
    pub(crate) url: String,
    /// The JSON body of a POST; none for a GET.
    pub(crate) body: Option<Vec<u8>>,
    /// The limit for look-up and connecting.
    pub(crate) connect: Duration,
    /// Read no more than this.
    pub(crate) limit: usize,
}

impl Order {
    fn buffer(&self) -> usize {
        if self.body.is_some() {
            BUFFER
        } else {
            SMALL_BUFFER
        }
    }
}

/// The headers that matter.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Head {
    pub(crate) status: u16,
    pub(crate) content_type: String,
    pub(crate) encoding: String,
    pub(crate) retry_after: String,
    pub(crate) server: String,
    /// What a proxy says about itself.
    pub(crate) proxy: String,
    /// Where it was redirected to, when that was not followed.
    pub(crate) location: String,
}

/// What comes back, in order: a head, bytes, an end; or a failure.
#[derive(Debug)]
pub(crate) enum Piece {
    Head(Head),
    Bytes(Vec<u8>),
    End,
    /// More bytes than allowed.
    TooLarge,
    Failed(Failure),
    /// Nothing happened; look at the cancellation token.
    Wake,
}

/// A piece with the number of the exchange it belongs to and the time it was received.
pub(crate) type Wire = (usize, Piece, Instant);

/// A request in flight.
pub(crate) struct Exchange {
    agent: Option<Agent>,
}

impl Drop for Exchange {
    fn drop(&mut self) {
        if let Some(agent) = self.agent.take() {
            agent.shutdown();
        }
    }
}

impl Exchange {
    /// Sends a request. Its pieces arrive at `wire` with the given number.
    pub(crate) fn start(
        endpoint: &Endpoint,
        order: Order,
        number: usize,
        wire: SyncSender<Wire>,
    ) -> Result<Self, Failure> {
        let tried = Tried::default();
        let agent = agent(endpoint, &order, Arc::clone(&tried))?;
        let key = endpoint.key.clone();
        if let Some(key) = &key {
            check_key(key.reveal()).map_err(Failure::Local)?;
        }
        let worker = agent.clone();
        let run = move || {
            let send = |piece| wire.send((number, piece, Instant::now())).is_ok();
            let result = ask(
                &worker,
                &order,
                key.as_ref().map(baton_protocol::Secret::reveal),
            );
            let response = match result {
                Ok(response) => response,
                Err(error) => {
                    let tried = tried.lock().unwrap_or_else(PoisonError::into_inner).clone();
                    send(Piece::Failed(failure(error, &order.url, tried)));
                    return;
                }
            };
            if send(Piece::Head(head(&response))) {
                read(response, &order, &send);
            }
        };
        std::thread::Builder::new()
            .name(format!("http-{number}"))
            .stack_size(STACK_SIZE)
            .spawn(run)
            .map_err(|e| Failure::Local(format!("cannot start a thread: {e}")))?;
        Ok(Self { agent: Some(agent) })
    }
}

/// Whether a key can stand in a header. The error tells where the odd character is, never the key.
pub(super) fn check_key(key: &str) -> Result<(), String> {
    let is_quoted = |mark: char| key.len() > 1 && key.starts_with(mark) && key.ends_with(mark);
    let odd = key.chars().position(|c| !(' '..='~').contains(&c));
    let why = if let Some(at) = odd {
        format!(
            "its character {} is a line break, a control character or not ASCII; was it copied \
             whole, and nothing else?",
            at + 1
        )
    } else if key
        .get(..7)
        .is_some_and(|word| word.eq_ignore_ascii_case("bearer "))
    {
        "it begins with `Bearer`, which is put before it anyway; leave the word off".to_owned()
    } else if is_quoted('"') || is_quoted('\'') {
        "it is quoted; leave the quotation marks off".to_owned()
    } else {
        return Ok(());
    };
    Err(format!("the key cannot be sent: {why}"))
}

fn agent(endpoint: &Endpoint, order: &Order, tried: Tried) -> Result<Agent, Failure> {
    let proxy = match endpoint.proxies.for_url(&endpoint.base) {
        Some(proxy) => Some(
            ureq::Proxy::new(proxy)
                .map_err(|e| Failure::Proxy(format!("`{proxy}` is no proxy address: {e}")))?,
        ),
        None => None,
    };
    let mut config = Agent::config_builder()
        .http_status_as_error(false)
        .max_redirects(0)
        .max_redirects_will_error(false)
        .timeout_resolve(Some(order.connect))
        .timeout_connect(Some(order.connect))
        .input_buffer_size(order.buffer().max(2 * SMALL_BUFFER))
        .output_buffer_size(order.buffer())
        .max_idle_connections(0)
        .proxy(proxy)
        .accept_encoding("identity")
        .user_agent(concat!("baton/", env!("CARGO_PKG_VERSION")));
    if endpoint.base.is_tls() {
        config = config.tls_config(super::tls::config(endpoint).map_err(Failure::Local)?);
    }
    Ok(Agent::with_parts(
        config.build(),
        DefaultConnector::default(),
        RecordingResolver::new(tried),
    ))
}

fn ask(agent: &Agent, order: &Order, key: Option<&str>) -> Result<Response<Body>, ureq::Error> {
    let mut url = order.url.clone();
    let mut redirects = 0;
    loop {
        let mut request = Request::builder().uri(&url).header("Accept", "*/*");
        if let Some(key) = key {
            request = request.header("Authorization", format!("Bearer {key}"));
        }
        let response = match &order.body {
            None => agent.run(request.method("GET").body(())?)?,
            Some(body) => {
                let request = request
                    .method("POST")
                    .header("Content-Type", "application/json");
                agent.run(request.body(body.as_slice())?)?
            }
        };
        let followed = redirect(&url, &response, order.body.is_some());
        match followed {
            Some(next) if redirects < MAX_REDIRECTS => {
                redirects += 1;
                url = next;
            }
            _ => return Ok(response),
        }
    }
}

/// Where to go next. The key goes along, so only within the origin, or up to https on the same host:
/// another port may be another person's program.
fn redirect(url: &str, response: &Response<Body>, has_body: bool) -> Option<String> {
    let status = response.status().as_u16();
    let keeps_method = matches!(status, 307 | 308);
    if !(keeps_method || matches!(status, 301..=303) && !has_body) {
        return None;
    }
    let location = response.headers().get("location")?.to_str().ok()?;
    let from = url.parse::<Uri>().ok()?;
    within_host(&from, location)
}

fn within_host(from: &Uri, location: &str) -> Option<String> {
    if location.starts_with("//") {
        return within_host(from, &format!("{}:{location}", from.scheme_str()?));
    }
    if location.starts_with('/') {
        return Some(format!(
            "{}://{}{location}",
            from.scheme_str()?,
            from.authority()?
        ));
    }
    let to = location.parse::<Uri>().ok()?;
    if to.scheme().is_none() {
        let folder = from
            .path()
            .rsplit_once('/')
            .map_or("", |(folder, _)| folder);
        return within_host(from, &format!("{folder}/{location}"));
    }
    let same_host = to.host()?.eq_ignore_ascii_case(from.host()?);
    let same_origin = to.scheme_str() == from.scheme_str() && port(&to) == port(from);
    let upgrade = from.scheme_str() == Some("http") && to.scheme_str() == Some("https");
    (same_host && (same_origin || upgrade)).then(|| location.to_owned())
}

fn port(uri: &Uri) -> Option<u16> {
    uri.port_u16().or(match uri.scheme_str()? {
        "http" => Some(80),
        "https" => Some(443),
        _ => None,
    })
}

fn head(response: &Response<Body>) -> Head {
    let header = |name: &str| {
        response
            .headers()
            .get(name)
            .and_then(|value| value.to_str().ok())
            .unwrap_or_default()
            .to_owned()
    };
    let proxy = ["x-squid-error", "x-cache", "via"]
        .iter()
        .map(|name| (name, header(name)))
        .find(|(_, value)| !value.is_empty())
        .map(|(name, value)| format!("{name}: {value}"))
        .unwrap_or_default();
    Head {
        status: response.status().as_u16(),
        content_type: header("content-type"),
        encoding: header("content-encoding"),
        retry_after: header("retry-after"),
        server: header("server"),
        location: header("location"),
        proxy,
    }
}

fn read(response: Response<Body>, order: &Order, send: &dyn Fn(Piece) -> bool) {
    let mut reader = response.into_body().into_reader();
    let mut buffer = vec![0; order.buffer()];
    let mut seen = 0_usize;
    loop {
        let piece = match reader.read(&mut buffer) {
            Ok(0) => Piece::End,
            Ok(n) => {
                seen = seen.saturating_add(n);
                if seen > order.limit {
                    Piece::TooLarge
                } else {
                    Piece::Bytes(buffer.get(..n).unwrap_or_default().to_vec())
                }
            }
            Err(error) if error.kind() == ErrorKind::Interrupted => continue,
            Err(error) => Piece::Failed(Failure::Broken(error.to_string())),
        };
        let more = matches!(piece, Piece::Bytes(_));
        if !send(piece) || !more {
            return;
        }
    }
}

fn failure(error: ureq::Error, url: &str, addresses: Vec<std::net::SocketAddr>) -> Failure {
    use ureq::Error;
    match error {
        Error::Io(e) => match e.kind() {
            ErrorKind::ConnectionRefused
            | ErrorKind::HostUnreachable
            | ErrorKind::NetworkUnreachable
            | ErrorKind::NetworkDown
            | ErrorKind::AddrNotAvailable => Failure::Refused {
                addresses,
                cause: words(&e),
            },
            ErrorKind::UnexpectedEof
            | ErrorKind::ConnectionReset
            | ErrorKind::ConnectionAborted
            | ErrorKind::BrokenPipe => Failure::ClosedUnanswered,
            ErrorKind::TimedOut => Failure::ConnectTimedOut,
            _ => from_text(&e.to_string(), url),
        },
        Error::HostNotFound => Failure::NoSuchHost(host_of(url)),
        Error::Timeout(_) => Failure::ConnectTimedOut,
        Error::Rustls(e) => Failure::Tls(e.to_string()),
        Error::Tls(e) => Failure::Tls(e.to_owned()),
        Error::Protocol(e) => Failure::NotHttp(e.to_string()),
        Error::LargeResponseHeader(..) => Failure::NotHttp("endless headers".to_owned()),
        Error::ConnectProxyFailed(e) => Failure::Proxy(e),
        Error::Http(e) => Failure::Local(format!("the request cannot be written ({e})")),
        other => Failure::Local(other.to_string()),
    }
}

/// Errors that only tell their kind in words: name look-up and TLS inside an I/O error.
fn from_text(text: &str, url: &str) -> Failure {
    let lower = text.to_lowercase();
    if lower.contains("lookup") || lower.contains("name or service") || lower.contains("resolve") {
        return Failure::NoSuchHost(host_of(url));
    }
    if ["certificate", "tls", "handshake", "corrupt message"]
        .iter()
        .any(|word| lower.contains(word))
    {
        return Failure::Tls(text.to_owned());
    }
    Failure::Broken(text.to_owned())
}

fn words(error: &std::io::Error) -> String {
    match error.kind() {
        ErrorKind::ConnectionRefused => "connection refused".to_owned(),
        ErrorKind::HostUnreachable | ErrorKind::NetworkUnreachable => "no route".to_owned(),
        _ => error.to_string(),
    }
}

fn host_of(url: &str) -> String {
    url.parse::<Uri>()
        .ok()
        .and_then(|uri| uri.host().map(ToOwned::to_owned))
        .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use ureq::http::Uri;

    use super::{check_key, within_host};

    #[test]
    fn a_key_that_no_header_can_hold_is_said_without_showing_it() {
        assert!(check_key("sk-abc_DEF.123/+=~").is_ok());
        for (key, why) in [
            ("geheim\nzwei", "character 7"),
            ("schl\u{fc}ssel", "character 5"),
            ("a\u{200b}", "not ASCII"),
            ("a\tb", "character 2"),
            ("a\0", "control"),
            ("Bearer sk-123456", "leave the word off"),
            ("bearer sk-123456", "leave the word off"),
            ("\"sk-123456\"", "quoted"),
            ("'sk-123456'", "quoted"),
        ] {
            let error = check_key(key).unwrap_err();
            assert!(
                error.contains("cannot be sent") && error.contains(why) && !error.contains(key),
                "{error}"
            );
        }
    }

    fn next(from: &str, location: &str) -> Option<String> {
        within_host(&from.parse::<Uri>().unwrap(), location)
    }

    #[test]
    fn redirects_stay_within_the_origin_or_go_up_to_https_as_the_key_goes_along() {
        let from = "http://h:8000/v1/models";
        assert_eq!(
            next(from, "/v2/models").as_deref(),
            Some("http://h:8000/v2/models")
        );
        assert_eq!(
            next(from, "http://H:8000/x").as_deref(),
            Some("http://H:8000/x")
        );
        assert_eq!(next(from, "http://h:8080/x"), None, "another port");
        assert_eq!(next(from, "//h/x"), None, "another port");
        assert_eq!(
            next("http://h/x", "http://h:80/y").as_deref(),
            Some("http://h:80/y")
        );
        assert_eq!(
            next(from, "other").as_deref(),
            Some("http://h:8000/v1/other")
        );
        assert_eq!(next("http://h/x", "//h/y").as_deref(), Some("http://h/y"));
        assert_eq!(next(from, "https://h/x").as_deref(), Some("https://h/x"));
        assert_eq!(next(from, "http://other/x"), None);
        assert_eq!(next(from, "//other/x"), None);
        assert_eq!(
            next("https://h/x", "http://h/x"),
            None,
            "not down from https"
        );
    }
}

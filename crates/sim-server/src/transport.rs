//! What carries the bytes: a plain socket, or one behind TLS with a certificate nobody knows yet.

use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::sync::Arc;

use rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};
use rustls::{ServerConfig, ServerConnection, StreamOwned};

/// A connection's bytes, both ways.
pub(crate) enum Transport {
    Plain(TcpStream),
    Tls(Box<StreamOwned<ServerConnection, TcpStream>>),
}

impl Transport {
    pub(crate) fn new(stream: TcpStream, tls: Option<&Tls>) -> io::Result<Self> {
        let Some(tls) = tls else {
            return Ok(Self::Plain(stream));
        };
        let session = ServerConnection::new(Arc::clone(&tls.config)).map_err(io::Error::other)?;
        Ok(Self::Tls(Box::new(StreamOwned::new(session, stream))))
    }

    pub(crate) fn is_tls(&self) -> bool {
        matches!(self, Self::Tls(_))
    }
}

impl std::fmt::Debug for Transport {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(if self.is_tls() { "tls" } else { "plain" })
    }
}

impl Read for Transport {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Plain(stream) => stream.read(buffer),
            Self::Tls(stream) => stream.read(buffer),
        }
    }
}

impl Write for Transport {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Plain(stream) => stream.write(bytes),
            Self::Tls(stream) => stream.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::Plain(stream) => stream.flush(),
            Self::Tls(stream) => stream.flush(),
        }
    }
}

/// A self-signed certificate for this machine, made anew at every start.
#[derive(Debug)]
pub(crate) struct Tls {
    config: Arc<ServerConfig>,
    /// The certificate, for clients that are to trust it.
    pub(crate) pem: String,
}

impl Tls {
    pub(crate) fn self_signed() -> io::Result<Self> {
        let names = ["localhost", "127.0.0.1", "::1"]
            .map(str::to_owned)
            .to_vec();
        let made = rcgen::generate_simple_self_signed(names).map_err(io::Error::other)?;
        let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(made.signing_key.serialize_der()));
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .and_then(|builder| {
                let chain = vec![made.cert.der().clone()];
                builder.with_no_client_auth().with_single_cert(chain, key)
            })
            .map_err(io::Error::other)?;
        Ok(Self {
            config: Arc::new(config),
            pem: made.cert.pem(),
        })
    }
}

//! Which certificates are trusted.

use std::path::{Path, PathBuf};

use ureq::tls::{Certificate, PemItem, RootCerts, TlsConfig, parse_pem};

use super::endpoint::Endpoint;

/// The TLS settings of an endpoint. Only called for https, since reading authorities takes time.
pub(super) fn config(endpoint: &Endpoint) -> Result<TlsConfig, String> {
    let builder = TlsConfig::builder().disable_verification(endpoint.insecure);
    let file = endpoint
        .ca_file
        .clone()
        .or_else(|| std::env::var_os("SSL_CERT_FILE").map(PathBuf::from));
    let builder = match file {
        Some(file) => {
            let name = format!("the CA file {}", file.display());
            builder.root_certs(RootCerts::from(certificates(&file, &name)?))
        }
        None => builder,
    };
    Ok(builder.build())
}

/// The certificates in a file of PEM blocks; `name` is what errors call the file.
pub(crate) fn certificates(file: &Path, name: &str) -> Result<Vec<Certificate<'static>>, String> {
    let pem = std::fs::read(file).map_err(|e| format!("cannot read {name}: {e}"))?;
    let certificates: Vec<Certificate<'static>> = parse_pem(&pem)
        .filter_map(|item| match item {
            Ok(PemItem::Certificate(certificate)) => Some(certificate),
            _ => None,
        })
        .collect();
    if certificates.is_empty() {
        return Err(format!(
            "{name} holds no certificate (PEM: -----BEGIN CERTIFICATE-----)"
        ));
    }
    Ok(certificates)
}

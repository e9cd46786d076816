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
        Some(file) => builder.root_certs(authorities(&file)?),
        None => builder,
    };
    Ok(builder.build())
}

fn authorities(file: &Path) -> Result<RootCerts, String> {
    let pem = std::fs::read(file)
        .map_err(|e| format!("cannot read the CA file {}: {e}", file.display()))?;
    let certificates: Vec<Certificate<'static>> = parse_pem(&pem)
        .filter_map(|item| match item {
            Ok(PemItem::Certificate(certificate)) => Some(certificate),
            _ => None,
        })
        .collect();
    if certificates.is_empty() {
        return Err(format!(
            "the CA file {} holds no certificate (PEM: -----BEGIN CERTIFICATE-----)",
            file.display()
        ));
    }
    Ok(RootCerts::from(certificates))
}

use ureq::tls::{RootCerts, TlsConfig};

/// Trusts the certificates that the operating system trusts, or those in `SSL_CERT_FILE`.
pub(crate) fn trusted() -> TlsConfig {
    TlsConfig::builder().root_certs(RootCerts::PlatformVerifier).build()
}

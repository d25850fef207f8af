//! Tells the upstream what it knows of the client's TLS.

use edgewright_sdk::prelude::*;

pub struct Tls;

#[plugin]
impl Plugin for Tls {
    type Config = ();

    fn configure(_: ()) -> Result<Self, String> {
        Ok(Self)
    }

    fn on_request(&self, request: &mut Request) -> Verdict {
        let told = match request.tls() {
            Some(tls) => format!(
                "{} {} {} {}",
                tls.version,
                tls.server_name.unwrap_or_default(),
                tls.client_subject.unwrap_or_default(),
                tls.client_certificate.map_or(0, |der| usize::from(!der.is_empty())),
            ),
            None => "none".to_owned(),
        };
        let _ = request.set_header("x-tls", format!("{} {told}", request.scheme()));
        Verdict::Next
    }
}

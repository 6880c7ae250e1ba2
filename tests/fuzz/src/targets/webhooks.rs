//! Webhooks: no address of a private network is ever called, and no delivery is believed that was not signed.

use std::{
    net::{IpAddr, Ipv4Addr, Ipv6Addr},
    time::Duration,
};

use tenant_auth_core::{
    Timestamp,
    testing::internals::is_webhook_target,
    value::WebhookUrl,
    webhooks::{SignedHeaders, SigningSecret, verify_webhook},
};

use super::{Attack, Target, kind, size};

/// Addresses as text in every spelling, and as bytes.
pub(crate) const ADDRESSES: Target = Target {
    name: "addresses",
    weight: 1.0,
    dictionary: &[
        "10.",
        "127.",
        "169.254.",
        "192.168.",
        "::ffff:",
        "64:ff9b::",
        "2002:",
        "fe80::",
        "fc00:",
        "0x",
        "017700000001",
        "%31",
    ],
    make: || {
        let seeds =
            ["8.8.8.8", "[2606:4700::1111]", "2130706433", "0x7f.1", "[::ffff:10.0.0.1]", "[64:ff9b::a00:1]", "\u{ff11}.1.1.1"];
        Attack::new(&seeds, |input| {
            let host = match *input {
                [a, b, c, d] => IpAddr::from(Ipv4Addr::new(a, b, c, d)).to_string(),
                _ => <[u8; 16]>::try_from(input)
                    .map_or_else(|_| String::from_utf8_lossy(input).into_owned(), |octets| format!("[{}]", Ipv6Addr::from(octets))),
            };
            let Ok(url) = WebhookUrl::parse(&format!("https://{host}/")) else { return 0 };
            if !is_webhook_target(&url) {
                return 1;
            }
            let parsed = url::Url::parse(url.as_str()).expect("a URL");
            match parsed.host().expect("a host") {
                url::Host::Ipv4(address) => assert!(is_public(address), "{url:?}"),
                url::Host::Ipv6(address) => {
                    assert_eq!(address.segments()[0] >> 13, 1, "outside 2000::/3: {address}");
                    assert!(
                        address.to_ipv4_mapped().is_none() && address.segments()[0] != 0x2002,
                        "an IPv4 address inside: {address}"
                    );
                }
                url::Host::Domain(name) => assert!(name != "localhost" && !name.ends_with(".localhost"), "{name}"),
            }
            kind(&[2, size(host.len())])
        })
    },
};

/// As the standard library knows it, which is stricter nowhere.
fn is_public(address: Ipv4Addr) -> bool {
    let [first, second, ..] = address.octets();
    !(address.is_private()
        || address.is_loopback()
        || address.is_link_local()
        || address.is_broadcast()
        || address.is_documentation()
        || address.is_multicast()
        || first == 0
        || first >= 240
        || (first == 100 && (64..128).contains(&second)))
}

/// An id, a timestamp and signatures, a line each; then the body.
pub(crate) const SIGNATURES: Target = Target {
    name: "signatures",
    weight: 1.0,
    dictionary: &["v1,", " ", "\n", "v1a,", "evt_1", "1700000000", "="],
    make: || {
        let secret = SigningSecret::parse("whs_MTIzNDU2Nzg5MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTI=").expect("a secret");
        // Made with Python's hmac, so that our own signing is not its own judge.
        let genuine = "v1,st8ioWSDpBUXMCSCwyAl4eEsA2sKT2NxcPyIdVmuLq4=";
        let seed = format!("evt_1\n1700000000\n{genuine}\n{{\"a\":1}}");
        Attack::new(&[&seed], move |input| {
            let text = String::from_utf8_lossy(input).into_owned();
            let mut lines = text.splitn(4, '\n');
            let mut next = || lines.next().unwrap_or_default();
            let (id, timestamp, signature, body) = (next(), next(), next(), next());
            let now = Timestamp::from_millis(1_700_000_100_000);
            let headers = SignedHeaders { id, timestamp, signature };
            match verify_webhook(&secret, headers, body.as_bytes(), now, Duration::from_secs(300)) {
                Ok(()) => {
                    assert_eq!((id, timestamp, body), ("evt_1", "1700000000", "{\"a\":1}"));
                    assert!(signature.split(' ').any(|one| one == genuine), "{signature}");
                    kind(&[1, signature.split(' ').count() as u64])
                }
                Err(error) => kind(&[2, error as u64, size(signature.len())]),
            }
        })
    },
};

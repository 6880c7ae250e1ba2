//! URLs as people and attackers write them, and names that move.

use crate::ports::ScriptedResolver;

use super::*;

const PUBLIC: &str = "93.184.216.34";

fn standard() -> Targets {
    Targets { allow_private_networks: false, ports: vec![443, 8443] }
}

fn resolver(answers: &[(&str, &[&str])]) -> ScriptedResolver {
    let resolver = ScriptedResolver::default();
    for (name, addresses) in answers {
        resolver.answer(name, addresses.iter().map(|address| address.parse::<IpAddr>().expect("an address")));
    }
    resolver
}

fn url(text: &str) -> WebhookUrl {
    WebhookUrl::parse(text).expect(text)
}

#[test]
fn a_url_is_kept_as_the_standard_writes_it() {
    for (typed, kept) in [
        ("HTTPS://Example.COM", "https://example.com/"),
        ("https://example.com:443/a/../b?q=1", "https://example.com/b?q=1"),
        ("https://bücher.example/ü", "https://xn--bcher-kva.example/%C3%BC"),
        ("https://0x7f000001/", "https://127.0.0.1/"),
        ("https://@example.com/", "https://example.com/"),
    ] {
        let url = url(typed);
        assert_eq!((url.as_str(), url.to_url().as_str()), (kept, kept));
        assert_eq!(WebhookUrl::parse(url.as_str()), Ok(url.clone()), "reading it again changes nothing");
        assert_eq!(serde_json::to_string(&url).expect("text"), format!("\"{kept}\""));
        assert_eq!(serde_json::from_str::<WebhookUrl>(&format!("\"{typed}\"")).expect("a url"), url);
    }
}

#[test]
fn what_is_not_a_url_to_call_is_refused() {
    let long = format!("https://example.com/{}", "a".repeat(2_029));
    let long_once_encoded = format!("https://example.com/{}", "ü".repeat(500));
    for text in [
        "",
        "example.com",
        "//example.com/",
        "ftp://example.com/",
        "file:///etc/passwd",
        "gopher://example.com/",
        "https://",
        "https://user@example.com/",
        "https://user:password@example.com/",
        "https://:password@example.com/",
        "https://example.com/#",
        "https://example.com/#part",
        "https://example.com:0/",
        "https://example.com:65536/",
        "https://exa mple.com/",
        "https://example.com/\n",
        "https://exam\tple.com/",
        " https://example.com/",
        "https://256.1.1.1/",
        "https://[::1/",
        "https://example.com%00/",
        long.as_str(),
        long_once_encoded.as_str(),
    ] {
        assert!(WebhookUrl::parse(text).is_err(), "{text}");
    }
}

#[test]
fn only_https_on_the_operators_ports_unless_private_networks_are_allowed() {
    let own_ports = Targets { ports: vec![9443], ..standard() };
    let closed = Targets { allow_private_networks: true, ..standard() };
    for (text, by_standard, by_own_ports) in [
        ("https://example.com/", true, false),
        ("https://example.com:8443/", true, false),
        ("https://example.com:9443/", false, true),
        ("https://example.com:22/", false, false),
        ("http://example.com/", false, false),
        ("http://example.com:443/", false, false),
        ("http://example.com:9443/", false, false),
    ] {
        assert_eq!(standard().check(&url(text)).is_ok(), by_standard, "{text}");
        assert_eq!(own_ports.check(&url(text)).is_ok(), by_own_ports, "{text}");
        assert_eq!(closed.check(&url(text)), Ok(()), "{text}");
    }
}

#[test]
fn the_names_of_this_machine_need_the_setting() {
    for host in ["localhost", "LOCALHOST", "localhost.", "x.localhost", "x.localhost.", "127.0.0.1", "[::1]", "loc%61lhost"] {
        let url = url(&format!("https://{host}/"));
        assert_eq!(standard().check(&url), Err(Blocked), "{host}");
        assert_eq!(Targets { allow_private_networks: true, ..standard() }.check(&url), Ok(()), "{host}");
    }
    for host in ["0.0.0.0", "255.255.255.255", "224.0.0.1", "169.254.169.254", "[::]", "[ff02::1]", "[fe80::1]"] {
        let url = url(&format!("https://{host}/"));
        assert_eq!(Targets { allow_private_networks: true, ..standard() }.check(&url), Err(Blocked), "{host}");
    }
}

#[tokio::test]
async fn a_host_is_called_at_its_addresses_on_the_urls_port() {
    let names = resolver(&[("example.com", &[PUBLIC, "2606:2800:220:1::1"])]);
    let vetted = standard().vet(&url("https://example.com:8443/x"), &names).await;
    assert_eq!(vetted, Ok(vec!["93.184.216.34:8443".parse().unwrap(), "[2606:2800:220:1::1]:8443".parse().unwrap()]));
    let literal = standard().vet(&url("https://93.184.216.34/"), &names).await;
    assert_eq!(literal, Ok(vec!["93.184.216.34:443".parse().unwrap()]), "nobody is asked for an address");
}

#[tokio::test]
async fn one_internal_address_among_public_ones_blocks_them_all() {
    for internal in ["10.0.0.1", "127.0.0.1", "169.254.169.254", "::1", "::ffff:10.0.0.1", "fd00::1", "64:ff9b::a00:1"] {
        for addresses in [[PUBLIC, internal], [internal, PUBLIC]] {
            let names = resolver(&[("example.com", &addresses)]);
            assert_eq!(standard().vet(&url("https://example.com/"), &names).await, Err(SendError::Blocked), "{internal}");
        }
    }
}

#[tokio::test]
async fn a_name_that_moves_inside_after_its_creation_is_blocked_at_the_attempt() {
    let names = resolver(&[("moves.example", &[PUBLIC]), ("moves.example", &["127.0.0.1"]), ("moves.example", &[PUBLIC])]);
    let admitted = standard().admit("https://moves.example/", &names).await.expect("public when created");
    assert_eq!(standard().vet(&admitted, &names).await, Err(SendError::Blocked));
    assert!(standard().vet(&admitted, &names).await.is_ok(), "each attempt is judged on its own");
}

#[tokio::test]
async fn a_name_without_addresses_or_without_an_answer_is_unreachable() {
    #[derive(Debug)]
    struct Silent;
    #[async_trait::async_trait]
    impl Resolver for Silent {
        async fn resolve(&self, _: &str) -> std::io::Result<Vec<IpAddr>> {
            std::future::pending().await
        }
    }
    let names = resolver(&[("empty.example", &[])]);
    for host in ["empty.example", "unknown.example"] {
        let vetted = standard().vet(&url(&format!("https://{host}/")), &names).await;
        assert_eq!(vetted, Err(SendError::Unreachable), "{host}");
    }
    let vetted = standard().vet_within(Duration::from_millis(10), &url("https://silent.example/"), &Silent).await;
    assert_eq!(vetted, Err(SendError::Unreachable));
}

#[tokio::test]
async fn every_refusal_at_creation_reads_the_same() {
    let names = resolver(&[("inside.example", &["10.0.0.1"]), ("empty.example", &[]), ("example.com", &[PUBLIC])]);
    assert!(standard().admit("https://example.com/", &names).await.is_ok());
    let mut messages = std::collections::BTreeSet::new();
    for text in [
        "https://inside.example/",
        "https://empty.example/",
        "https://unknown.example/",
        "https://localhost/",
        "https://127.0.0.1/",
        "https://[::1]/",
        "http://example.com/",
        "https://example.com:22/",
        "https://user@example.com/",
        "https://example.com/#part",
        "nonsense",
    ] {
        messages.insert(standard().admit(text, &names).await.expect_err(text).to_string());
    }
    assert_eq!(messages.len(), 1, "{messages:?}");
    assert!(
        messages
            .first()
            .is_some_and(|message| message.starts_with("The URL of a webhook must be an https URL on port 443 or 8443"))
    );
}

//! The collector of traces: a program that can send to one takes its URL, and any other program says what it lacks.

use super::Env;

#[cfg(feature = "otlp")]
#[test]
fn a_collector_is_named_by_a_url_without_secrets() {
    assert!(Env::complete().server().expect("starts").otlp_endpoint.is_none());
    for good in ["http://127.0.0.1:4318", "https://collector.example.com/otlp"] {
        let server = Env::complete().with("OTLP_ENDPOINT", good).server().expect("starts");
        assert_eq!(server.otlp_endpoint.expect("a URL").as_str().trim_end_matches('/'), good);
    }
    for bad in ["127.0.0.1:4318", "grpc://collector:4317", "http://key@collector:4318", "http://collector:4318?key=mauve"] {
        let refused = Env::complete().with("OTLP_ENDPOINT", bad).refused_naming("OTLP_ENDPOINT");
        assert!(!refused.contains("mauve") && !refused.contains("key@"), "{refused}");
    }
}

#[cfg(not(feature = "otlp"))]
#[test]
fn a_collector_is_refused_by_a_program_that_cannot_send_to_it() {
    let refused = Env::complete().with("OTLP_ENDPOINT", "http://127.0.0.1:4318").refused_naming("OTLP_ENDPOINT");
    assert!(refused.contains("--features otlp"), "{refused}");
}

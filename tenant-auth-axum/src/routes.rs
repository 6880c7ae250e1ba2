//! The service's own routes and pages, translated: nothing is decided here.

use std::net::SocketAddr;

use axum::{
    Router,
    body::{Body, HttpBody},
    extract::{ConnectInfo, OriginalUri, Request},
    http::{HeaderValue, header},
    response::Response,
    routing,
};
use http_body_util::BodyExt;
use tenant_auth_core::{
    TenantAuth,
    http::{AnswerBody, BODY_LIMIT, Body as CoreBody, Service},
};
use tokio::time::timeout;

/// Every operation of the service, to be merged into the host's router at its root. Only paths below [`Service::base_path`] are
/// taken.
pub fn routes<S: Clone + Send + Sync + 'static>(auth: &TenantAuth) -> Router<S> {
    let service = Service::new(auth);
    let base = service.base_path().to_owned();
    let carry = move |request: Request| carry(service.clone(), request);
    Router::new()
        .route(&base, routing::any(carry.clone()))
        .route(&format!("{base}/"), routing::any(carry.clone()))
        .route(&format!("{base}/{{*rest}}"), routing::any(carry))
}

/// The admin panel and the hosted pages that mails link to, to be merged into the host's router at its root beside [`routes`].
/// With the feature `panel`. Only the exact paths of [`Pages::paths`](tenant_auth_core::http::Pages::paths) are taken.
#[cfg(feature = "panel")]
pub fn panel<S: Clone + Send + Sync + 'static>(auth: &TenantAuth) -> Router<S> {
    let pages = tenant_auth_core::http::Pages::new(auth);
    pages.paths().iter().fold(Router::new(), |router, path| {
        let pages = pages.clone();
        router.route(path, routing::any(async move |request: Request| pages.answer(&with_full_path(request)).map(Body::from)))
    })
}

/// Translates one request and its answer.
async fn carry(service: Service, request: Request) -> Response {
    let peer = request.extensions().get::<ConnectInfo<SocketAddr>>().map(|ConnectInfo(peer)| peer.ip());
    let (parts, body) = with_full_path(request).into_parts();
    let (body, is_late) = read(body).await;
    let mut response = service.call(axum::http::Request::from_parts(parts, body), peer).await.map(sent);
    if is_late {
        // What still comes of the body would be taken for the next request.
        response.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
    }
    response
}

fn sent(body: AnswerBody) -> Body {
    match body {
        AnswerBody::Stream(stream) => Body::from_stream(stream),
        whole => Body::from(whole.into_bytes()),
    }
}

/// A router that nests ours may have shortened the path.
fn with_full_path(mut request: Request) -> Request {
    if let Some(OriginalUri(uri)) = request.extensions_mut().remove() {
        *request.uri_mut() = uri;
    }
    request
}

/// Reads at most the limit and no longer than a body may take; what is longer or slower is not read to its end.
/// Whether it was late comes beside it.
async fn read(body: Body) -> (CoreBody, bool) {
    let announced = body.size_hint().exact();
    match timeout(CoreBody::patience(announced), collect(body)).await {
        Ok(body) => (body, false),
        Err(_) => (CoreBody::late(announced), true),
    }
}

/// The body in one piece. A frame is copied and let go before the next is waited for: each keeps alive the whole buffer that its read
/// went into, and a client chooses how many frames its bytes come in.
async fn collect(mut body: Body) -> CoreBody {
    let mut whole = Vec::new();
    while let Some(frame) = body.frame().await {
        let Ok(frame) = frame else { return CoreBody::Broken };
        let Ok(data) = frame.into_data() else { continue };
        if whole.len() + data.len() > BODY_LIMIT {
            return CoreBody::TooLarge;
        }
        if whole.is_empty() && body.is_end_stream() {
            return CoreBody::Complete(data);
        }
        whole.extend_from_slice(&data);
    }
    CoreBody::Complete(whole.into())
}

#[cfg(test)]
mod tests {
    use std::{
        convert::Infallible,
        pin::Pin,
        sync::{
            Arc,
            atomic::{AtomicUsize, Ordering},
        },
        task::{Context, Poll},
    };

    use axum::body::Bytes;
    use futures_core::Stream;

    use super::*;

    /// What a frame keeps alive, counted.
    struct Buffer(Arc<AtomicUsize>);

    impl AsRef<[u8]> for Buffer {
        fn as_ref(&self) -> &[u8] {
            b"x"
        }
    }

    impl Drop for Buffer {
        fn drop(&mut self) {
            self.0.fetch_sub(1, Ordering::SeqCst);
        }
    }

    /// A body of so many frames of one byte.
    #[derive(Default)]
    struct Bytewise {
        left: usize,
        alive: Arc<AtomicUsize>,
        most_alive: Arc<AtomicUsize>,
    }

    impl Stream for Bytewise {
        type Item = Result<Bytes, Infallible>;

        fn poll_next(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Self::Item>> {
            let Some(left) = self.left.checked_sub(1) else { return Poll::Ready(None) };
            self.left = left;
            let alive = self.alive.fetch_add(1, Ordering::SeqCst) + 1;
            self.most_alive.fetch_max(alive, Ordering::SeqCst);
            Poll::Ready(Some(Ok(Bytes::from_owner(Buffer(Arc::clone(&self.alive))))))
        }
    }

    #[tokio::test]
    async fn a_body_in_many_frames_keeps_one_alive_at_a_time() {
        let sent = Bytewise { left: BODY_LIMIT, ..Bytewise::default() };
        let most_alive = Arc::clone(&sent.most_alive);
        let (CoreBody::Complete(whole), false) = read(Body::from_stream(sent)).await else { panic!("it is within the limit") };
        assert_eq!(whole.len(), BODY_LIMIT);
        assert!(whole.iter().all(|byte| *byte == b'x'));
        assert_eq!(most_alive.load(Ordering::SeqCst), 1);
    }

    #[tokio::test]
    async fn what_exceeds_the_limit_by_a_byte_is_too_large() {
        let sent = Bytewise { left: BODY_LIMIT + 1, ..Bytewise::default() };
        assert!(matches!(read(Body::from_stream(sent)).await, (CoreBody::TooLarge, false)));
        assert!(matches!(read(Body::from(vec![0; BODY_LIMIT + 1])).await, (CoreBody::TooLarge, false)));
    }
}

"""Lets in who has a live session at Tenant Auth: a middleware for any WSGI application (Flask, Django, Pyramid ...)."""

import http.client
import json
import os
import re
import urllib.error
import urllib.parse
import urllib.request

PATIENCE = 5  # Seconds. A server that does not answer ends nobody's session: the request is 503.
LARGEST = 256 * 1024  # Bytes of an answer.
LONGEST = 2048  # Characters of an address to come back to.
CACHING = re.compile("(?:.*cdn-)?cache-control|surrogate-control", re.IGNORECASE)  # RFC 9213: some go before Cache-Control.
PLAIN = re.compile(r"(?:/(?!\.+(?:/|$))[\w.~@+-]+)*/?", re.ASCII)  # A path that every router reads alike: no `..`, `//`, `%2e`.


class NoRedirect(urllib.request.HTTPRedirectHandler):
    """Keys and tokens go to the server and nowhere else."""

    def redirect_request(self, *_):
        return None


OPENER = urllib.request.build_opener(NoRedirect, urllib.request.ProxyHandler({}))


class Refused(Exception):
    """An answer instead of the page."""

    def __init__(self, status, code, message, headers=()):
        super().__init__(code)
        self.status, self.headers = status, list(headers)
        self.body = json.dumps({"status": "error", "code": code, "message": message}).encode()


def unavailable():
    return Refused(503, "unavailable", "Try again in a moment.", [("Retry-After", "2")])


def not_set_up(why):
    """Our fault, and not the person's session."""
    print("Tenant Auth", why, flush=True)
    return Refused(500, "internal", "Something is not set up.")


def bearer(environ):
    """The token of a Bearer, or None without one."""
    scheme, _, token = environ.get("HTTP_AUTHORIZATION", "").partition(" ")
    return token.strip() if scheme.lower() == "bearer" else None


def is_navigation(environ):
    """Whether a browser asks for a page to show. One that is too old for `Sec-Fetch-Mode` asks for HTML."""
    mode = environ.get("HTTP_SEC_FETCH_MODE")
    ranges = [[part.strip() for part in text.split(";")] for text in environ.get("HTTP_ACCEPT", "").lower().split(",")]
    is_html = any(parts[0] == "text/html" and not any(re.fullmatch("q=[0.]*", part) for part in parts) for parts in ranges)
    return environ["REQUEST_METHOD"] == "GET" and (is_html if mode is None else mode == "navigate")


def cookie(environ, name):
    """The value of a cookie. Two of one name are nobody's: somebody may have planted one."""
    pairs = [pair.strip().partition("=") for pair in environ.get("HTTP_COOKIE", "").split(";")]
    values = {value for key, _, value in pairs if key == name}
    if len(values) > 1:
        raise Refused(401, "session_required", "Log in.")
    return values.pop() if values else None


class TenantAuth:
    """Puts who is calling into `environ["tenant_auth"]`: the data of `POST /public/verify`, of an active member; None at `public` paths.

    A browser that opens a page without a session is sent to `sign_in`, an address, and comes back to `reached_at`, our own origin.
    """

    def __init__(self, app, url, slug, api_key, origins=(), cookie_domain=None, public=(), sign_in=None, reached_at=None):
        if any(not page.startswith("/") for page in public):
            raise ValueError("public: each path begins with /")
        self.app, self.origins, self.public = app, set(origins), set(public)
        self.sign_in, self.reached_at = sign_in, reached_at and reached_at.rstrip("/")
        self.ended = "; Path=/; Max-Age=0; HttpOnly; Secure" + (f"; Domain={cookie_domain}" if cookie_domain else "")
        self.base = url.rstrip("/") + "/api/v1"
        self.slug, self.api_key = slug, api_key

    def __call__(self, environ, start_response):
        cookies = []
        try:
            environ["tenant_auth"] = self.judge(environ, cookies)
        except Refused as refused:
            status, headers = refused.status, refused.headers + cookies
            page = self.way_in(environ) if status == 401 else None
            if page:
                status, headers = 303, headers + [("Location", page)]
            elif status == 401:
                headers += [("WWW-Authenticate", "Bearer")]  # RFC 9110: a 401 names how to log in.
            headers += [("Content-Type", "application/json"), ("Cache-Control", "no-store")]
            start_response(f"{status} {http.client.responses[status]}", headers)
            return [refused.body]

        def start(status, headers, exc_info=None):
            if cookies:  # A cache that kept this answer would hand one person's session to the next.
                headers = [pair for pair in headers if not CACHING.fullmatch(pair[0])] + [("Cache-Control", "no-store")]
            return start_response(status, headers + cookies, exc_info)

        return self.app(environ, start)

    def judge(self, environ, cookies):
        if self.is_public(environ.get("PATH_INFO", "")):
            return None
        token = bearer(environ)
        if token is not None:  # It counts alone, and is never refreshed.
            who = self.verify(token)
        else:
            self.judge_origin(environ)
            access, refresh = cookie(environ, "access_token"), cookie(environ, "refresh_token")
            who = self.verify(access) if access else None
            if who is None and refresh:
                who = self.verify(self.refresh(refresh, cookies))
                if who is None:
                    raise Refused(403, "not_admitted", "This session gives no access here. Log in again.")
        if who is None:
            raise Refused(401, "session_required", "Log in.")
        if who["membership"]["status"] != "active":
            raise Refused(403, "suspended", "This membership is suspended.")
        return who

    def is_public(self, path):
        """Whether the path is one of them, or a plain one below one that ends in a slash ("/" is the first page alone)."""
        is_below = any(path.startswith(page) for page in self.public if page.endswith("/") and page != "/")
        return path in self.public or (is_below and PLAIN.fullmatch(path) is not None)

    def way_in(self, environ):
        """The sign-in page, told where to come back to: the path is the request's, never the host. None where a program asks."""
        if not self.sign_in or not is_navigation(environ) or bearer(environ) is not None:
            return None
        path = urllib.parse.quote(environ.get("SCRIPT_NAME", "") + environ.get("PATH_INFO", ""), "/:@;=,!$&'()*+", "latin-1")
        if path.rstrip("/") == urllib.parse.urlsplit(self.sign_in).path.rstrip("/"):
            return None  # It may lie behind this middleware.
        said, query = {"org": self.slug}, environ.get("QUERY_STRING")
        address = f"{self.reached_at}{path}" + (f"?{query}" if query else "")
        if self.reached_at and path.startswith("/") and len(address) <= LONGEST:
            said["next"] = address
        return f"{self.sign_in}#{urllib.parse.urlencode(said)}"

    def judge_origin(self, environ):
        """A browser attaches cookies to every request that a page makes: what changes something must come from our own."""
        if environ["REQUEST_METHOD"] in ("GET", "HEAD", "OPTIONS") and "HTTP_UPGRADE" not in environ:
            return
        origin, site = environ.get("HTTP_ORIGIN"), environ.get("HTTP_SEC_FETCH_SITE")
        if origin in self.origins and origin:
            return
        if site in ("same-origin", "none") or (site is None and origin is None):
            return
        page = urllib.parse.urlsplit(origin or "")
        is_safe = page.scheme == "https" or page.hostname in ("localhost", "127.0.0.1")
        if site is None and is_safe and page.netloc == environ.get("HTTP_HOST"):
            return
        raise Refused(403, "forbidden_origin", "This page may not do that.")

    def verify(self, token):
        """Who holds the token, or None when it is no live one."""
        status, answer = self.ask("/public/verify", {"X-API-Key": self.api_key}, {"token": token})
        if status in (401, 403):
            raise not_set_up(f'refused the API key for "{self.slug}": {answer.get("code")}')
        if status != 200:
            raise unavailable()
        return answer["data"] if answer["data"]["valid"] else None

    def refresh(self, token, cookies):
        """The next access token. The browser gets the server's cookies as they are, and loses those of a session that is over."""
        status, answer = self.ask("/auth/refresh", {"Cookie": f"refresh_token={token}"}, {}, cookies)
        if status in (401, 403):
            if answer["code"] == "session_required":
                cookies += [("Set-Cookie", f"{name}={self.ended}") for name in ("access_token", "refresh_token")]
            raise Refused(status, answer["code"], answer["message"])
        if status != 200:
            raise unavailable()
        return answer["data"]["accessToken"]

    def ask(self, path, headers, body, cookies=None):
        headers = {"X-Org-Slug": self.slug, "Content-Type": "application/json", **headers}
        request = urllib.request.Request(self.base + path, json.dumps(body).encode(), headers)
        try:
            try:
                response = OPENER.open(request, timeout=PATIENCE)
            except urllib.error.HTTPError as error:
                response = error
            with response:
                answer = json.loads(response.read(LARGEST))
                if not isinstance(answer, dict):
                    raise unavailable()
                if response.status == 429:
                    delay = response.headers.get("Retry-After", "2")
                    raise Refused(429, answer["code"], answer["message"], [("Retry-After", delay)])
                if answer.get("code") in ("unknown_organization", "invalid_slug"):
                    raise not_set_up(f'knows no organization "{self.slug}": is the slug right?')
                if cookies is not None:
                    cookies += [("Set-Cookie", cookie) for cookie in response.headers.get_all("Set-Cookie") or []]
                return response.status, answer
        except (OSError, http.client.HTTPException, ValueError, KeyError):
            raise unavailable() from None


if __name__ == "__main__":
    from wsgiref.simple_server import WSGIRequestHandler, make_server

    def reports(environ, start_response):
        who = environ["tenant_auth"]
        start_response("200 OK", [("Content-Type", "text/plain; charset=utf-8")])
        return [f"Reports for {who['user']['name']}\n".encode() if who else b"For everybody\n"]

    class Quiet(WSGIRequestHandler):
        def log_message(self, *_):
            pass

    url, key, reached_at = os.environ["AUTH_URL"], os.environ["API_KEY"], os.environ.get("REACHED_AT")
    public = ("/health", "/assets/")
    app = TenantAuth(reports, url, "acme", key, public=public, sign_in=f"{url}/sign-in", reached_at=reached_at)
    server = make_server("127.0.0.1", int(os.environ.get("PORT", "3000")), app, handler_class=Quiet)
    print(f"http://127.0.0.1:{server.server_port}", flush=True)
    server.serve_forever()

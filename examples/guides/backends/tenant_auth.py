"""Lets in who has a live session at Tenant Auth: a middleware for any WSGI application (Flask, Django, Pyramid ...)."""

import http.client
import json
import os
import urllib.error
import urllib.parse
import urllib.request

PATIENCE = 5  # Seconds. A server that does not answer ends nobody's session: the request is 503.
LARGEST = 256 * 1024  # Bytes of an answer.


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


def cookie(environ, name):
    """The value of a cookie. Two of one name are nobody's: somebody may have planted one."""
    pairs = [pair.strip().partition("=") for pair in environ.get("HTTP_COOKIE", "").split(";")]
    values = {value for key, _, value in pairs if key == name}
    if len(values) > 1:
        raise Refused(401, "session_required", "Log in.")
    return values.pop() if values else None


class TenantAuth:
    """Puts who is calling into `environ["tenant_auth"]`: the data of `POST /public/verify`, of an active member."""

    def __init__(self, app, url, slug, api_key, origins=(), cookie_domain=None):
        self.app, self.origins = app, set(origins)
        self.ended = "; Path=/; Max-Age=0; HttpOnly; Secure" + (f"; Domain={cookie_domain}" if cookie_domain else "")
        self.base = url.rstrip("/") + "/api/v1"
        self.slug, self.api_key = slug, api_key

    def __call__(self, environ, start_response):
        cookies = []
        try:
            environ["tenant_auth"] = self.judge(environ, cookies)
        except Refused as refused:
            headers = refused.headers + cookies + [("Content-Type", "application/json"), ("Cache-Control", "no-store")]
            start_response(f"{refused.status} {http.client.responses[refused.status]}", headers)
            return [refused.body]

        def start(status, headers, exc_info=None):
            if cookies:  # A cache that kept this answer would hand one person's session to the next.
                headers = [pair for pair in headers if pair[0].lower() != "cache-control"] + [("Cache-Control", "no-store")]
            return start_response(status, headers + cookies, exc_info)

        return self.app(environ, start)

    def judge(self, environ, cookies):
        scheme, _, bearer = environ.get("HTTP_AUTHORIZATION", "").partition(" ")
        if scheme.lower() == "bearer":  # It counts alone, and is never refreshed.
            who = self.verify(bearer.strip())
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
        name = environ["tenant_auth"]["user"]["name"]
        start_response("200 OK", [("Content-Type", "text/plain; charset=utf-8")])
        return [f"Reports for {name}\n".encode()]

    class Quiet(WSGIRequestHandler):
        def log_message(self, *_):
            pass

    app = TenantAuth(reports, os.environ["AUTH_URL"], "acme", os.environ["API_KEY"])
    server = make_server("127.0.0.1", int(os.environ.get("PORT", "3000")), app, handler_class=Quiet)
    print(f"http://127.0.0.1:{server.server_port}", flush=True)
    server.serve_forever()

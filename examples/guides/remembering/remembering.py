"""Verifies access tokens in this process's own memory, kept true by asking the service what changed."""

import http.client
import json
import os
import threading
import time
import urllib.error
import urllib.parse
import urllib.request
from collections import OrderedDict
from datetime import datetime, timezone

MAX_AGE = 2.0  # Seconds after which what changed is in force here.
MOST = 100_000  # Answers kept.


def now():
    """A clock that is never set and runs on while the machine sleeps, and the wall clock."""
    return time.clock_gettime(getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)), time.time()


def age(since):
    """The larger of the two differences; a wall clock that was set back makes everything too old."""
    steady, wall = (later - earlier for later, earlier in zip(now(), since))
    return max(steady, wall) if wall >= 0 else float("inf")


class NoRedirect(urllib.request.HTTPRedirectHandler):
    """The key goes to the service and nowhere else."""

    def redirect_request(self, *_):
        return None


OPENER = urllib.request.build_opener(NoRedirect, urllib.request.ProxyHandler({}))


class Verifier:
    """One for each organization, for whose slug alone its answers count, with a key that has the scope `verify`."""

    def __init__(self, url, slug, key):
        self.base = url.rstrip("/") + "/api/v1/public"
        self.headers = {"X-Org-Slug": slug, "X-API-Key": key, "Content-Type": "application/json"}
        self._begin()
        if hasattr(os, "register_at_fork"):  # A worker that is forked has its parent's memory, and none of its threads.
            os.register_at_fork(after_in_child=self._begin)

    def _begin(self):
        self.lock = threading.Lock()
        self.follower = None
        self.answers = OrderedDict()  # By token.
        self.polled = None  # When the last question what changed BEGAN, of those that were answered.
        self.cursor, self.key_ends, self.generation = None, None, 0
        self.named = OrderedDict()  # Ids, with the generation that named them.

    def verify(self, token):
        """The service's answer about a live token, else None. Raises when nobody can say."""
        with self.lock:
            if self.follower is None:
                self.follower = threading.Thread(target=self._follow, daemon=True)
                self.follower.start()
            known = self.answers.get(token)
            if known and self._counts(known):
                return known
            cursor, generation = self.cursor, self.generation
        question = {"token": token} | ({"after": cursor} if cursor else {})
        try:
            answer = self._ask("/verify", json.dumps(question).encode(), 5)
        except urllib.error.HTTPError as refusal:
            if refusal.code in (401, 403):
                self._forget()  # The key opens nothing any more.
            raise
        if not answer["valid"]:
            return None
        with self.lock:
            ids = answer["session"]["id"], answer["user"]["id"], "everything"
            # What was named while the question was under way may be older than its name.
            if cursor and all(self.named.get(id, -1) <= generation for id in ids):
                self.answers[token] = answer
                if len(self.answers) > MOST:
                    self.answers.popitem(last=False)
        return answer

    def _counts(self, answer):
        ends = [answer["tokenExpiresAt"], answer["session"]["expiresAt"], self.key_ends]
        moment = datetime.now(timezone.utc)
        return (
            self.polled is not None
            and age(self.polled) < MAX_AGE
            and all(end is None or moment < datetime.fromisoformat(end.replace("Z", "+00:00")) for end in ends)
        )

    def _follow(self):
        """Asks what changed, again and again."""
        while True:
            began, wait = now(), min(1000, int(400 * MAX_AGE)) if self.polled and age(self.polled) < MAX_AGE else 0
            query = {"wait": wait} | ({"after": self.cursor} if self.cursor else {})
            try:
                self._apply(began, self._ask("/changes?" + urllib.parse.urlencode(query), None, MAX_AGE))
            except (urllib.error.HTTPError, AttributeError, KeyError, TypeError, ValueError):
                self._forget()  # The service refuses, or cannot be understood.
            except (OSError, http.client.HTTPException):
                pass  # No answer: what is kept grows too old by itself.
            time.sleep(max(0.0, MAX_AGE / 4 - age(began)))

    def _apply(self, began, changes):
        named = set(changes["sessions"]) | set(changes["users"])
        with self.lock:
            self.generation += 1
            if changes["everything"]:
                self.answers.clear()
                named = {"everything"}
            for token in [t for t, a in self.answers.items() if named and {a["session"]["id"], a["user"]["id"]} & named]:
                del self.answers[token]
            self._name(named)
            self.cursor, self.key_ends, self.polled = changes["cursor"], changes["keyExpiresAt"], began

    def _name(self, ids):
        for id in ids:
            self.named[id] = self.generation
            self.named.move_to_end(id)
        while len(self.named) > 10_000:  # What is left out counts as everything.
            self.named["everything"] = max(self.named.get("everything", -1), self.named.popitem(last=False)[1])

    def _forget(self):
        with self.lock:
            self.generation += 1
            self.answers.clear()
            self._name({"everything"})
            self.cursor = self.polled = None

    def _ask(self, path, body, timeout):
        request = urllib.request.Request(self.base + path, body, self.headers)
        with OPENER.open(request, timeout=timeout) as response:
            if response.status != 200:
                raise ValueError(response.status)
            answer = json.load(response)
            if not isinstance(answer, dict) or not isinstance(answer.get("data"), dict):
                raise ValueError("an answer, but none of the service's")
            return answer["data"]


if __name__ == "__main__":
    import http.server

    verifier = Verifier(os.environ["AUTH_URL"], "acme", os.environ["API_KEY"])

    class Reports(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            try:
                who = verifier.verify((self.headers["Authorization"] or "").removeprefix("Bearer "))
                active = who and who["membership"]["status"] == "active"
                status, text = (200, "Reports for " + who["user"]["name"]) if active else (403 if who else 401, "")
            except (OSError, http.client.HTTPException, KeyError, ValueError):
                status, text = 503, ""
            self.send_response(status)
            self.send_header("Content-Length", str(len(text.encode())))
            self.end_headers()
            self.wfile.write(text.encode())

        def log_message(self, *_):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", int(os.environ.get("PORT", "3000"))), Reports)
    print(f"http://127.0.0.1:{server.server_port}", flush=True)
    server.serve_forever()

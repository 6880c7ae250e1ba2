"""Keeps a copy of an organization's members in an SQLite file, true to the feed of its events."""

import http.client
import json
import os
import sqlite3
import time
import urllib.error
import urllib.parse
import urllib.request

BASE = os.environ["AUTH_URL"].rstrip("/") + "/api/v1/public"
HEADERS = {"X-Org-Slug": os.environ.get("ORG", "acme"), "X-API-Key": os.environ["API_KEY"]}


class NoRedirect(urllib.request.HTTPRedirectHandler):
    """The key goes to the service and nowhere else."""

    def redirect_request(self, *_):
        return None


OPENER = urllib.request.build_opener(NoRedirect, urllib.request.ProxyHandler({}))


def ask(path, **query):
    request = urllib.request.Request(BASE + path + "?" + urllib.parse.urlencode(query), headers=HEADERS)
    with OPENER.open(request, timeout=30) as answer:
        return json.load(answer)["data"]


def put(db, member):
    db.execute("REPLACE INTO members VALUES (?, ?)", (member["userId"], json.dumps(member, sort_keys=True)))


def last_event(sequence):
    """The id of the event with this number; None where it is no longer kept."""
    try:
        events = ask("/events", after=sequence - 1, limit=1)["events"] if sequence > 0 else []
    except urllib.error.HTTPError as refusal:
        if refusal.code != 410:
            raise
        events = []
    return events[0]["id"] if events else None


def begin(db):
    """Reads the whole list, and from where its first page wants the events read."""
    page = ask("/members", limit=1000)
    sequence = page["sequence"]
    event = last_event(sequence)
    with db:  # One transaction: the copy is whole, or it is as it was.
        db.execute("DELETE FROM members")
        db.execute("REPLACE INTO reached VALUES (1, ?, ?)", (sequence, event))
        while True:
            for member in page["members"]:
                put(db, member)
            if "nextCursor" not in page:
                return
            page = ask("/members", limit=1000, cursor=page["nextCursor"])


def apply(db, event):
    """Repeats one event. The order of the events matters; that the list shows an effect already does not."""
    data, kind = event["data"], event["type"]
    if data is None:
        return  # Erased with a person's account; user.deleted follows.
    if kind == "member.removed":
        db.execute("DELETE FROM members WHERE id = ?", (data["member"]["userId"],))
    elif kind == "user.deleted":
        db.execute("DELETE FROM members WHERE id = ?", (data["user"]["id"],))
    elif "member" in data:
        put(db, data["member"])
    elif kind.startswith("user."):
        known = db.execute("SELECT member FROM members WHERE id = ?", (data["user"]["id"],)).fetchone()
        if known:
            put(db, json.loads(known[0]) | {field: data["user"][field] for field in ("name", "email")})


def follow(db):
    """Reads what came after the place of the copy, and waits for it."""
    place = db.execute("SELECT sequence, event FROM reached").fetchone()
    if place is None:
        return begin(db)
    sequence, event = place
    try:  # By its id: after a restored backup its number is another event's.
        answer = ask("/events", after=event or sequence, limit=1000, wait=1000)
    except urllib.error.HTTPError as refusal:
        if refusal.code == 410:  # Some events are gone, or the copy is of another past.
            return begin(db)
        raise
    with db:  # What the events tell and how far they were read, in one transaction.
        for event in answer["events"]:
            apply(db, event)
        if answer["events"]:
            db.execute("UPDATE reached SET sequence = ?, event = ?", (answer["lastSequence"], answer["events"][-1]["id"]))


def main():
    db = sqlite3.connect(os.environ.get("COPY", "members.db"))
    db.execute("CREATE TABLE IF NOT EXISTS members (id TEXT PRIMARY KEY, member TEXT NOT NULL)")
    # A former version of this program kept numbers alone, in a table `place`: its copy begins anew.
    db.execute("CREATE TABLE IF NOT EXISTS reached (only_one INTEGER PRIMARY KEY, sequence INTEGER NOT NULL, event TEXT)")
    while True:
        try:
            follow(db)
        except (OSError, http.client.HTTPException, ValueError, KeyError, sqlite3.OperationalError) as error:
            print("the copy has to wait:", repr(error), flush=True)  # The service is away, or the file is locked.
            time.sleep(1)


main()

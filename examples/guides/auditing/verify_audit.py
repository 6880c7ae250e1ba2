"""Verifies an audit file of Tenant Auth: python3 verify_audit.py FILE KEYS

KEYS is a copy of /.well-known/audit-keys.json. Exit code 0: good, 1: tampered with, 2: not verified.
"""

import base64
import hashlib
import json
import re
import sys
from datetime import datetime

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey


BEGINNING = b'{"format":"tenant-auth-audit/1",'
LATE = 300  # seconds after its end for which a key may sign what was begun before


class Tampered(Exception):
    pass


class NotVerified(Exception):
    pass


def check(holds, why):
    if not holds:
        raise Tampered(why)


def unbase64(text):
    decoded = base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
    check(base64.urlsafe_b64encode(decoded).rstrip(b"=").decode() == text, "odd base64")
    return decoded


def moment(text):
    return datetime.fromisoformat(text.replace("Z", "+00:00")).timestamp()


def usable(document):
    """The keys by kid; a kid is the thumbprint of its key (RFC 7638)."""
    keys = {}
    for key in document["keys"]:
        if key.get("kty") == "OKP" and key.get("crv") == "Ed25519":
            thumbprint = hashlib.sha256(f'{{"crv":"Ed25519","kty":"OKP","x":"{key["x"]}"}}'.encode()).digest()
            if base64.urlsafe_b64encode(thumbprint).rstrip(b"=").decode() == key["kid"]:
                keys[key["kid"]] = key
    if not keys:
        raise NotVerified("there is no audit key in it")
    return keys


def signed(jws, keys):
    """What an audit key signed, when, and whether somebody else may have had the key since."""
    head, body, signature = jws.split(".")
    header, payload = json.loads(unbase64(head)), json.loads(unbase64(body))
    check(header["alg"] == "EdDSA" and header["typ"] == "audit+jwt" and "crit" not in header, "the signature is of another kind")
    if header["kid"] not in keys:
        raise NotVerified("the signature is of a key that is not among the keys")
    key, made = keys[header["kid"]], payload.pop("iat")
    check(type(made) is int, "the signature has no time")
    if "revokedAt" in key:
        check(made < moment(key["revokedAt"]), "the signature was made after its key was revoked")
    if "retiredAt" in key:
        check(made <= moment(key["retiredAt"]) + LATE, "the signature was made after another key had replaced its key")
    try:
        Ed25519PublicKey.from_public_bytes(unbase64(key["x"])).verify(unbase64(signature), f"{head}.{body}".encode())
    except InvalidSignature:
        raise Tampered("the signature does not hold") from None
    return payload, made, "revokedAt" in key


def check_signature(line, before, keys):
    values = {name: value for name, value in line.items() if name != "jws"}
    payload, made, is_doubtful = signed(line["jws"], keys)
    check(payload == {**values, "sha256": before.hexdigest()}, "the signature is of another file")
    return made, is_doubtful


def digest(part):
    """The digest of a part; the text of a part is hashed as it stands in the line."""
    wiped = re.fullmatch(r'\{"digest":"([0-9a-f]{64})"\}', part)
    if wiped:
        return bytes.fromhex(wiped[1])
    kept = re.fullmatch(r'\{"salt":"([0-9a-f]{64})","part":(.*)\}', part)
    check(kept, "has a malformed part")
    return hashlib.sha256(bytes.fromhex(kept[1]) + kept[2].encode()).digest()


def texts(line):
    """The texts of facts, data, context and hash, as they stand in the line."""
    found, at = [], 0
    for name in ("facts", "data", "context", "hash"):
        begin = ("," if at else "{") + f'"{name}":'
        check(line.startswith(begin, at), "is no entry")
        end = json.JSONDecoder().raw_decode(line, at + len(begin))[1]
        found.append(line[at + len(begin):end])
        at = end
    check(line[at:] == "}", "is no entry")
    return found


def verify(path, keys):
    """Raises Tampered with the line, or NotVerified. Returns the number of entries, and what is to be known of a good file."""
    before, previous, entries, last, header, notes = hashlib.sha256(), b"", [], None, None, []
    number = 0
    with open(path, "rb") as file:
        for number, raw in enumerate(file, 1):
            if number == 1 and not raw.startswith(BEGINNING):
                break
            try:
                check(last is None and raw.endswith(b"\n"), "is cut off, or follows on the last line")
                text = raw[:-1].decode()
                if number == 1:
                    header = json.loads(text)
                    made, is_doubtful = check_signature(header, before, keys)
                    previous = bytes.fromhex(header["previous"])
                elif text.startswith('{"count":'):
                    last = json.loads(text)
                    check(json.dumps(last, separators=(",", ":")) == text, "was changed")
                    check(type(last["count"]) is int and list(last) == ["count", "head", "jws"], "was changed")
                    check(last["count"] == len(entries) and last["head"] == previous.hex(), "entries are missing")
                    try:
                        check_signature(last, before, keys)
                    except NotVerified as why:
                        raise Tampered(why) from None
                else:
                    facts, data, context, said = texts(text)
                    entry = json.loads(facts)
                    check(not entries or entry["sequence"] == entries[-1][1]["sequence"] + 1, "an entry is missing, or out of order")
                    check(entry["org"] == header["org"], "is of another organization")
                    check(not entries or entry["timestamp"] >= entries[-1][1]["timestamp"], "is earlier than the one before")
                    is_in = (header["from"] or "") <= entry["timestamp"] and (not header["to"] or entry["timestamp"] < header["to"])
                    check(is_in, "lies outside the time that the first line states")
                    previous = hashlib.sha256(previous + facts.encode() + digest(data) + digest(context)).digest()
                    check(said == f'"{previous.hex()}"', "was changed: its hash is another")
                    entries.append((number, entry, data, previous.hex()))
                before.update(raw)
            except Tampered as why:
                raise Tampered(f"line {number}: {why}") from None
            except (ValueError, KeyError, TypeError, AttributeError) as error:
                raise Tampered(f"line {number}: {error!r}") from None
    if header is None:
        raise NotVerified("this is no audit file of the format tenant-auth-audit/1")
    check(last is not None, f"line {number + 1}: the file is cut off")
    if is_doubtful:
        notes.append("the key that signed this was revoked later: only what was kept elsewhere vouches for its time")
    notes += check_imported(header["imported"], entries)
    deleted = {entry["user"]: entry["timestamp"] for _, entry, _, _ in entries if entry["type"] == "user.deleted"}
    # A deletion after the range is not in the file; a range that ends after the file was made cuts nothing off.
    is_cut = header["to"] and moment(header["to"]) < made + 1
    for number, entry, data, _ in entries:
        if not is_wiped(data):
            continue
        # An invite names nobody by id: any deletion may have been its person's.
        is_invite = entry["type"].startswith("invite.")
        told = deleted.get(entry["user"], "") if entry["user"] else max(deleted.values(), default="") if is_invite else ""
        is_told = told >= entry["timestamp"] or (is_cut and (entry["user"] or is_invite))
        check(is_told, f"line {number}: wiped, and nobody was deleted later")
        notes.append(f"line {number}: erased, with a person who was deleted")
    return len(entries), notes


def is_wiped(part):
    return part.startswith('{"digest":')


def check_imported(stated, entries):
    """What is to be known of the parts that came from another deployment."""
    hashes = {entry["sequence"]: (number, said) for number, entry, _, said in entries}
    for _, entry, data, _ in entries:
        if entry["type"] == "org.imported" and not is_wiped(data):
            told = json.loads(data)["part"]
            if all(name in told for name in ("entries", "lastSequence", "head")):
                part = {name: told[name] for name in ("entries", "lastSequence", "head")}
                is_stated = part in stated or part["lastSequence"] < entries[0][1]["sequence"]
                check(is_stated, "line 1: does not state every part that was imported")
    for part in stated:
        number, said = hashes.get(part["lastSequence"], (0, part["head"]))
        check(said == part["head"], f"line {number}: ends the imported part with another hash than was imported")
    return [f"the entries up to {part['lastSequence']} were imported: they are vouched for by their source only" for part in stated]


def main():
    try:
        with open(sys.argv[2], encoding="utf-8") as file:
            keys = usable(json.load(file))
        count, notes = verify(sys.argv[1], keys)
    except Tampered as why:
        print(why, file=sys.stderr)
        return 1
    except (NotVerified, OSError, ValueError, KeyError, IndexError, TypeError, AttributeError) as error:
        print(f"not verified: {error!r}", file=sys.stderr)
        return 2
    for note in notes:
        print(note, file=sys.stderr)
    print(f"{count} entries, whole and unchanged")
    return 0


if __name__ == "__main__":
    sys.exit(main())

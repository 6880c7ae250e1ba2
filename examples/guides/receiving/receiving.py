import base64, hashlib, hmac, http.server, json, os, time

KEY = base64.b64decode(os.environ["WEBHOOK_SECRET"].removeprefix("whs_"))
LARGEST = 1 << 20  # Bytes of a delivery.
SEEN = set()  # Yours is a table.


def is_genuine(headers, body):
    id, timestamp = headers.get("webhook-id", ""), headers.get("webhook-timestamp", "")
    is_number = timestamp.isascii() and timestamp.isdecimal() and len(timestamp) < 16
    if not is_number or abs(time.time() - int(timestamp)) > 300:
        return False
    signed = b".".join([id.encode(), timestamp.encode(), body])
    ours = b"v1," + base64.b64encode(hmac.new(KEY, signed, hashlib.sha256).digest())
    return any(hmac.compare_digest(ours, theirs.encode()) for theirs in headers.get("webhook-signature", "").split())


class Receiver(http.server.BaseHTTPRequestHandler):
    timeout = 30

    def do_POST(self):
        length = self.headers.get("content-length", "")
        if not (length.isascii() and length.isdecimal() and len(length) < 8 and int(length) <= LARGEST):
            return self.answer(413)
        body = self.rfile.read(int(length))
        if not is_genuine(self.headers, body):
            return self.answer(400)
        if self.headers["webhook-id"] not in SEEN:
            event = json.loads(body)
            print(event["type"], event["sequence"], flush=True)
            SEEN.add(self.headers["webhook-id"])  # In one transaction with the work: what fails comes again.
        self.answer(204)

    def answer(self, status):
        self.send_response(status)
        self.end_headers()

    def log_message(self, *_):
        pass


server = http.server.HTTPServer(("127.0.0.1", int(os.environ.get("PORT", "9000"))), Receiver)
print(f"http://127.0.0.1:{server.server_port}/", flush=True)
server.serve_forever()

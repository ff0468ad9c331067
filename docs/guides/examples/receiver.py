"""A webhook receiver: checks the signature, stores the event, answers 204, and works on the event afterwards.

    WEBHOOK_SECRET=whsec_... python3 receiver.py

Settings: WEBHOOK_SECRET (from the answer that created or rotated the subscription), PORT (default 9443), DATABASE
(default events.sqlite), TLS_CERT and TLS_KEY (files in PEM; without them it speaks plain HTTP, for a proxy in front).
Needs Python 3.9 or later and no other package.
"""

import base64
import hashlib
import hmac
import json
import os
import sqlite3
import ssl
import threading
import time
import traceback
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

MAX_BODY = 1_048_576  # bytes; events are far smaller
TOLERANCE = 300  # seconds

SECRET = os.environ.get("WEBHOOK_SECRET", "")
DATABASE = os.environ.get("DATABASE", "events.sqlite")
waiting = threading.Event()


def verify(secret, headers, body):
    """Returns the event. Raises ValueError when the request is not from Tocsin, or is too old."""
    event_id, timestamp = headers.get("webhook-id", ""), headers.get("webhook-timestamp", "")
    if not event_id or not (timestamp.isascii() and timestamp.isdecimal()):
        raise ValueError("a webhook header is missing or malformed")
    if abs(time.time() - int(timestamp)) > TOLERANCE:
        raise ValueError("the timestamp is too old, or in the future")
    # The key is the whole secret, as text.
    signed = f"{event_id}.{timestamp}.".encode() + body
    digest = hmac.new(secret.encode(), signed, hashlib.sha256).digest()
    expected = b"v1," + base64.b64encode(digest)
    # After a rotation there are two signatures; one that matches is enough.
    given = headers.get("webhook-signature", "").encode().split(b" ")
    if not any(hmac.compare_digest(expected, signature) for signature in given):
        raise ValueError("the signature does not match")
    event = json.loads(body)
    if event["id"] != event_id:
        raise ValueError("the header and the event have different IDs")
    return event


def connect():
    database = sqlite3.connect(DATABASE, timeout=5)
    database.execute("pragma synchronous = full")
    return database


def store(event_id, body):
    """A second delivery of the same event changes nothing. The commit is on the disk when this returns."""
    database = connect()
    try:
        with database:
            database.execute(
                "insert into events (id, body) values (?, ?) on conflict (id) do nothing", (event_id, body.decode())
            )
    finally:
        database.close()
    waiting.set()


def handle(event):
    """Your work. After a crash it may run again for the same event."""
    # Types that you do not know may come at any time: ignore them.
    if event["type"] == "incident.created":
        print(f"incident {event['resource']['reference']}", flush=True)


def handle_waiting():
    """Works on what is stored and not handled yet: after each delivery, and after a restart."""
    database = connect()
    while True:
        waiting.clear()
        for event_id, body in database.execute("select id, body from events where handled = 0 order by rowid").fetchall():
            try:
                handle(json.loads(body))
            except Exception:
                # The event stays. Whatever runs this process starts it again, and the work with it.
                traceback.print_exc()
                os._exit(1)
            with database:
                database.execute("update events set handled = 1 where id = ?", (event_id,))
        waiting.wait()


class Receiver(BaseHTTPRequestHandler):
    timeout = 10  # seconds; Tocsin hangs up after ten

    def do_POST(self):
        length = self.headers.get("Content-Length", "")
        if not length.isdecimal():
            return self.answer(411)
        if int(length) > MAX_BODY:
            return self.answer(413)
        # The exact bytes that were signed.
        body = self.rfile.read(int(length))
        try:
            event = verify(SECRET, self.headers, body)
        except ValueError:
            # Tocsin never tries again after this; it does after a 5xx.
            return self.answer(400)
        try:
            store(event["id"], body)
        except sqlite3.Error:
            return self.answer(500)
        self.answer(204)

    def answer(self, status):
        self.send_response(status)
        self.send_header("Connection", "close")
        self.end_headers()

    def log_message(self, *_):
        pass


def main():
    if not SECRET.startswith("whsec_"):
        raise SystemExit("WEBHOOK_SECRET must be the secret of the subscription")
    database = connect()
    with database:
        database.execute(
            "create table if not exists events"
            " (id text primary key, body text not null, handled integer not null default 0)"
        )
    database.close()
    port = int(os.environ.get("PORT", "9443"))
    server = ThreadingHTTPServer(("", port), Receiver)
    if "TLS_CERT" in os.environ and "TLS_KEY" in os.environ:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(os.environ["TLS_CERT"], os.environ["TLS_KEY"])
        # The handshake happens in the request's own thread, where it has a timeout and holds up nobody else.
        server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
    threading.Thread(target=handle_waiting, daemon=True).start()
    print(f"listening on port {port}", flush=True)
    server.serve_forever()


if __name__ == "__main__":
    main()

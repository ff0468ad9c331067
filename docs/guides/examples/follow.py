"""Follows the event feed: keeps the latest state of every active incident in a database, together with the cursor.

    TOCSIN_URL=http://localhost:8080 TOCSIN_TOKEN=tcs_... python3 follow.py

Settings: TOCSIN_URL, TOCSIN_TOKEN (with the scope incidents:read), DATABASE (default incidents.sqlite). Needs Python 3.9
or later and no other package.
"""

import http.client
import json
import os
import sqlite3
import sys
import time
from urllib.error import HTTPError
from urllib.parse import urlencode
from urllib.request import Request, urlopen

API = os.environ.get("TOCSIN_URL", "http://localhost:8080").rstrip("/") + "/api/v1"
TOKEN = os.environ.get("TOCSIN_TOKEN", "")
WAIT = 20  # seconds that the API waits for an event
TIMEOUT = 45
TYPES = "incident.created,incident.updated,incident.archived,incident.restored,incident.imported"


def get(path, **query):
    request = Request(f"{API}{path}?{urlencode(query)}", headers={"Authorization": f"Bearer {TOKEN}"})
    with urlopen(request, timeout=TIMEOUT) as response:
        return json.load(response)


def keep(database, incident):
    """An event may come twice, or after a newer one of the same incident: the larger revision wins."""
    database.execute(
        "insert into incidents (id, revision, body) values (?, ?, ?) on conflict (id) do update"
        " set revision = excluded.revision, body = excluded.body where excluded.revision > incidents.revision",
        (incident["id"], incident["revision"], json.dumps(incident)),
    )


def begin(database):
    """Takes a cursor, then reads the list: what changes in the meantime is behind the cursor."""
    position = get("/events", **{"from": "now"})["pagination"]["next_cursor"]
    with database:
        database.execute("delete from incidents")
        query = {"limit": 100}
        while query is not None:
            page = get("/incidents", **query)
            for incident in page["incidents"]:
                keep(database, incident)
            after = page["pagination"].get("next_cursor")
            query = None if after is None else {"limit": 100, "cursor": after}
        save(database, position)


def read(database, position):
    """One transaction for the events of a page and the cursor behind them: after a crash, nothing is missing or double."""
    page = get("/events", after=position, wait=WAIT, types=TYPES)
    with database:
        for event in page["events"]:
            incident = event["data"]["incident"]
            if event["type"] == "incident.archived":
                database.execute("delete from incidents where id = ?", (incident["id"],))
            else:
                keep(database, incident)
        save(database, page["pagination"]["next_cursor"])
    for event in page["events"]:
        print(event["type"], event["data"]["incident"]["reference"], flush=True)


def save(database, position):
    database.execute("insert or replace into feed (id, position) values (1, ?)", (position,))


def main():
    database = sqlite3.connect(os.environ.get("DATABASE", "incidents.sqlite"))
    database.execute("create table if not exists incidents (id integer primary key, revision integer, body text)")
    database.execute("create table if not exists feed (id integer primary key, position text)")
    failures = 0
    while True:
        stored = database.execute("select position from feed").fetchone()
        try:
            if stored is None:
                begin(database)
            else:
                read(database, stored[0])
            failures = 0
        except HTTPError as error:
            if error.code == 410:  # The feed no longer has the events behind the cursor.
                with database:
                    database.execute("delete from feed")
                continue
            if error.code < 500 and error.code not in (408, 429):
                sys.exit(f"{error.code}: {error.read().decode(errors='replace')}")
            failures += 1
            time.sleep(float(error.headers.get("Retry-After", min(2**failures, 30))))
        except (OSError, http.client.HTTPException, json.JSONDecodeError) as error:
            failures += 1
            print(f"trying again: {error}", file=sys.stderr)
            time.sleep(min(2**failures, 30))


if __name__ == "__main__":
    main()

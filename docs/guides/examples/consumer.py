"""Keeps a table of the incidents, from Tocsin's events on RabbitMQ: each event has its effect exactly once.

    AMQP_URL=amqp://billing:...@rabbitmq python3 consumer.py

Settings: AMQP_URL (a user that may use its own queues, see the guide), QUEUE (default billing.incidents), DATABASE
(default incidents.sqlite), TOCSIN_NAMESPACE (default tocsin), DELIVERIES (of a message that fails; default 10).
Needs Python 3.9 or later and pika 1.2 or later.
"""

import functools
import json
import os
import random
import signal
import sqlite3
import sys
import time
import traceback

import pika

QUEUE = os.environ.get("QUEUE", "billing.incidents")
DEAD = QUEUE + ".dead"  # the exchange and the queue of the dead letters
EXCHANGE = os.environ.get("TOCSIN_NAMESPACE", "tocsin") + ".events"
DELIVERIES = int(os.environ.get("DELIVERIES", "10"))
REMEMBERED = "-30 days"  # longer than you keep dead letters
stopping = False


def read(body):
    """Returns the event. Raises ValueError for what no later attempt can read."""
    event = json.loads(body)
    if not isinstance(event, dict) or not isinstance(event.get("id"), str):
        raise ValueError("it is not an event")
    if event.get("schema_version") != 1:
        raise ValueError("its schema_version is not known")
    return event


def handle(database, event):
    """Your work, in the transaction that also records the event. Other systems may see it twice, after a crash."""
    incident = event["data"]["incident"]
    # Events may overtake each other. Of two with the same revision both count.
    database.execute(
        "insert into incidents (id, revision, reference, title, archived) values (?, ?, ?, ?, ?)"
        " on conflict (id) do update set revision = excluded.revision, title = excluded.title,"
        " archived = excluded.archived where excluded.revision >= revision",
        (incident["id"], incident["revision"], incident["reference"], incident["title"], incident["archived_at"]),
    )
    print(event["type"], incident["reference"], flush=True)


def receive(database, connection, channel, method, properties, body):
    try:
        event = read(body)
    except ValueError as error:
        print(f"dead letter: {error}", file=sys.stderr, flush=True)
        return channel.basic_reject(method.delivery_tag, requeue=False)
    try:
        with database:
            known = database.execute("insert into handled (id) values (?) on conflict do nothing", (event["id"],))
            if known.rowcount == 1:
                handle(database, event)
    except sqlite3.OperationalError:
        raise  # The database is away: no event is to blame. Whatever runs this process starts it again.
    except Exception:
        traceback.print_exc()
        # Again, after a while; at the limit the broker makes it a dead letter. Others do not wait for it.
        count = (properties.headers or {}).get("x-delivery-count", 0)
        again = functools.partial(channel.basic_nack, method.delivery_tag, requeue=True)
        return connection.call_later(min(2**count, 60), again)
    channel.basic_ack(method.delivery_tag)


def declare(channel):
    channel.exchange_declare(DEAD, "direct", durable=True)
    channel.queue_declare(DEAD, durable=True, arguments={"x-queue-type": "quorum"})
    channel.queue_bind(DEAD, DEAD, "dead")
    arguments = {
        "x-queue-type": "quorum",
        "x-delivery-limit": DELIVERIES - 1,  # RabbitMQ counts the deliveries after the first.
        "x-dead-letter-exchange": DEAD,
        "x-dead-letter-routing-key": "dead",
        "x-dead-letter-strategy": "at-least-once",
        "x-overflow": "reject-publish",  # At-least-once demands it. Without a maximum length it has no effect.
    }
    channel.queue_declare(QUEUE, durable=True, arguments=arguments)
    channel.queue_bind(QUEUE, DEAD, "replay")
    channel.queue_bind(QUEUE, EXCHANGE, "incident.*")


def consume(database):
    """Returns when the process is to stop."""
    connection = pika.BlockingConnection(pika.URLParameters(os.environ["AMQP_URL"]))
    try:
        channel = connection.channel()
        declare(channel)
        channel.basic_qos(prefetch_count=20)
        print("consuming", flush=True)
        # Every second at the latest, to see whether to stop. Work of more than a minute needs a thread of its own.
        for method, properties, body in channel.consume(QUEUE, inactivity_timeout=1):
            if stopping:
                return
            if method is not None:
                receive(database, connection, channel, method, properties, body)
    finally:
        # What is not acknowledged returns to the queue.
        if connection.is_open:
            connection.close()


def stop(*_):
    global stopping
    stopping = True


def main():
    signal.signal(signal.SIGTERM, stop)
    signal.signal(signal.SIGINT, stop)
    database = sqlite3.connect(os.environ.get("DATABASE", "incidents.sqlite"))
    with database:
        database.execute("create table if not exists handled (id text primary key, at text default current_timestamp)")
        database.execute("delete from handled where at < datetime('now', ?)", (REMEMBERED,))
        database.execute(
            "create table if not exists incidents"
            " (id integer primary key, revision integer, reference text, title text, archived text)"
        )
    failures = 0
    while not stopping:
        started = time.monotonic()
        try:
            consume(database)
        except (pika.exceptions.AMQPError, OSError) as error:
            print(f"no connection: {error!r}", file=sys.stderr, flush=True)
            failures = 0 if time.monotonic() - started > 60 else failures + 1
            until = time.monotonic() + min(2**failures, 30) * random.uniform(0.5, 1)
            while not stopping and time.monotonic() < until:
                time.sleep(0.1)


if __name__ == "__main__":
    main()

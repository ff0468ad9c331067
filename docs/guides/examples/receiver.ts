/**
 * A webhook receiver: checks the signature, stores the event, answers 204, and works on the event afterwards.
 *
 *   npm install standardwebhooks
 *   WEBHOOK_SECRET=whsec_… node receiver.ts
 *
 * Settings: WEBHOOK_SECRET (from the answer that created or rotated the subscription), PORT (default 9443), DATABASE
 * (default events.sqlite), TLS_CERT and TLS_KEY (files in PEM; without them it speaks plain HTTP, for a proxy in front).
 * Needs Node 24 or later.
 */
import { readFileSync } from 'node:fs';
import { createServer as createHttpServer, type IncomingMessage, type RequestListener } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import { DatabaseSync } from 'node:sqlite';
import { Webhook } from 'standardwebhooks';

interface TocsinEvent {
  id: string;
  type: string;
  resource?: { reference: string };
}

const { WEBHOOK_SECRET = '', PORT = '9443', DATABASE = 'events.sqlite', TLS_CERT, TLS_KEY } = process.env;
if (!WEBHOOK_SECRET.startsWith('whsec_')) throw new Error('WEBHOOK_SECRET must be the secret of the subscription');

/** Bytes; events are far smaller. */
const MAX_BODY = 1_048_576;

// Tocsin signs with the whole secret, as text: `raw` keeps the library from decoding it as base64.
const webhook = new Webhook(WEBHOOK_SECRET, { format: 'raw' });

const database = new DatabaseSync(DATABASE, { timeout: 5_000 });
database.exec(`
  pragma synchronous = full;
  create table if not exists events (id text primary key, body text not null, handled integer not null default 0)`);
const insert = database.prepare('insert into events (id, body) values (?, ?) on conflict (id) do nothing');
const nextEvent = database.prepare('select id, body from events where handled = 0 order by rowid limit 1');
const markHandled = database.prepare('update events set handled = 1 where id = ?');

const listener: RequestListener = (request, response) => {
  receive(request).then(
    (status) => response.writeHead(status).end(),
    () => response.writeHead(500).end(),
  );
};

/** Answers the status: Tocsin tries again after 5xx, and never again after another 4xx. */
async function receive(request: IncomingMessage): Promise<number> {
  if (request.method !== 'POST') return 405;
  const body = await readBody(request);
  if (body === undefined) return 413;
  let event: TocsinEvent;
  try {
    // Also refuses a timestamp that is more than five minutes away from this machine's clock.
    event = webhook.verify(body, request.headers as Record<string, string>) as TocsinEvent;
  } catch {
    return 400;
  }
  if (event.id !== request.headers['webhook-id']) return 400;
  // A second delivery of the same event changes nothing. The commit is on the disk when this returns.
  insert.run(event.id, body.toString());
  setImmediate(handleWaiting);
  return 204;
}

/** The exact bytes that were signed; `undefined` when there are too many. */
async function readBody(request: IncomingMessage): Promise<Buffer | undefined> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > MAX_BODY) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/**
 * Works on what is stored and not handled yet: after each delivery, and after a restart. An error ends the process; the
 * event stays, and whatever runs this process starts it again, and the work with it.
 */
function handleWaiting(): void {
  for (let row = nextEvent.get(); row !== undefined; row = nextEvent.get()) {
    handle(JSON.parse(String(row['body'])) as TocsinEvent);
    markHandled.run(String(row['id']));
  }
}

/** Your work. After a crash it may run again for the same event. */
function handle(event: TocsinEvent): void {
  // Types that you do not know may come at any time: ignore them.
  if (event.type === 'incident.created') console.log(`incident ${event.resource?.reference ?? ''}`);
}

const server =
  TLS_CERT === undefined || TLS_KEY === undefined
    ? createHttpServer(listener)
    : createHttpsServer({ cert: readFileSync(TLS_CERT), key: readFileSync(TLS_KEY) }, listener);
// Tocsin hangs up after ten seconds.
server.requestTimeout = 10_000;
handleWaiting();
server.listen(Number(PORT), () => console.log(`listening on port ${PORT}`));

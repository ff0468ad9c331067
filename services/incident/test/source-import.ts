import { createLogger, type Environment } from '@tocsin/runtime';
import type { Resolve } from '@tocsin/safe-http';
import { type Answer, behave, type Client, type Receiver, testClock } from '@tocsin/testing';
import type { Parts } from '../src/app.ts';
import { newIncidentReply } from '../src/http/wire.ts';
import { RecordingBroker } from './fakes/recording-broker.ts';
import { startService, type TestService } from './service.ts';

/** The incident service beside a server of documents at `https://localhost:<port>`. */
export interface ImportingService extends TestService {
  published: RecordingBroker['published'];
  /** All log lines so far, as text. */
  logged(): string;
}

/** Names that lead somewhere else than the server of documents. */
const ADDRESSES: Record<string, readonly string[]> = {
  'private.example': ['10.0.0.1'],
  'mixed.example': ['8.8.8.8', '10.0.0.1'],
};

const resolve: Resolve = async (name) => {
  if (name === 'localhost') return ['127.0.0.1'];
  const addresses = ADDRESSES[name];
  if (addresses === undefined) throw Object.assign(new Error('no such name'), { code: 'ENOTFOUND' });
  return addresses;
};

/** @param receivers trusted by their certificates, and let through on loopback */
export async function startImporting(
  receivers: readonly Receiver[],
  parts: Partial<Parts> = {},
  settings: Environment = {},
): Promise<ImportingService> {
  const broker = new RecordingBroker();
  const lines: string[] = [];
  const log = createLogger({ app: 'incident', level: 'info', destination: { write: (line) => void lines.push(line) } });
  const service = await startService(
    { broker, log, resolve, clock: testClock(), ca: receivers.map(({ ca }) => ca).join('\n'), ...parts },
    { WEBHOOK_TEST_RECEIVERS: receivers.map((receiver) => receiver.hostAndPort()).join(','), ...settings },
  );
  return { ...service, published: broker.published, logged: () => lines.join('') };
}

export const AT = '2026-11-20T10:00:00.000Z';

/** Hands a document out. */
export const document = (text: string, type = 'application/json') => behave.answer(200, { 'Content-Type': type }, text);

export const jsonDocument = (...events: unknown[]) => document(JSON.stringify({ events }));

export const oneEvent = jsonDocument({ at: AT, body: 'Down' });

/** Declares an incident with an import, which must succeed as a create whatever becomes of the import. */
export async function declareFrom(
  client: Client,
  url: string,
  headers: Record<string, string> = {},
): Promise<Answer & { path: string }> {
  const body = { title: 'Checkout is down', doc_url: url, import_source_timeline_event: true };
  const answer = await client.post('/api/v1/incidents', body, headers);
  if (answer.status !== 201) throw new Error(`declaring answered ${answer.status}: ${answer.text}`);
  newIncidentReply.parse(answer.body);
  return { ...answer, path: `/api/v1/incidents/${answer.body.incident.id}` };
}

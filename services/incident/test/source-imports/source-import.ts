import { createLogger, type Environment } from '@tocsin/runtime';
import type { Resolve } from '@tocsin/safe-http';
import { type Answer, behave, type Client, type Receiver, testClock } from '@tocsin/testing';
import type { Overrides } from '../../src/app.ts';
import { newIncidentReply } from '../../src/creation/http/wire.ts';
import { RecordingBroker } from '../fakes/recording-broker.ts';
import { startService, type TestService } from '../service.ts';

/** The incident service with a document server at `https://localhost:<port>`. */
export interface ImportingService extends TestService {
  published: RecordingBroker['published'];
  /** All log lines so far, as text. */
  logged(): string;
}

/** Host names with other addresses than the document server's. */
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

/** @param receivers document servers to trust and to allow on loopback */
export async function startImporting(
  receivers: readonly Receiver[],
  overrides: Partial<Overrides> = {},
  settings: Environment = {},
): Promise<ImportingService> {
  const broker = new RecordingBroker();
  const lines: string[] = [];
  const log = createLogger({ app: 'incident', level: 'info', destination: { write: (line) => void lines.push(line) } });
  const service = await startService(
    { broker, log, resolve, clock: testClock(), ca: receivers.map(({ ca }) => ca).join('\n'), ...overrides },
    { WEBHOOK_TEST_RECEIVERS: receivers.map((receiver) => receiver.hostAndPort()).join(','), ...settings },
  );
  return { ...service, published: broker.published, logged: () => lines.join('') };
}

export const AT = '2026-11-20T10:00:00.000Z';

/** A response with a document. */
export const document = (text: string, type = 'application/json') => behave.answer(200, { 'Content-Type': type }, text);

export const jsonDocument = (...events: unknown[]) => document(JSON.stringify({ events }));

export const oneEvent = jsonDocument({ at: AT, body: 'Down' });

/** Creates an incident with an import; the create must succeed even if the import fails. */
export async function declareFrom(
  client: Client,
  url: string,
  headers: Record<string, string> = {},
): Promise<Answer & { path: string }> {
  const body = { title: 'Checkout is down', doc_url: url, import_source_timeline_event: true };
  const answer = await client.post('/api/v1/incidents', body, headers);
  if (answer.status !== 201) throw new Error(`create returned ${answer.status}: ${answer.text}`);
  newIncidentReply.parse(answer.body);
  return { ...answer, path: `/api/v1/incidents/${answer.body.incident.id}` };
}

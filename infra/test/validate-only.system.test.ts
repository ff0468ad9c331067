import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { type Answer, type Client, eventually } from '@tocsin/testing';
import pg from 'pg';
import type { ApiDescription, ApiSchema } from '../../gateway/src/description.ts';
import { APP_NAMES, APPS } from '../apps.ts';
import { CONTRACTS } from './contract-schemas.ts';
import { type Example, examplesOf, sendExample } from './examples.ts';
import { type SampleWorkspace, startSampleWorkspace } from './sample-workspace.ts';

/** Tables that change at their own times: counts of storage, limits of requests to receivers, refreshed replicas. */
const CHANGING = [
  'incident.workspace_storage',
  'incident.key_storage',
  'incident.replica_versions',
  'catalog.replica_versions',
  'webhook.windows',
  'webhook.slots',
  // The task that checks the epoch of the feed.
  'webhook.feed_epoch',
];

let sample: SampleWorkspace;
let sql: pg.Client;
let description: ApiDescription;
let writes: Example[];
/** With a key that may only read. */
let reader: Client;
let tables: string[];

beforeAll(async () => {
  sample = await startSampleWorkspace();
  sql = new pg.Client({ connectionString: sample.env['DATABASE_URL'] });
  await sql.connect();
  tables = await listTables();
  await sample.startReceiver();
  await sample.connectSlack();
  description = (await sample.client.get('/api/v1/openapi.json')).body as ApiDescription;
  writes = examplesOf(description).filter(({ method }) => method !== 'get');
});
afterAll(async () => {
  await sql.end();
  await sample.stop();
});

const listTables = async (): Promise<string[]> => {
  const { rows } = await sql.query<{ name: string }>(
    `select table_schema || '.' || table_name as name from information_schema.tables
     where table_schema = any($1) and table_type = 'BASE TABLE' order by 1`,
    [APP_NAMES.map((app) => APPS[app].schema.name)],
  );
  return rows.map(({ name }) => name).filter((name) => !CHANGING.includes(name));
};

/** The number of the rows of each table, and a digest of them. */
async function stored(): Promise<Record<string, string>> {
  const digests = tables.map((name) => {
    const table = name
      .split('.')
      .map((part) => pg.escapeIdentifier(part))
      .join('.');
    return `select '${name}' as name, count(*) || ' ' || md5(coalesce(string_agg(row, '' order by row), '')) as digest
      from (select md5(${ownColumns(name)}) as row from ${table} as stored) as digests`;
  });
  const { rows } = await sql.query<{ name: string; digest: string }>(digests.join(' union all '));
  return Object.fromEntries(rows.map(({ name, digest }) => [name, digest]));
}

/** Each request with a key stores when the key was last used. */
const ownColumns = (table: string) =>
  table.endsWith('.api_keys') ? "(to_jsonb(stored) - 'last_used_at')::text" : 'stored::text';

/** Returns a function that closes the gaps in the sequences since this call: examples name the IDs of what earlier ones made. */
async function withoutGaps(): Promise<() => Promise<void>> {
  const { rows } = await sql.query<{ sequence: string; last: string | null }>(
    `select format('%I.%I', schemaname, sequencename) as sequence, last_value as last from pg_sequences
     where schemaname = any($1)`,
    [APP_NAMES.map((app) => APPS[app].schema.name)],
  );
  return async () => {
    for (const { sequence, last } of rows) {
      await sql.query('select setval($1::regclass, $2, $3)', [sequence, last ?? 1, last !== null]);
    }
  };
}

/** Waits until all work that earlier requests have left is done. */
const settled = async () =>
  eventually(
    async () => {
      const outboxes = tables.filter((name) => name.endsWith('.outbox')).map((name) => `select 1 from ${name}`);
      const { rows } = await sql.query(
        [
          ...outboxes,
          "select 1 from webhook.deliveries where status = 'queued'",
          "select 1 from incident.provisioning_steps where status in ('pending', 'running')",
        ].join(' union all '),
      );
      return rows.length === 0;
    },
    { what: 'the end of all background work' },
  );

const validating = <Sent extends Pick<Example, 'path'>>(request: Sent): Sent => ({
  ...request,
  path: `${request.path}${request.path.includes('?') ? '&' : '?'}validate_only=true`,
});

/** The body, with null where the contract says that only the write assigns something, and without times of the test. */
function comparable({ text, body }: Answer, assigned: readonly string[] = []): unknown {
  if (text === '') return undefined;
  const copy = JSON.parse(text, (name, value: unknown) =>
    (typeof value === 'string' && isRecent(value)) || name === 'duration_seconds' ? 'now' : value,
  ) as Record<string, unknown>;
  for (const path of assigned) {
    // The items of a list that have a property: `results[outcome=created].incident_id`.
    const [, list = '', name = '', value, own = ''] = /^(\w+)\[(\w+)=(\w+)\]\.(\w+)$/.exec(path) ?? [];
    for (const item of (copy[list] ?? []) as Record<string, unknown>[]) if (item[name] === value) item[own] = null;
    const parts = path.split('.');
    const last = parts.pop() ?? '';
    const parent = parts.reduce<unknown>((value, part) => (value as Record<string, unknown> | undefined)?.[part], copy);
    if (parent !== undefined && Object.hasOwn(parent as object, last)) (parent as Record<string, unknown>)[last] = null;
  }
  expect(body).toBeDefined();
  return copy;
}

const began = Date.now();
const isRecent = (text: string) => /^\d{4}-\d\d-\d\dT[\d:.]+Z$/.test(text) && Date.parse(text) >= began;

describe('validate_only', () => {
  test('is a parameter of every write, and of nothing else', () => {
    const names = ({ operation }: Example) => (operation.parameters ?? []).map(({ name }) => name);
    const all = examplesOf(description);
    expect(all.filter((each) => names(each).includes('validate_only')).map(({ id }) => id)).toEqual(
      all.filter(({ method }) => method !== 'get').map(({ id }) => id),
    );
    expect(writes.map(({ id }) => id).sort()).toEqual(
      Object.keys(CONTRACTS)
        .filter((id) => CONTRACTS[id]?.method !== 'get')
        .sort(),
    );
  });

  test('gives the response of each documented write, and changes nothing', async () => {
    const wrong: unknown[] = [];
    for (const write of writes) {
      if (write.id === 'revokeSession') await sample.signIn();
      await settled();
      const before = await stored();
      const closeGaps = await withoutGaps();
      const dry = await sendExample(sample.client, validating(write));
      await closeGaps();
      const after = await stored();
      const changed = Object.keys(before).filter((name) => before[name] !== after[name]);
      if (changed.length > 0) wrong.push({ id: write.id, changed });
      const real = await sendExample(sample.client, write);
      const { reply } = CONTRACTS[write.id]!;
      const outcome = ({ status, headers }: Answer) => [status, headers.get('Service-Resource-Version')];
      expect([write.id, outcome(dry), comparable(dry)]).toEqual([
        write.id,
        outcome(real),
        comparable(real, reply.assigned),
      ]);
      expect([dry.headers.get('Validated-Only'), real.headers.get('Validated-Only')]).toEqual(['true', null]);
      expect(real.status).toBe(write.success);
    }
    expect(wrong).toEqual([]);
  });

  test('refuses what the write refuses, byte for byte', async () => {
    // Not earlier: the examples name the keys that they create by their IDs.
    const key = ['--workspace', 'acme', '--user', 'demo@acme.example', '--name', 'reader', '--scope', 'incidents:read'];
    const { token } = await sample.admin('key', 'create', ...key);
    reader = sample.client.with({ Authorization: `Bearer ${token}` });
    await settled();
    const before = await stored();
    let compared = 0;
    for (const write of writes) {
      for (const { what, client = sample.client, request, mustFail } of refusalsOf(write)) {
        const dry = await sendExample(client, validating(request));
        if (dry.status < 400 && !mustFail) continue;
        expect([write.id, what, dry.status]).toEqual([write.id, what, expect.any(Number)]);
        expect([write.id, what, dry.status >= 400]).toEqual([write.id, what, true]);
        const real = await sendExample(client, request);
        expect([write.id, what, refusal(dry)]).toEqual([write.id, what, refusal(real)]);
        compared += 1;
      }
    }
    expect(compared).toBeGreaterThan(4 * writes.length);
    expect(await stored()).toEqual(before);
  });

  test.each(['', '1', 'TRUE', 'yes'])('with the value "%s" is refused', async (value) => {
    for (const write of writes) {
      const { status, body } = await sendExample(sample.client, {
        ...write,
        path: `${write.path}?validate_only=${value}`,
      });
      expect([write.id, status, body.field]).toEqual([write.id, 400, 'validate_only']);
    }
  });

  test('is unknown to reads', async () => {
    const { status, body } = await sample.client.get('/api/v1/incidents?validate_only=true');
    expect([status, body.field]).toEqual([400, 'validate_only']);
  });
});

interface Refusal {
  what: string;
  client?: Client;
  request: Pick<Example, 'method' | 'path' | 'headers' | 'body'>;
  /** Whether every write refuses it. */
  mustFail: boolean;
}

const REVISION = 'If-Service-Resource-Version';
const UNKNOWN_ID = 987_654_321;

/** Requests that the write refuses, or may refuse. */
function refusalsOf(write: Example): Refusal[] {
  const { method, path, headers, body, operation } = write;
  const request = { method, path, headers, body };
  const object = (body ?? {}) as Record<string, unknown>;
  const parameters = (operation.parameters ?? []).map(({ name }) => name);
  const refusals: Refusal[] = [
    { what: 'an unknown property', request: { ...request, body: { ...object, unexpected: 1 } }, mustFail: true },
    { what: 'a body that is no object', request: { ...request, body: '[]' }, mustFail: true },
    { what: 'a key without the scope', client: reader, request, mustFail: true },
    { what: 'the same again', request, mustFail: false },
  ];
  if (parameters.includes(REVISION)) {
    const stale = { ...headers, [REVISION]: '999999' };
    refusals.push({ what: 'no revision', request: { ...request, headers: {} }, mustFail: true });
    refusals.push({ what: 'another revision', request: { ...request, headers: stale }, mustFail: true });
  }
  if (parameters.includes('Idempotency-Key')) {
    const malformed = { ...headers, 'Idempotency-Key': 'a b' };
    refusals.push({ what: 'a malformed key', request: { ...request, headers: malformed }, mustFail: true });
  }
  const [, id] = /\/(\d+)(?:\/|$)/.exec(path.replace('/api/v1', '')) ?? [];
  if (id !== undefined) {
    const other = path.replace(`/${id}`, `/${UNKNOWN_ID}`);
    refusals.push({ what: 'another resource', request: { ...request, path: other }, mustFail: false });
  }
  for (const name of idsIn(operation.requestBody?.content['application/json']?.schema)) {
    const referring = { ...object, [name]: UNKNOWN_ID };
    refusals.push({ what: `an unknown ${name}`, request: { ...request, body: referring }, mustFail: false });
  }
  return refusals;
}

/** The properties of a request that are IDs of other resources. */
function idsIn(schema: ApiSchema | undefined): string[] {
  const target = schema?.$ref?.replace('#/components/schemas/', '');
  const properties = (target === undefined ? schema : description.components?.schemas?.[target])?.properties ?? {};
  return Object.entries(properties)
    .filter(([name, { type }]) => name.endsWith('_id') && [type].flat().includes('integer'))
    .map(([name]) => name);
}

/** Without what differs between two requests. */
function refusal({ status, headers, text }: Answer) {
  const { request_id: requestId, ...body } = JSON.parse(text) as Record<string, unknown>;
  expect(requestId).toEqual(expect.any(String));
  return {
    status,
    body: JSON.stringify(body),
    headers: ['Content-Type', 'Allow', 'Validated-Only'].map((name) => headers.get(name)),
  };
}

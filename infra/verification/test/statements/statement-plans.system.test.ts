import { createHmac, randomBytes } from 'node:crypto';
import { glob, readFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { type Envelope, exchangeName } from '@tocsin/schemas';
import { sweepIdempotencyKeys } from '@tocsin/http';
import { sweepInbox } from '@tocsin/messaging';
import { type Knex, openDatabase } from '@tocsin/postgres';
import {
  behave,
  type Client,
  eventually,
  type FakeSlack,
  ONE_PIXEL,
  type Receiver,
  startReceiver,
  startSlack,
  TEST_SECRET_KEYS,
  testServers,
} from '@tocsin/testing';
import { describeWithServers } from '@tocsin/testing/suites';
import { connect } from 'amqplib';
import pg from 'pg';
import { administration } from '../../../../gateway/src/administration.ts';
import type { ApiOperation } from '../../../../gateway/src/description.ts';
import { auditStore } from '../../../../gateway/src/audit/store/audit-store.ts';
import { deleteExpiredOAuth } from '../../../../gateway/src/oauth/store/oauth-store.ts';
import { addSubscription } from '../../../../services/webhook/src/administration.ts';
import { alertStore, sweepAlerts } from '../../../../services/incident/src/alerts/store/alert-store.ts';
import { storageStore } from '../../../../services/incident/src/storage/store/storage-store.ts';
import { forgetActivity } from '../../../../services/webhook/src/subscriptions/store/activity-store.ts';
import { expiryStore } from '../../../../services/webhook/src/deliveries/store/expiry-store.ts';
import { feedReader } from '../../../../services/webhook/src/feed/store/feed-reader.ts';
import { recentEventsReader } from '../../../../services/webhook/src/feed/store/recent-events-reader.ts';
import { deleteRecordedBefore } from '../../../../services/webhook/src/feed/store/feed-trimmer.ts';
import { limitStore } from '../../../../services/webhook/src/requests/store/limit-store.ts';
import { forgetExpiredSecrets } from '../../../../services/webhook/src/subscriptions/store/secret-store.ts';
import { forgetRevoked } from '../../../../services/webhook/src/subscriptions/store/subscription-store.ts';
import { workspaceApi } from '../../../demo/api.ts';
import { addSampleData } from '../../../demo/sample-data.ts';
import { SAMPLE_WEBHOOK } from '../../../demo/sample-webhook.ts';
import { APP_NAMES, APPS } from '../../../installation/apps.ts';
import { recordStatements, type Statement } from '../../statements/record-statements.ts';
import { ROOT } from '../../../installation/environment.ts';
import { EXAMPLES } from '../../../generate/event-examples.ts';
import { fillTables } from '../../statements/fill-tables.ts';
import { countCustomPlans, fullScans } from '../../statements/plans.ts';
import { executeRareStatements } from './rare-statements.ts';
import { unnamedWorkspaces } from '../../statements/unnamed-workspaces.ts';
import { workspaceTables } from './workspace-tables.ts';
import { readCatalog } from '../../compat/schema-catalog.ts';
import { type Example, FILE_HEADERS, sendExamples } from '../../systems/examples.ts';
import { startSystem, type System } from '../../systems/system.ts';

const SCHEMAS = APP_NAMES.map((app) => APPS[app].schema.name);
const COPIES = 500;
/** Statements take a thousand of these at once, which must not be a good part of them. */
const TAKEN_IN_BATCHES = 'webhook.deliveries';

/** Full scans that are allowed, and why. */
const ALLOWED: { statement: RegExp; reads: string; reason: string }[] = [
  {
    statement: /^(select .* from slots where lease_until > coalesce\(.*|delete from slots where lease_until <= \$1)$/,
    reads: 'slots',
    reason: 'it holds the requests under way alone, and the limits keep these few',
  },
  {
    statement: /^\s*with recursive moment as .* exhausted as materialized \(/s,
    reads: 'slots',
    reason: 'claims read the requests under way once, and the limits keep these few',
  },
  {
    statement:
      /from destinations d\s+join feed_workspaces w [^]* all\(\(select \$2::text\[\]\)::text\[\]\) *\s*\), free as |^select distinct workspace_id as id from destinations /,
    reads: 'destinations by destinations_sent_to',
    reason: 'every minute, all destinations in use are looked at: a few of each workspace',
  },
  {
    statement: /^select [^]* from incidents where update_reminder is not null and /,
    reads: 'incidents by incidents_with_a_reminder',
    reason: 'this index has the promised updates alone that nobody has published',
  },
  {
    statement: /^update chat_connections set socket_holder = \$1/,
    reads: 'chat_connections by chat_connections_sockets',
    reason: 'every twenty seconds, the connections with commands are looked at: one of a workspace',
  },
  {
    statement: /^with due as \(\s*select workspace_id, team_id, due_at,[^]*from on_call_sources where due_at <= \$1/,
    reads: 'on_call_sources',
    reason: 'every row is due here; the index of due_at serves otherwise',
  },
  {
    statement: /select min\(greatest\(t\.due_at, k\.due_at\)\) as due\s+from trackers t/,
    reads: 'trackers by trackers_asked',
    reason: 'the first due ticket is looked for in all trackers in use: a few of each workspace',
  },
  {
    statement: /with due as \(\s+select t\.workspace_id, k\.follow_up_id, /,
    reads: 'trackers by trackers_by_name',
    reason: 'a claim of tickets looks at all trackers in use, too',
  },
  {
    statement: /with due as \(\s+select t\.workspace_id, k\.follow_up_id, /,
    reads: 'follow_up_tickets',
    reason: 'nearly every ticket is due here; the index of due_at serves otherwise',
  },
  {
    statement:
      /^select status, count\(id\) as length from deliveries where status in \('queued', 'held'\) group by status$/,
    reads: 'deliveries by deliveries_waiting',
    reason: 'a metric counts what waits, which is bounded for each workspace',
  },
  {
    statement: /^delete from windows where minute < \$1$/,
    reads: 'windows',
    reason:
      'every row is expired here, and it deletes them all; the primary key, which begins with the minute, serves otherwise',
  },
  {
    statement: /^delete from login_links where expires_at <= \$1$/,
    reads: 'login_links',
    reason: 'nearly every row is expired here, and it deletes them; the index of expires_at serves otherwise',
  },
  {
    statement: /^delete from oauth_tokens where \(workspace_id, digest\) in \(/,
    reads: 'oauth_tokens',
    reason: 'a batch is a good part of the rows here; the primary key serves otherwise',
  },
  {
    statement: /^delete from "replica_versions" where "owner" = \$1$/,
    reads: 'replica_versions',
    reason: 'a migration has all replicas read again, once',
  },
  {
    statement: /^update alert_heartbeats set due_at = due_at \+ greatest\(/,
    reads: 'alert_heartbeats',
    reason: 'it moves all heartbeats, once after the system was silent',
  },
  {
    statement: /from dead_letters(?: as one)?\s+where body like /,
    reads: 'dead_letters',
    reason: 'only an instance without RabbitMQ keeps dead letters, and a person is erased once',
  },
];

/** Statements that work for the whole installation, and so name no workspace. */
const OF_ALL_WORKSPACES: { statement: RegExp; reason: string }[] = [
  {
    statement: /^select .* from deleted_incidents where due_at <= now\(\) order by due_at limit 1$/,
    reason: 'events of deleted incidents are emptied, those first that are due first',
  },
  {
    statement: /^select .* from erasures where completed_at is null order by requested_at limit 1$/,
    reason: 'the worker of erasures takes that which was requested first',
  },
  {
    statement: /^with recursive moment as .* queues as \( \(select workspace_id, subscription_id from deliveries /,
    reason: 'a claim of deliveries goes from workspace to workspace',
  },
  {
    statement:
      /^with due as materialized \( select workspace_id, id from deliveries where status = 'queued' and is_postponed/,
    reason: 'before a claim, deliveries of all workspaces that are due go back into their queues',
  },
  {
    statement: /^select \(select min\(due_at\) from deliveries where status = 'queued'\) as due,/,
    reason: 'the dispatcher waits until the next delivery of any workspace is due',
  },
  {
    statement: /^select 1 from \( \(select deadline_at as time from deliveries |^with failed as \( update deliveries /,
    reason: 'the sweep of deliveries that have expired',
  },
  {
    statement:
      /^delete from (?:secrets where expires_at|activity where ended_at|login_links where expires_at) <=? \$1$/,
    reason: 'the sweep of what has expired by its time',
  },
  {
    statement:
      /^delete from (?:events|subscriptions|destinations) where \(workspace_id, id\) in \( ?select workspace_id, id from .* limit 1000\) returning id$/,
    reason: 'the sweep of events, revoked webhooks and archived destinations past their retention, a batch at a time',
  },
  {
    statement:
      /^with moment as .* from destinations d join feed_workspaces w .* all\(\(select \$2::text\[\]\)::text\[\]\) (?:and d\.workspace_id = any\(\(select \$5::bigint\[\]\)::bigint\[\]\) )?\), free as |^select distinct workspace_id as id from destinations /,
    reason: 'a claim of destinations goes from workspace to workspace',
  },
  {
    statement: /^with due as \( select workspace_id, team_id, due_at, .* from on_call_sources /,
    reason: 'who is on call is read for all workspaces in turn',
  },
  {
    statement:
      /^delete from oauth_(?:tokens|clients) where \(workspace_id, (?:digest|id)\) in \( ?select .* limit 1000\)/,
    reason: 'the sweep of OAuth clients and tokens, a batch at a time',
  },
  {
    statement: /^delete from idempotency_keys where \(workspace_id, user_id, route, key\) in \(/,
    reason: 'the sweep of idempotency keys',
  },
  {
    statement:
      /^delete from pictures where \(workspace_id, id\) in \( select workspace_id, id from pictures where unused_since < /,
    reason: 'the sweep of pictures that no event has had for a day, a batch at a time',
  },
  {
    statement:
      /^select workspace_id, position from feed_events where recorded_at < \$1 order by recorded_at limit 1000$/,
    reason: 'the sweep of the feed finds what is past its retention',
  },
  {
    statement: /^select workspace_id as "workspaceId", resource, position from feed_restrictions order by /,
    reason: 'events are hidden for one incident after the other, of whatever workspace',
  },
  {
    statement:
      /^select max\(recorded_at\) as latest from feed_events$|^select status, count\(id\) as length from deliveries where .* group by status$|^select count\(\*\) as count from (?:destinations|trackers) where /,
    reason: 'a metric of the installation',
  },
  {
    statement:
      /^select workspace_id as "workspaceId", revision, retention, set_by .* where workspace_id > \$1 order by /,
    reason: 'the sweep of retentions goes from workspace to workspace',
  },
  {
    statement: /^select now\(\) as now, changed\.workspace_id .* from workspace_versions where workspace_id > \$1 /,
    reason: 'versions of all workspaces are announced again',
  },
  {
    statement:
      /^select (?:key_id|url_key_id) as id from |^select workspace_id.* from (?:oidc_providers|chat_connections|on_call_sources|trackers) where (?:key_id is not null and )?\(key_id < \$1 or key_id > \$1\) /,
    reason: 'the rotation of encryption keys looks for rows of replaced keys',
  },
  {
    statement:
      /^delete from "alert_groups" where \("workspace_id", "id"\) in \(select "workspace_id", "id" from "alert_groups" where \w+ < now\(\) - interval '\d+ days' limit \$1\)$/,
    reason: 'the sweep of groups of alerts that nobody reports, a batch at a time',
  },
  {
    statement:
      /^select where \(select min\(due_at\) from alert_heartbeats\)|^select source\.sender, due\.\w+, .* from \( select [\w, ]+ from (?:alert_heartbeats where due_at|alert_groups where quiet_at) <= \$1 order by /,
    reason: 'what was not heard of in time is looked for in all workspaces at once',
  },
  {
    statement: /^select .* from incidents where update_reminder is not null and /,
    reason: 'updates that are due are looked for in all workspaces at once',
  },
  {
    statement: /^update (?:alert_heartbeats|alert_groups) set (due_at|quiet_at) = \1 \+ greatest\(/,
    reason: 'what has to be heard of moves in all workspaces when the system itself was silent',
  },
  {
    statement:
      /^select 1 from \(select due_at from workspace_storage |^select .* from workspace_storage where workspace_id = \( select workspace_id from workspace_storage where due_at <= now\(\) order by due_at, /,
    reason: 'the storage of one workspace after the other is measured, that which is due first',
  },
  {
    statement:
      /^select least\(\(select due_at from provisioning_steps |^with due as \( select distinct on \(workspace_id\) workspace_id, incident_id, .* limit \$2 \) update /,
    reason: 'a claim of chat channels takes the step that is due first of each workspace',
  },
  {
    statement:
      /^select min\(greatest\(t\.due_at, k\.due_at\)\) as due from trackers t |^with due as \( select t\.workspace_id, k\.follow_up_id, /,
    reason: 'a claim of tickets goes from tracker to tracker, of which each workspace has a few',
  },
  {
    statement: /^update chat_connections set socket_holder = \$1/,
    reason: 'a process takes the sockets that nobody holds, of whatever workspace',
  },
  {
    statement: /^select incident_id from provisionings where channel_name = \$1 and incident_id <> \$2 limit 1$/,
    reason: 'several workspaces may have the same chat, whose channels have unique names',
  },
  {
    statement:
      /^select workspace_id as "workspaceId", version from unannounced_configurations order by workspace_id limit \$1$/,
    reason: 'changed configurations of all workspaces are announced in turn',
  },
];

/** Statements of the incident service that find incidents whoever asks for it, and why. */
const OF_ALL_VIEWERS: { statement: RegExp; reason: string }[] = [
  {
    statement:
      /alert_incidents|as walk|walk join incidents|^select id, number from incidents where workspace_id = \$1 and id = any/,
    reason: 'an alert acts on its incident, whoever may see that',
  },
  {
    statement: /update_reminder is not null|set update_reminder = null/,
    reason: 'that an update is due is published with the mark of a restricted incident',
  },
  {
    statement: /^delete from incidents |as walked_rows|as key_0, created_by/,
    reason: 'what is deleted, and who is erased, is so in all incidents',
  },
  {
    statement: /status = any|severity = any|set ended_at = case/,
    reason: 'the configuration keeps what any incident has',
  },
  {
    statement:
      /incident_counters|number > \$2 and number > 0 order by number|event_count, last_event_at from incidents/,
    reason: 'numbers, bytes and summaries are kept right for all incidents',
  },
  {
    statement:
      /^select id from unnest\(\(select \$1::bigint\[\]\)\) as given \(id\) where exists \(select from incidents /,
    reason: 'whether the teams of callers matter does not depend on the caller',
  },
  {
    statement: /^select id from incidents where workspace_id = \$1 and id = \$2(?: for update)?$/,
    reason: 'other systems report on any incident, and nobody gets an answer',
  },
];

/** Lists with filters; and the slots after a time, which are few or all. */
const PLANNED_FOR_VALUES = /^(filtered-\d+|find-used-slots)$/;

/** Parameters of reads that no statement depends on: how long to wait, and what only writes have. */
const UNUSED = new Set(['wait', 'validate_only']);

/** Prepared statements of no table of a workspace that nothing here causes. */
const NOT_EXECUTED: ReadonlySet<string> = new Set([
  ...['count-outbox', 'confirm-feed', 'count-failing-destinations', 'count-failing-trackers'],
]);

/** The names that sources give prepared statements; `*` is a part that depends on a value. */
async function namesInSources(): Promise<string[]> {
  const files = await Array.fromAsync(glob('{gateway,services/*,shared/*}/src/**/*.ts', { cwd: ROOT }));
  const texts = await Promise.all(files.map(async (file) => readFile(path.join(ROOT, file), 'utf8')));
  const names = texts.flatMap((text) =>
    [...text.matchAll(/\bname: ['`]((?:[a-z\d-]|\$\{\w+\})+)['`],\s+text\b/g)].map(([, name = '']) =>
      name.replaceAll(/\$\{[^}]*\}/g, '*'),
    ),
  );
  return [...new Set(names)].sort();
}

/** `METHOD path` of every public operation. */
async function operations(): Promise<string[]> {
  const described = await Promise.all(
    APP_NAMES.map(async (service) => {
      const text = await readFile(path.join(ROOT, APPS[service].folder, 'openapi.json'), 'utf8');
      const { paths } = JSON.parse(text) as { paths: Record<string, Record<string, unknown>> };
      return Object.entries(paths).flatMap(([template, methods]) =>
        Object.keys(methods).map((method) => `${method.toUpperCase()} ${template}`),
      );
    }),
  );
  return described.flat().sort();
}

interface Call {
  /** The values of the placeholders in the path, in order. */
  ids?: readonly (number | string)[];
  query?: string;
  body?: unknown;
  headers?: Record<string, string>;
  /** Any successful status by default. */
  status?: number;
}

/** Calls operations, and records which ones, where, and with which parameters. */
function caller(client: Client, called: Set<string>, used: Set<string>) {
  const paths = new Map<string, string>();
  const call = async (operation: string, { ids = [], query = '', body, headers, status }: Call = {}) => {
    const [method = '', template = ''] = operation.split(' ');
    const left = [...ids];
    const path = template.replaceAll(/\{\w+\}/g, () => String(left.shift()));
    const url = `${path}${query}`;
    const send = {
      GET: async () => client.get(url, headers),
      DELETE: async () => client.delete(url, headers),
      PATCH: async () => client.patch(url, body, headers),
      PUT: async () => client.put(url, body, headers),
      POST: async () => client.post(url, body, headers),
    }[method];
    const answer = await send?.();
    const isAsExpected = status === undefined ? (answer?.status ?? 500) < 300 : answer?.status === status;
    if (!isAsExpected) throw new Error(`${method} ${url}: ${answer?.status} ${answer?.text}`);
    called.add(operation);
    paths.set(operation, path);
    for (const name of new URLSearchParams(query).keys()) used.add(`${operation} ${name}`);
    return answer?.body;
  };
  return { call, paths };
}

type Calling = ReturnType<typeof caller>['call'];

const at = (revision: number) => ({ 'If-Service-Resource-Version': String(revision) });
const keyed = (key: string) => ({ 'Idempotency-Key': key });
const parameters = (query: Record<string, string>) => `?${new URLSearchParams(query).toString()}`;

/** The values of a parameter to try: those that it lists, or one of the rows that the list has without it. */
function valuesOf({ name, schema }: Parameter, rows: readonly Record<string, unknown>[]): string[] {
  const { type, enum: values, format } = schema.items ?? schema;
  if (values !== undefined) return values.map(String);
  if (type === 'boolean') return ['true', 'false'];
  if (format === 'date-time') return ['2026-01-01T00:00:00Z'];
  const isText = (value: unknown): value is string | number =>
    typeof value === 'number' || (typeof value === 'string' && value !== '');
  const value = rows.map((row) => row[name]).find((each) => isText(each));
  return [String(value ?? (type === 'integer' ? 1 : 'x'))];
}

/** Reads with each parameter alone, and a second page. One that needs another parameter is refused, and used elsewhere. */
async function useParameters(client: Client, { template, path: read, operation }: Example, used: Set<string>) {
  if (queryOf(operation).length === 0) return;
  const [path, required] = read.split('?');
  const at = (query: Record<string, string>) =>
    `${path}${parameters({ ...Object.fromEntries(new URLSearchParams(required)), ...query })}`;
  const { status, text, body } = await client.get(read);
  // It has been deleted since.
  if (status === 404) return;
  if (status !== 200) throw new Error(`${read}: ${status} ${text}`);
  const rows = Object.values((body ?? {}) as object).find(Array.isArray) ?? [];
  for (const parameter of queryOf(operation)) {
    const { name } = parameter;
    const values = name === 'cursor' ? [await nextCursor(client, at)] : valuesOf(parameter, rows);
    for (const value of values.filter((each) => each !== undefined)) {
      const answer = await client.get(at({ [name]: value }));
      // What is not found was looked up.
      if ([200, 404].includes(answer.status)) used.add(`GET ${template} ${name}`);
      else if (answer.status !== 400) throw new Error(`${read} ${name}=${value}: ${answer.status} ${answer.text}`);
    }
  }
}

const nextCursor = async (client: Client, at: (query: Record<string, string>) => string): Promise<string | undefined> =>
  (await client.get(at({ limit: '1' }))).body.pagination?.next_cursor;

type Parameter = NonNullable<ApiOperation['parameters']>[number];

/** An export that goes on at a cursor has the same statements. */
function queryOf({ parameters: all = [] }: ApiOperation): Parameter[] {
  const isPaged = all.some(({ name }) => name === 'limit');
  return all
    .filter((parameter) => parameter.in === 'query' && !UNUSED.has(parameter.name))
    .filter(({ name }) => name !== 'cursor' || isPaged);
}

async function useCatalog(call: Calling, userIds: readonly [number, number]): Promise<number> {
  const make = async (name: string, more: object = {}) =>
    (await call('POST /api/v1/teams', { body: { name, external_id: `ext-${name}`, ...more }, headers: keyed(name) }))
      .team;
  const team = await make('Payments');
  await make('Other', { parent_team_id: team.id });
  await make('Third');
  const ids = [team.id];
  await call('PATCH /api/v1/teams/{id}', { ids, body: { description: 'x' }, headers: at(1) });
  for (const user_id of userIds) await call('POST /api/v1/teams/{id}/members', { ids, body: { user_id } });
  await call('GET /api/v1/teams/{id}/members', { ids });
  const ofUsers = userIds.map((id) => `user_id=${id}`).join('&');
  const memberships = 'GET /api/v1/team-memberships';
  const { pagination } = await call(memberships, { query: `?${ofUsers}&limit=1` });
  await call(memberships, { query: `?${ofUsers}&cursor=${pagination.next_cursor}` });
  for (const [name, tier] of Object.entries({ checkout: 't0', search: 't2', mail: 't2' })) {
    const body = { name, tier, owner_team_id: team.id, external_id: `ext-${name}` };
    const { service } = await call('POST /api/v1/services', { body, headers: keyed(name) });
    await call('PATCH /api/v1/services/{id}', {
      ids: [service.id],
      body: { tags: ['x'], external_id: name },
      headers: at(1),
    });
  }
  for (const q of ['check', 'checkout service']) await call('GET /api/v1/services', { query: parameters({ q }) });
  return team.id;
}

/** Somebody is on call all the time. */
const CALENDAR = [
  ...['BEGIN:VCALENDAR', 'BEGIN:VEVENT', 'UID:1', 'SUMMARY:Ana', 'DTSTART:20200101T000000Z', 'DTEND:20990101T000000Z'],
  ...['END:VEVENT', 'END:VCALENDAR', ''],
].join('\r\n');

async function useOnCall(call: Calling, url: string, teamId: number): Promise<void> {
  const ids = [teamId];
  const body = { kind: 'icalendar', url };
  await call('PUT /api/v1/teams/{id}/on-call', { ids, body });
  await call('DELETE /api/v1/teams/{id}/on-call', { ids });
  await call('PUT /api/v1/teams/{id}/on-call', { ids, body });
  await call('GET /api/v1/teams/{id}/on-call', { ids });
}

/** The sortable field types, with a value for each. */
const FIELDS = {
  string: 'Some text',
  number: 12,
  boolean: true,
  date: '2026-11-20',
  time: '09:30',
  datetime: '2026-11-20T09:30:00Z',
  select: 'a',
  multi_select: ['a', 'b'],
  monetary: { amount: 12, currency: 'EUR' },
} as const;

/** A text that Postgres cannot compress: lists read the rows that contain it by themselves. */
const LARGE_TEXT = randomBytes(4_990).toString('hex');

async function useFields(call: Calling): Promise<{ field_id: number; value: unknown }[]> {
  const values = [];
  for (const [type, value] of Object.entries(FIELDS)) {
    const config = type.endsWith('select') ? { config: { options: ['a', 'b'] } } : {};
    const body = {
      name: type,
      slug: type,
      field_type: type,
      show_on_creation: true,
      external_id: `ext-${type}`,
      ...config,
    };
    const { field } = await call('POST /api/v1/custom-fields', { body });
    values.push({ field_id: field.id, value });
    if (type !== 'number') continue;
    const ids = [field.id];
    await call('PATCH /api/v1/custom-fields/{id}', {
      ids,
      body: { description: 'x', external_id: 'ext' },
      headers: at(1),
    });
  }
  for (const name of ['large_1', 'large_2', 'large_3']) {
    const body = { name, field_type: 'json', default_value: LARGE_TEXT };
    const { field } = await call('POST /api/v1/custom-fields', { body });
    await call('GET /api/v1/custom-fields');
    // Otherwise it would be a value of every incident.
    await call('PATCH /api/v1/custom-fields/{id}', { ids: [field.id], body: { default_value: null }, headers: at(1) });
    values.push({ field_id: field.id, value: LARGE_TEXT.slice(0, 4_000) });
  }
  return values;
}

async function useGateway(call: Calling): Promise<number> {
  const users = '/api/v1/settings/users';
  const newUser = { email: 'ana@acme.example', name: 'Ana', role: 'owner' };
  const { user } = await call(`POST ${users}`, { body: newUser, headers: keyed('Ana') });
  const ids = [user.id];
  await call(`PATCH ${users}/{id}`, { ids, body: { role: 'member' }, headers: at(1) });
  await call(`PATCH ${users}/{id}`, { ids, body: { role: 'owner' }, headers: at(2) });
  await call(`PATCH ${users}/{id}`, { ids, body: { active: false }, headers: at(3) });
  await call(`PATCH ${users}/{id}`, { ids, body: { active: true }, headers: at(4) });
  for (const query of ['?q=ana', '?active=true&role=owner&seat=none']) await call(`GET ${users}`, { query });
  await call('GET /api/v1/idempotency-keys/{key}', { ids: ['Ana'] });

  const keys = '/api/v1/settings/api-keys';
  const newKey = { name: 'k', scopes: ['teams:read', 'teams:write'], user_id: user.id };
  const { api_key: key } = await call(`POST ${keys}`, { body: newKey, headers: keyed('key') });
  await call(`PATCH ${keys}/{id}`, { ids: [key.id], body: { scopes: ['teams:read'] }, headers: at(1) });
  const rotated = await call(`POST ${keys}/{id}/rotate`, { ids: [key.id], body: { overlap_hours: 1 } });
  await call(`POST ${keys}/{id}/revoke`, { ids: [rotated.api_key.id] });
  await call('POST /api/v1/settings/sessions/{id}/revoke', { ids: [key.id], status: 404 });

  const leaver = (await call(`POST ${users}`, { body: { email: 'old@acme.example', name: 'Old' } })).user.id;
  await call(`GET ${users}/{id}/data`, { ids: [leaver] });
  await call(`POST ${users}/{id}/erase`, { ids: [leaver], body: { confirmation: 'old@acme.example' } });
  const erasure = `GET ${users}/{id}/erasure`;
  await eventually(async () => (await call(erasure, { ids: [leaver] })).erasure.completed_at !== null, {
    what: 'the end of the erasure',
  });

  const log = 'GET /api/v1/settings/audit-log';
  await eventually(async () => (await call(log)).entries.length > 1, { what: 'entries of the audit log' });
  for (const query of ['?actor=operator', `?actor=${user.id}`]) await call(log, { query });
  return user.id;
}

const DELIVERIES = '/api/v1/settings/webhook-deliveries';

async function useWebhooks(call: Calling, url: string): Promise<void> {
  const base = '/api/v1/settings/webhooks';
  for (const round of ['first', 'second']) {
    const { webhook } = await call(`POST ${base}`, { body: { url: `${url}?${round}` } });
    const ids = [webhook.id];
    await call(`POST ${base}/{id}/verify`, { ids });
    await call(`POST ${base}/{id}/rotate-secret`, { ids });
    if (round === 'first') await call(`POST ${base}/{id}/revoke`, { ids });
  }
}

async function useFeed(call: Calling, incidentId: number): Promise<void> {
  const feed = 'GET /api/v1/events';
  const cursor = await eventually(
    async () => {
      const { events, pagination } = await call(feed, { query: '?from=beginning&limit=1&types=incident.updated' });
      return events.length > 0 && (pagination.next_cursor as string);
    },
    { what: 'an event in the feed' },
  );
  await call(feed);
  await call(feed, { query: parameters({ after: cursor }) });
  await call(feed, { query: parameters({ after: cursor, resource: `incident:${incidentId}` }) });
}

async function useIncidents(
  call: Calling,
  of: { teamId: number; userId: number; values: readonly { field_id: number; value: unknown }[]; documentUrl: string },
): Promise<number> {
  const { teamId, userId, values, documentUrl } = of;
  const create = 'POST /api/v1/incidents';
  const whole = {
    title: 'Down',
    service: 'checkout',
    regions: ['eu-west'],
    team_id: teamId,
    incident_manager: String(userId),
    custom_field_values: values,
  };
  const { incident } = await call(create, { body: whole, headers: keyed('whole') });
  await call(create, { body: whole, headers: keyed('whole') });
  await call(create, { body: { title: 'y', service: 'nothing-of-the-catalog' } });
  const ids = [incident.id];
  await call(create, { body: { title: 'z', doc_url: documentUrl, import_source_timeline_event: true } });
  await call(create, {
    body: { title: 'z', doc_url: documentUrl, import_source_timeline_event: true },
    headers: keyed('import'),
  });
  await call('GET /api/v1/incidents/{id}', { ids });
  const change = { status: 'monitoring', severity: 'sev1', team_id: null, incident_responders: [String(userId)] };
  await call('PATCH /api/v1/incidents/{id}', { ids, body: { title: 'Really down' }, headers: at(1) });
  await call('PATCH /api/v1/incidents/{id}', { ids, body: change, headers: at(2) });
  await call('POST /api/v1/incidents/{id}/resolve', { ids, body: { resolution_note: 'Done' } });
  await call('POST /api/v1/incidents/{id}/reopen', { ids });
  await call('POST /api/v1/incidents/{id}/close', { ids });
  await call('POST /api/v1/incidents/{id}/reopen', { ids });
  const items = [
    { id: incident.id, verb: 'close' },
    { id: incident.id, verb: 'reopen' },
    { id: incident.id + 1, revision: 9, changes: {} },
  ];
  await call('POST /api/v1/incidents/bulk', { body: { items }, headers: keyed('bulk') });
  const fields = '/api/v1/incidents/{id}/custom-fields';
  await call(`GET ${fields}`, { ids });
  const changed = values.slice(-3).map(({ field_id, value }) => ({ field_id, value: `${String(value)}x` }));
  await call(`PATCH ${fields}`, { ids, body: { values: [{ slug: 'number', value: 13 }, ...changed] } });
  await call(`DELETE ${fields}/{fieldId}`, { ids: [incident.id, values[0]?.field_id ?? 0] });
  await call(`PATCH ${fields}`, { ids, body: { values: values.slice(0, 1) } });
  await call('GET /api/v1/incidents/{id}/changelog', { ids });
  await usePostmortem(call, ids);
  await useTransfer(call);
  await useConfiguration(call);
  return incident.id;
}

async function usePostmortem(call: Calling, ids: number[]): Promise<void> {
  const postmortem = '/api/v1/incidents/{id}/postmortem';
  await call(`GET ${postmortem}`, { ids });
  await call(`POST ${postmortem}`, { ids, headers: keyed('postmortem') });
  await call(`PATCH ${postmortem}`, { ids, body: { state: 'in_review' }, headers: at(1) });
  await call(`PATCH ${postmortem}`, { ids, body: { sections: [] }, headers: at(2) });
  const { pagination } = await call(`GET ${postmortem}/revisions`, { ids, query: '?limit=1' });
  await call(`GET ${postmortem}/revisions`, { ids, query: parameters({ limit: '1', cursor: pagination.next_cursor }) });
  await call(`GET ${postmortem}/revisions/{revision}`, { ids: [...ids, 1] });
}

/** Imports an incident, changes it by an import, and exports. */
async function useTransfer(call: Calling): Promise<void> {
  const author = { name: 'Ana', email: 'ana@acme.example' };
  const event = { external_id: '1', type: 'note', body: LARGE_TEXT, started_at: '2024-03-02T18:20:00Z', author };
  const followUp = {
    external_id: '1',
    title: 'x',
    description: LARGE_TEXT,
    created_at: '2024-03-02T18:20:00Z',
    author,
  };
  const entry = {
    changed_at: '2024-03-02T18:20:00Z',
    actor: author,
    changes: [{ field: 'title', from: 'w', to: 'x' }],
  };
  const item = {
    external: { source: 'dispatch', id: '214' },
    ...{ title: 'x', status: 'open', severity: 'sev1', created_at: '2024-03-02T18:04:00Z', author },
    ...{ service: 'checkout', team: 'payments', values: { number: 1 }, timeline: [event], changelog: [entry] },
    follow_ups: [followUp],
    postmortem: {
      ...{
        state: 'draft',
        sections: [{ key: 'a', title: 'x', body: LARGE_TEXT }],
        created_at: entry.changed_at,
        author,
      },
      ...{ updated_at: entry.changed_at, updated_by: author },
    },
  };
  const operation = 'POST /api/v1/imports/incidents';
  await call(operation, { body: { incidents: [item] } });
  const changed = { title: 'y', service: 'mail', values: { number: null }, timeline: [{ ...event, body: 'y' }] };
  const rewritten = { postmortem: { ...item.postmortem, state: 'published' } };
  const relation = { type: 'duplicate_of', external: item.external, created_at: '2024-03-02T18:04:00Z', author };
  const duplicate = { ...item, external: { source: 'dispatch', id: '215' }, relations: [relation] };
  await call(operation, { body: { incidents: [{ ...item, ...changed, ...rewritten }, duplicate] } });
  await call('GET /api/v1/exports/incidents');
}

/** Maps an incident, makes a status terminal, and adds a tier. */
async function useConfiguration(call: Calling): Promise<void> {
  await call('POST /api/v1/incidents', { body: { title: 'x', status: 'on-hold' } });
  const { configuration } = await call('GET /api/v1/settings/configuration');
  const { revision, workflow_statuses: statuses, service_tiers: tiers } = configuration;
  const kept = (statuses as { key: string }[])
    .filter(({ key }) => key !== 'on-hold')
    .map((status) => ({ ...status, order: undefined, ...(status.key === 'monitoring' && { is_terminal: true }) }));
  const body = {
    workflow_statuses: kept,
    service_tiers: [...tiers, { key: 't9', label: 'Tier 9' }],
    replace: { statuses: { 'on-hold': 'monitoring' } },
  };
  await call('PUT /api/v1/settings/configuration', { body, headers: at(revision) });
  await call('GET /api/v1/configuration/service-tiers');
}

async function useTimeline(call: Calling, incidentId: number, groupId: number): Promise<void> {
  const ids = [incidentId];
  const timeline = '/api/v1/incidents/{id}/timeline';
  const uploaded = { ids, body: ONE_PIXEL, headers: FILE_HEADERS };
  const { picture } = await call('POST /api/v1/incidents/{id}/pictures', uploaded);
  const add = async (key: string, attachments: number[] = []) =>
    (
      await call(`POST ${timeline}`, {
        ids,
        body: { body: LARGE_TEXT, title: key, tags: ['t'], group_id: groupId, attachments },
        headers: keyed(key),
      })
    ).event;
  const event = await add('one', [picture.id]);
  const other = await add('two');
  await call('PATCH /api/v1/timeline/{id}', { ids: [event.id], body: { title: 'x' }, headers: at(1) });
  await call('DELETE /api/v1/timeline/{id}', { ids: [other.id] });
  await call('POST /api/v1/timeline/{id}/restore', { ids: [other.id] });
  for (const id of [event.id, other.id]) {
    const body = { body: `${LARGE_TEXT}!` };
    const revisions = 'GET /api/v1/timeline/{id}/revisions';
    await call('PATCH /api/v1/timeline/{id}', { ids: [id], body, headers: at(2) });
    if (id === event.id) {
      const { pagination } = await call(revisions, { ids: [id], query: '?limit=1' });
      await call(revisions, { ids: [id], query: parameters({ limit: '1', cursor: pagination.next_cursor }) });
    }
    await call('DELETE /api/v1/timeline/{id}', { ids: [id] });
  }
  const { pagination } = await call(`GET ${timeline}/deleted`, { ids, query: '?limit=1' });
  await call(`GET ${timeline}/deleted`, { ids, query: parameters({ limit: '1', cursor: pagination.next_cursor }) });
  await call('POST /api/v1/timeline/{id}/restore', { ids: [other.id] });
  for (const order of ['asc', 'desc']) {
    const { pagination } = await call(`GET ${timeline}`, { ids, query: parameters({ limit: '1', order }) });
    const cursor: string = pagination.next_cursor;
    await call(`GET ${timeline}`, { ids, query: parameters({ limit: '1', order, cursor }) });
  }
  await call(`GET ${timeline}`, { ids, query: parameters({ group: String(groupId) }) });
  await call('GET /api/v1/incidents/{id}/postmortem', { ids });
}

async function useRelations(call: Calling, incidentId: number): Promise<void> {
  const relations = '/api/v1/incidents/{id}/relations';
  const { incidents } = await call('GET /api/v1/incidents');
  const other = incidents.find(({ id }: { id: number }) => id !== incidentId).id;
  for (const type of ['duplicate_of', 'related']) {
    const body = { type, incident_id: other };
    await call(`POST ${relations}`, { ids: [incidentId], body, headers: keyed(type) });
    await call(`POST ${relations}`, { ids: [incidentId], body });
  }
  const { relations: related, pagination } = await call(`GET ${relations}`, { ids: [incidentId], query: '?limit=1' });
  const query = parameters({ limit: '1', cursor: pagination.next_cursor });
  await call(`GET ${relations}`, { ids: [incidentId], query });
  await call(`DELETE ${relations}/{relationId}`, { ids: [incidentId, related[0].id] });
}

async function useFollowUps(call: Calling, incidentId: number, userId: number): Promise<void> {
  const ofIncident = '/api/v1/incidents/{id}/follow-ups';
  const add = async (key: string, body: object = {}) =>
    (await call(`POST ${ofIncident}`, { ids: [incidentId], body: { title: key, ...body }, headers: keyed(key) }))
      .follow_up;
  const followUp = await add('due', {
    due_on: '2026-12-04',
    owner: String(userId),
    description: LARGE_TEXT.slice(0, 9_000),
  });
  const other = await add('other');
  const one = '/api/v1/follow-ups/{id}';
  await call(`PATCH ${one}`, { ids: [followUp.id], body: { status: 'done' }, headers: at(1) });
  await add('third');
  await call(`DELETE ${one}`, { ids: [other.id] });
  await call(`GET ${ofIncident}`, { ids: [incidentId] });
  const all = 'GET /api/v1/follow-ups';
  for (const query of [`owner=${userId}&status=done`, 'due_before=2027-01-01', 'q=due', 'service=checkout&team_id=1'])
    await call(all, { query: `?${query}` });
}

/** The receiver stands for GitHub, which first fails as a whole. */
async function useTrackers(
  call: Calling,
  { client, receiver, incidentId }: { client: Client; receiver: Receiver; incidentId: number },
): Promise<void> {
  const respond = receiver.respond;
  let [status, state] = [500, 'open'];
  receiver.respond = (request) => {
    if (!request.path.startsWith('/github')) return respond(request);
    const issue = { number: 1, state, html_url: 'https://github.example/acme/shop/issues/1' };
    const isList = request.method === 'GET' && request.path.includes('?');
    return behave.answer(status, {}, JSON.stringify(isList ? [] : issue));
  };
  const trackers = '/api/v1/settings/trackers';
  const tracker = {
    name: 'Issues',
    kind: 'github',
    url: receiver.url('/github'),
    project: 'acme/shop',
    credential: 'x',
  };
  const { tracker: created, secret } = await call(`POST ${trackers}`, { body: tracker });
  const ids = [created.id];
  await call(`PATCH ${trackers}/{id}`, { ids, body: { name: 'Issues of the shop' }, headers: at(1) });
  await call(`POST ${trackers}/{id}/test`, { ids });
  const { follow_up: followUp } = await call('POST /api/v1/incidents/{id}/follow-ups', {
    ids: [incidentId],
    body: { title: 'With a ticket' },
    headers: keyed('with-a-ticket'),
  });
  const one = '/api/v1/follow-ups/{id}';
  const of = { ids: [followUp.id] };
  const shows = async (is: (ticket: { failure: unknown; state: string | null }) => boolean) =>
    eventually(async () => is((await call(`GET ${one}`, of)).follow_up.ticket), { what: 'the state of a ticket' });
  await call(`POST ${one}/ticket`, { ...of, body: { tracker_id: created.id } });
  await shows(({ failure }) => failure !== null);
  status = 200;
  await call(`POST ${one}/ticket`, { ...of, body: { tracker_id: created.id } });
  await shows(({ failure, state: agreed }) => failure === null && agreed === 'open');
  state = 'closed';
  const body = JSON.stringify({ issue: { number: 1 }, repository: { full_name: 'acme/shop' } });
  const signature = `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`;
  await client.send('POST', `/hooks/trackers/${created.id}`, body, { 'X-Hub-Signature-256': signature });
  await shows(({ state: agreed }) => agreed === 'done');
  await call(`DELETE ${one}/ticket`, of);
  // One that stays.
  await call(`POST ${one}/ticket`, { ...of, body: { tracker_id: created.id } });
  await shows(({ state: agreed }) => agreed !== null);
}

async function useAlerts(call: Calling, keyId: number): Promise<void> {
  const alerts = 'POST /api/v1/alerts';
  const send = async (status: string, names: readonly string[], query: object = {}, groupKey = 'g') => {
    const of = (name: string) => ({ status, labels: { alertname: name, service: 'checkout' }, fingerprint: name });
    const times = { startsAt: '2026-11-20T09:00:00Z', endsAt: '2026-11-20T10:00:00Z' };
    const body = { groupKey, status, alerts: names.map((name) => ({ ...of(name), ...times })) };
    const { results } = await call(`${alerts}/alertmanager`, {
      query: parameters({ on_end: 'resolve', ...query }),
      body,
    });
    return results[0].incident?.id;
  };
  await send('firing', ['a', 'b']);
  await send('firing', ['a', 'b']);
  await send('resolved', ['a']);
  await send('firing', ['c', 'd', 'e'], { group: 'alert', new_incidents: '2' });
  // In another group, for an incident that a person has closed as a duplicate, and for one that is declared again.
  const id = await send('firing', ['b'], {}, 'edited');
  const other = await send('firing', ['f'], {}, 'other');
  const relation = { type: 'duplicate_of', incident_id: other };
  await call('POST /api/v1/incidents/{id}/relations', { ids: [id], body: relation });
  await call('POST /api/v1/incidents/{id}/resolve', { ids: [id], body: {} });
  await send('firing', ['b'], {}, 'edited');
  await call('POST /api/v1/incidents/{id}/resolve', { ids: [other], body: {} });
  await send('firing', ['f'], { remind_after: '0' }, 'other');
  await call(`${alerts}/pagerduty`, { body: { event_action: 'trigger', dedup_key: 'k', payload: { summary: 'x' } } });
  const images = [{ src: 'https://monitor.example/graph.png', alt: 'x' }];
  const enqueued = { event_action: 'trigger', dedup_key: 'l', payload: { summary: 'x' }, images };
  await call(`${alerts}/pagerduty/v2/enqueue`, { body: enqueued });
  const event = { event_id: 'e', issue_id: '1', title: 'x', datetime: '2026-11-24T10:00:00Z', tags: [] };
  await call(`${alerts}/sentry`, { body: { action: 'triggered', data: { event, triggered_rule: 'x' } } });
  const essentials = { alertId: 'a', alertRule: 'x', monitorCondition: 'Fired', firedDateTime: '2026-11-24T10:00:00Z' };
  await call(`${alerts}/azure`, { body: { schemaId: 'azureMonitorCommonAlertSchema', data: { essentials } } });
  // An alert that moves into another group.
  await send('firing', ['q'], {}, 'left');
  await send('firing', ['q'], { quiet_after: '60' }, 'quiet');
  const beat = { query: parameters({ name: 'backup', within: '60' }) };
  const { heartbeat } = await call(`${alerts}/heartbeat`, beat);
  await call(`${alerts}/heartbeat`, beat);
  await call('DELETE /api/v1/alerts/heartbeats/{id}', { ids: [heartbeat.id] });
  await call(`${alerts}/heartbeat`, beat);
  await call(alerts, { body: { id: 'own', status: 'firing', title: 'x' } });
  await call(alerts, { body: { id: 'own', status: 'firing', title: 'x', started_at: 'soon' }, status: 400 });
  for (const filter of [
    {},
    { key_id: String(keyId) },
    { outcome: 'refused' },
    { received_to: '2100-01-01T00:00:00Z' },
  ]) {
    const { pagination } = await call('GET /api/v1/alerts', { query: parameters({ ...filter, limit: '1' }) });
    const cursor: string | undefined = pagination.next_cursor;
    if (cursor !== undefined)
      await call('GET /api/v1/alerts', { query: parameters({ ...filter, limit: '1', cursor }) });
  }
}

const SORTS =
  'created_at case events diagnosis last_event_at impact_started_at impact service regions owner status severity team'.split(
    ' ',
  );

const filtersOf = (teamId: number): Record<string, string>[] => [
  { include_counts: 'true' },
  { status: 'open' },
  { severity: 'sev1' },
  { external_id: 'alert-1' },
  { q: 'checkout' },
  { q: 'INC-1' },
  { service: 'checkout' },
  { team_id: String(teamId) },
  { created_from: '2026-01-01T00:00:00Z', created_to: '2100-01-01T00:00:00Z' },
  { impact_started_from: '2026-01-01T00:00:00Z', impact_started_to: '2100-01-01T00:00:00Z' },
  { region: 'eu-west' },
  { role: 'scribe:1' },
  { lifecycle: 'incident' },
  { lifecycle: 'alert' },
  { service_tier: 't0' },
  { effective_team_id: String(teamId) },
  { unassigned_team: 'true' },
  { active_only: 'true' },
  { status_scope: 'nonterminal' },
  { diagnosis: 'completed' },
  { impact_status: 'unknown' },
  { affected_customers_op: '>', affected_customers_value: '1' },
  { mrr_op: '>', mrr_value: '1' },
  { mrr_op: '<', mrr_value: '1', mrr_basis: 'source', mrr_currency: 'EUR' },
];

const OPERATORS = {
  string: ['is', 'is_not', 'contains', 'starts_with'],
  select: ['is', 'is_not'],
  boolean: ['is'],
  number: ['eq', 'gt', 'lt', 'between'],
  monetary: ['eq', 'gt', 'lt', 'between'],
  date: ['is', 'before', 'after', 'between'],
  datetime: ['is', 'before', 'after', 'between'],
  time: ['is', 'before', 'after'],
  multi_select: ['includes_any', 'includes_all', 'excludes'],
};

async function useLists(call: Calling, teamId: number): Promise<void> {
  const filters = filtersOf(teamId);
  const list = 'GET /api/v1/incidents';
  const twoPages = async (operation: string, query: Record<string, string>) => {
    const { pagination } = await call(operation, { query: parameters({ ...query, limit: '1' }) });
    if (!pagination.has_more) return;
    await call(operation, { query: parameters({ ...query, limit: '1', cursor: pagination.next_cursor }) });
  };
  for (const direction of ['asc', 'desc']) {
    for (const sort of SORTS) {
      await twoPages(list, { sort, direction });
      // To the end of the last segment.
      await call(list, { query: parameters({ sort, direction }) });
    }
    for (const field of Object.keys(FIELDS)) {
      const sort = { sort: 'custom', sort_custom_field: field, direction };
      await twoPages(list, sort);
      await call(list, { query: parameters(sort) });
    }
    await twoPages('GET /api/v1/incidents/archived', { direction });
    await call('GET /api/v1/incidents/archived', {
      query: parameters({ direction, sort: 'custom', sort_custom_field: 'string' }),
    });
  }
  for (const filter of filters) {
    for (const sort of ['created_at', 'severity', 'service']) {
      await call(list, { query: parameters({ ...filter, sort, include_counts: 'true' }) });
    }
    await call('GET /api/v1/incidents/archived', { query: parameters(filter) });
  }
  const statistics = 'GET /api/v1/incidents/statistics';
  // The first one is none; the span of another one has too many buckets.
  for (const filter of [{}, ...filters.slice(1).filter(({ created_to: end }) => end === undefined)]) {
    await call(statistics, { query: parameters({ ...filter, bucket: 'week' }) });
  }
  const text = JSON.stringify({ slug: 'string', operator: 'contains', value: FIELDS.string });
  for (const read of [statistics, 'GET /api/v1/incidents/archived'])
    await call(read, { query: parameters({ custom_filter: text }) });
  for (const [slug, operators] of Object.entries(OPERATORS)) {
    const present = JSON.stringify({ slug, operator: 'has_value', value: true });
    await call(list, { query: parameters({ custom_filter: present, include_counts: 'true' }) });
    const value = FIELDS[slug as keyof typeof FIELDS];
    for (const operator of operators) {
      const filter = { slug, operator, value: operator === 'between' ? [value, value] : value };
      const query = parameters({ custom_filter: JSON.stringify(filter), include_counts: 'true' });
      await call(list, { query });
    }
  }
  const many = Array.from({ length: 20 }, (_, index) => `option ${index}`);
  for (const operator of OPERATORS.multi_select) {
    const filter = { slug: 'multi_select', operator, value: many };
    await call(list, { query: parameters({ custom_filter: JSON.stringify(filter), include_counts: 'true' }) });
  }
}

/** More texts that may contain a searched one than a list compares in advance. */
const SEARCHED_INCIDENTS = 5_100;

/** Searches many texts. Removes them afterwards, because all tables are copied. */
async function useSearches(
  call: Calling,
  { administrator, workspaceId, fieldId }: { administrator: pg.Client; workspaceId: number; fieldId: number },
): Promise<void> {
  await administrator.query(`
    insert into incident.incidents (workspace_id, number, title, severity, severity_mode, status, issue_type,
      customer_impact_status, created_at, created_by)
    select ${workspaceId}, 1000000 + n, 'searched', 'sev3', 'manual', 'open', 'incident', 'unknown', now(), '1'
    from generate_series(1, ${SEARCHED_INCIDENTS}) as n;
    insert into incident.incident_values (workspace_id, incident_id, field_id, slug, field_type, value, text_value,
      text_folded, text_grams, updated_at, updated_by)
    select workspace_id, id, ${fieldId}, 'string', 'string', '"x"', 'x', 'x', array[${-fieldId}::bigint], now(), '1'
    from incident.incidents where title = 'searched'`);
  const filters = [
    { slug: 'string', operator: 'contains', value: 'a text that no incident has' },
    { slug: 'number', operator: 'gt', value: 1 },
  ];
  const query = new URLSearchParams(
    filters.map((filter): [string, string] => ['custom_filter', JSON.stringify(filter)]),
  );
  await call('GET /api/v1/incidents', { query: `?${query.toString()}&include_counts=true` });
  query.delete('custom_filter', JSON.stringify(filters[1]));
  await call('GET /api/v1/incidents', { query: `?${query.toString()}&include_counts=true` });
  await administrator.query(`delete from incident.incidents where title = 'searched'`);
}

async function useChat(call: Calling): Promise<void> {
  const body = { title: 'With a channel', create_slack_channel: true, invite_usergroups: ['oncall'] };
  const { incident } = await call('POST /api/v1/incidents', { body });
  const ids = [incident.id];
  const provisioning = '/api/v1/incidents/{id}/provisioning';
  await eventually(
    async () => (await call(`GET ${provisioning}`, { ids })).provisioning.status === 'succeeded' || undefined,
    { what: 'the channel' },
  );
  await call(`POST ${provisioning}/retry`, { ids, status: 409 });
  const { incident: later } = await call('POST /api/v1/incidents', { body: { title: 'With a later channel' } });
  await call(`POST ${provisioning}`, { ids: [later.id], status: 202 });
  const named = { mode: 'custom', name: 'war-room' };
  await call('POST /api/v1/incidents/{id}/slack/channel-name/preview', { ids, body: named });
  await call('PATCH /api/v1/incidents/{id}/slack/channel-name', { ids, body: named });
  await call('POST /api/v1/incidents/{id}/rename-slack-channel', { ids });
  await call('POST /api/v1/incidents/{id}/resolve', { ids, body: {} });
  await eventually(
    async () =>
      (await call(`GET ${provisioning}`, { ids })).provisioning.channel_updates?.status === 'succeeded' || undefined,
    { what: 'the message in the channel' },
  );
}

/** Publishes the events that other systems send about an incident. */
async function publishFeeds(namespace: string, of: { workspace: object; incidentId: number }): Promise<void> {
  const connection = await connect(testServers().amqpUrl ?? '');
  const channel = await connection.createConfirmChannel();
  for (const type of ['customer-impact.updated', 'investigation.run.updated'] as const) {
    const { data, ...event } = EXAMPLES[type] as Envelope<object>;
    const { id } = of.workspace as { id: number };
    const message = {
      ...event,
      workspace: of.workspace,
      data: { ...data, workspace_id: id, incident_id: of.incidentId },
    };
    const properties = { messageId: event.id, type, persistent: true };
    channel.publish(exchangeName(namespace), type, Buffer.from(JSON.stringify(message)), properties);
  }
  await channel.waitForConfirms();
  await connection.close();
}

describeWithServers('the statements of requests, consumers and workers', () => {
  let slack: FakeSlack;
  let receiver: Receiver;
  let system: System;
  let statements: Statement[];
  let called: Set<string>;
  /** `METHOD path name` of parameters that were accepted. */
  const used = new Set<string>();
  let reads: readonly Example[];
  let tables: Map<string, number>;
  const databases = new Map<string, Knex>();
  /** Its statements are not checked. */
  let administrator: pg.Client;

  beforeAll(async () => {
    slack = await startSlack();
    slack.addUsergroup({ handle: 'oncall', users: ['U1'] });
    receiver = await startReceiver();
    const document = behave.answer(200, { 'Content-Type': 'text/markdown' }, '- 2026-11-20T10:00:00Z Down\n');
    const calendar = behave.answer(200, {}, CALENDAR);
    receiver.respond = ({ path: requested }) => {
      if (requested.startsWith('/calendar')) return calendar;
      return requested.startsWith('/notes') ? document : behave.answer(204);
    };
    statements = await recordStatements(async () => {
      system = await startSystem({ receivers: [receiver], firstRunWithin: 0, settings: { SLACK_API_URL: slack.url } });
      for (const schema of SCHEMAS) {
        const url = system.database.url(schema);
        databases.set(schema, openDatabase({ url, schema, application: 'test', poolSize: 1 }));
      }
      administrator = new pg.Client({ connectionString: system.database.adminUrl });
      await administrator.connect();
      await use();
    });
    for (const name of APP_NAMES) await system.stopApp(name);
    await fill();
  });

  const own = async (query: string) => (await administrator.query(query)).rows[0];
  const beginSession = async (workspace: string, email: string) => {
    const link = await administration(databases.get('gateway')!).createLoginLink({ workspace, email });
    const headers = { Authorization: `Bearer ${link.token}`, 'Sec-Fetch-Site': 'same-origin' };
    return system.anonymously(workspace).send('POST', '/app/session', undefined, headers);
  };
  /** A client and its person, as far as a second token. */
  const connectAgent = async (workspace: string, email: string) => {
    const [Cookie = ''] = ((await beginSession(workspace, email)).headers.get('set-cookie') ?? '').split(';');
    const client = system.anonymously(workspace);
    const redirect = { redirect_uri: 'https://agent.example/callback' };
    const { body: registered } = await client.post('/oauth/register', { redirect_uris: Object.values(redirect) });
    const sender = { ...redirect, client_id: registered.client_id as string };
    // The example of RFC 7636.
    const challenge = { code_challenge: 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM', code_challenge_method: 'S256' };
    const asked = new URLSearchParams({ ...sender, ...challenge, response_type: 'code', decision: 'allow' });
    const consent = { Cookie, 'Sec-Fetch-Site': 'same-origin' };
    const { body: allowed } = await client.post(`/oauth/consent?${asked.toString()}`, undefined, consent);
    const send = async (fields: Record<string, string>) =>
      client.post('/oauth/token', new URLSearchParams({ ...sender, ...fields }).toString(), {
        'Content-Type': 'application/x-www-form-urlencoded',
      });
    const code = new URL(allowed.redirect_to).searchParams.get('code') ?? '';
    const code_verifier = 'dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk';
    const { body: first } = await send({ grant_type: 'authorization_code', code, code_verifier });
    const { status } = await send({ grant_type: 'refresh_token', refresh_token: first.refresh_token });
    if (status !== 200) throw new Error('the agent is not connected');
  };

  /** Sends the documented example of each operation: in the first workspace of an installation, the sample data have its IDs. */
  async function useExamples(): Promise<{ sample: Client; examples: readonly Example[] }> {
    const sample = await system.as({ workspace: 'sample', role: 'owner' });
    await addSampleData(workspaceApi({ baseUrl: system.url, host: 'sample.localhost', token: sample.token }));
    const ended = async () =>
      (await sample.get('/api/v1/incidents/2/provisioning')).body.provisioning.status === 'failed';
    await eventually(ended, { what: 'the end without a Slack' });
    const template = ['--channel-template', 'inc-{id}-{short_title}'];
    await system.admin('slack', 'connect', '--workspace', 'sample', '--bot-token', slack.token, ...template);
    await addSubscription(databases.get('webhook')!, {
      secretKeys: TEST_SECRET_KEYS,
      allowed: { testReceivers: new Set([receiver.hostAndPort()]), networks: [] },
      workspace: { id: 1, slug: 'sample', is_demo: false },
      id: SAMPLE_WEBHOOK,
      url: receiver.url('/hook'),
    });
    const { email } = await own('select email from gateway.users');
    const { examples, refused } = await sendExamples(sample, async () => beginSession('sample', email));
    if (refused.length > 0) throw new Error(JSON.stringify(refused));
    return { sample, examples };
  }

  /** Two users read a restricted incident, and another one may not. */
  async function useRestricted(client: Client, another: Client, outsider: Client): Promise<void> {
    const { incident } = (await client.post('/api/v1/incidents', { title: 'Restricted', restricted: true })).body;
    const path = `/api/v1/incidents/${incident.id}`;
    for (const reader of [client, another, outsider]) await reader.get(path);
    const accesses = reads.find(({ template }) => template.endsWith('/accesses'));
    if (accesses !== undefined) await useParameters(client, { ...accesses, path: `${path}/accesses` }, used);
  }

  async function use(): Promise<void> {
    const { sample, examples } = await useExamples();
    called = new Set(examples.map(({ method, template }) => `${method.toUpperCase()} ${template}`));
    const client = await system.as({ role: 'owner' });
    const { call, paths } = caller(client, called, used);
    await system.admin('slack', 'connect', '--workspace', 'acme', '--bot-token', slack.token);
    await system.admin('slack', 'configure', '--workspace', 'acme', '--channel-updates');
    const {
      workspace_id: workspaceId,
      id: userId,
      email,
    } = await own(`
      select workspace_id::integer, users.id::integer, email from gateway.users
      join gateway.workspaces on workspaces.id = workspace_id where slug = 'acme'`);
    const links = administration(databases.get('gateway')!);
    await Promise.all([1, 2].map(async () => beginSession('acme', email)));
    await connectAgent('acme', email);
    await links.connectOidc({
      ...{ workspace: 'acme', issuer: 'https://idp.internal', clientId: 'x', clientSecret: 'x', createsViewers: true },
      ...{ trustsEmail: false, groups: null },
      secretKeys: TEST_SECRET_KEYS,
    });
    for (const path of ['/app/session', '/app/oidc']) await client.send('GET', path);
    // One that nobody uses.
    await links.createLoginLink({ workspace: 'acme', email });
    await own(`
      insert into incident.timeline_groups (workspace_id, id, name, name_folded, rank)
      values (${workspaceId}, 1, 'Comms', 'comms', 0)`);

    const otherId = await useGateway(call);
    const teamId = await useCatalog(call, [userId, otherId]);
    await useOnCall(call, receiver.url('/calendar'), teamId);
    await own(`update catalog.on_call_sources set due_at = now(), fetched_at = null`);
    const isRead = async () => (await own('select fetched_at from catalog.on_call_sources')).fetched_at !== null;
    const values = await useFields(call);
    await useWebhooks(call, receiver.url('/hook'));
    const url = receiver.url('/destination');
    const body = { name: 'Another system', kind: 'http', url };
    await call('POST /api/v1/settings/destinations', { body });
    const incidentId = await useIncidents(call, { teamId, userId, values, documentUrl: receiver.url('/notes') });
    await useTimeline(call, incidentId, 1);
    await useRelations(call, incidentId);
    await useFollowUps(call, incidentId, userId);
    await useTrackers(call, { client, receiver, incidentId });
    const isSentTo = () => receiver.requests.some(({ path: at }) => at === '/destination');
    await eventually(isSentTo, { what: 'a message to the destination' });
    await eventually(isRead, { what: 'a look at who is on call' });
    await useAlerts(call, (await call('GET /api/v1/me')).api_key.id);
    await useFeed(call, incidentId);
    const workspace = { id: workspaceId, slug: 'acme', is_demo: false };
    await publishFeeds(system.namespace, { workspace, incidentId });
    for (const table of ['incident_mrr', 'investigation_runs']) {
      await eventually(async () => own(`select 1 as present from incident.${table}`), { what: `a row of ${table}` });
    }
    for (const title of ['To be archived', 'To be archived, too']) {
      const { incident } = await call('POST /api/v1/incidents', { body: { title } });
      await call('POST /api/v1/incidents/{id}/archive', { ids: [incident.id] });
    }
    await useLists(call, teamId);
    await useSearches(call, { administrator, workspaceId, fieldId: values[0]?.field_id ?? 0 });
    await useChat(call);
    reads = examples.filter(({ method }) => method === 'get');
    await useRestricted(client, await system.as({ role: 'owner' }), await system.as({ role: 'member' }));
    const withoutRestricted = await system.as({ role: 'owner', scopes: ['webhooks:manage'] });
    const { deliveries } = (await withoutRestricted.get(DELIVERIES)).body;
    const [{ webhook_id, event_id }] = deliveries as { webhook_id: string; event_id: string }[] as [never];
    for (const query of [{ webhook_id }, { event_id }])
      await withoutRestricted.get(`${DELIVERIES}${parameters(query)}`);
    for (const example of reads) {
      const { template } = example;
      const path = paths.get(`GET ${template}`) ?? (template.includes('{') ? template : example.path);
      if (path.includes('{')) await useParameters(sample, example, used);
      else await useParameters(client, { ...example, path }, used);
    }
    for (const schema of ['incident', 'catalog', 'gateway']) await sweepIdempotencyKeys(databases.get(schema)!, 24);
    for (const schema of ['incident', 'catalog', 'webhook', 'gateway']) await sweepInbox(databases.get(schema)!, 7);
    await storageStore(databases.get('incident')!).requestMeasurements([workspaceId]);
    await sweepAlerts(databases.get('incident')!);
    await alertStore(databases.get('incident')!, { workspaceId, monitorId: 0 }).forgetEnded();
    const webhook = databases.get('webhook')!;
    const before = '2000-01-01T00:00:00.000Z';
    await executeRareStatements(databases, { workspaceId, userId, now: before });
    await auditStore(databases.get('gateway')!).deleteBefore(workspaceId, before);
    await deleteExpiredOAuth(databases.get('gateway')!, before);
    await forgetExpiredSecrets(webhook, before);
    await forgetActivity(webhook, before);
    await forgetRevoked(webhook, before);
    await limitStore(webhook).forget(before);
    const latest = (await feedReader(webhook).latest()) ?? before;
    await feedReader(webhook).positionBefore(workspaceId, latest);
    await recentEventsReader(webhook).read(workspaceId, {
      after: { position: 0, mark: '' },
      limit: 25,
      maxBytes: 524_288,
    });
    await recentEventsReader(webhook).heads([workspaceId]);
    await deleteRecordedBefore(webhook, latest);
    await feedReader(webhook).end(workspaceId, true);
    await expiryStore(webhook).forget(before);
    await expiryStore(webhook).failExpired(before);
  }

  /** Adds pending and running work: all other work is done. */
  async function fill(): Promise<void> {
    for (const app of APP_NAMES) {
      await administrator.query(`
        insert into ${APPS[app].schema.name}.outbox (message_id, type, body) values (gen_random_uuid(), 'none', '{}')`);
    }
    // Only an instance without RabbitMQ keeps dead letters.
    for (const app of APP_NAMES) {
      await administrator.query(
        `insert into ${APPS[app].schema.name}.dead_letters (queue, message_id, type, body, reason)
         values ('webhook.feed', gen_random_uuid(), 'incident.created', '{}', 'delivery_limit')`,
      );
    }
    await administrator.query(`
      insert into incident.timeline_attachments
        (workspace_id, timeline_event_id, filename, content_type, size_bytes, created_at, created_by)
      select workspace_id, id, 'x', 'text/plain', 1, now(), 'x' from incident.timeline_events limit 1;
      insert into gateway.oidc_identities (user_id, workspace_id, issuer, subject, created_at)
      select id, workspace_id, 'https://idp.internal', 'x', now() from gateway.users limit 1;
      insert into gateway.scim_users (workspace_id, user_id, user_name)
      select workspace_id, id, email from gateway.users limit 1;
      insert into gateway.scim_groups (workspace_id, display_name) select workspace_id, 'x' from gateway.scim_users;
      insert into gateway.scim_group_members (workspace_id, group_id, user_id)
      select workspace_id, id, user_id from gateway.scim_groups join gateway.scim_users using (workspace_id);
      insert into gateway.deleted_workspaces (workspace_id, slug, requested_at) values (987654321, 'gone', now());
      insert into incident.configurations (workspace_id) values (1) on conflict do nothing;
      insert into incident.unannounced_configurations (workspace_id, version) values (1, 1);
      insert into incident.provisioning_steps (incident_id, workspace_id, key, status, due_at, updated_at)
      select incident_id, workspace_id, 'waiting', 'pending', now(), now() from incident.provisionings;
      update incident.channel_updates set status = 'pending', due_at = now() + interval '1 day';
      insert into catalog.configurations (workspace_id, service_tiers) values (1, '[]') on conflict do nothing;
      insert into webhook.slots (token, kind, workspace_id, host, share, minute, window_share, lease_until)
      values (gen_random_uuid(), 'check', 1, 'x', 0, now(), 0, now());
      insert into webhook.events (id, workspace_id, body, occurred_at, queued_at)
      select gen_random_uuid(), workspace_id, body, occurred_at, queued_at from webhook.events limit 1;
      insert into webhook.deliveries
        (event_id, subscription_id, workspace_id, status, due_at, deadline_at, lease_token)
      select events.id, subscriptions.id, events.workspace_id, 'queued', now(), now() + interval '30 days',
        gen_random_uuid()
      from webhook.events join webhook.subscriptions using (workspace_id) on conflict do nothing;
      insert into webhook.feed_restrictions (workspace_id, resource, position)
      select workspace_id, 'incident:' || 1000000 + nth, 0 from webhook.feed_workspaces, generate_series(1, 10) as nth`);
    const copies = (table: string) => (table === TAKEN_IN_BATCHES ? 3 * COPIES : COPIES);
    tables = await fillTables(administrator, { schemas: SCHEMAS, copies });
  }

  afterAll(async () => {
    await Promise.all([...databases.values()].map(async (database) => database.destroy()));
    await administrator.end();
    await system.stop();
    await receiver.stop();
    await slack.stop();
  });

  test('cover every operation and every parameter of a read, on filled tables', async () => {
    expect([...called].sort()).toEqual(await operations());
    const read = reads.flatMap(({ template, operation }) =>
      queryOf(operation).map(({ name }) => `GET ${template} ${name}`),
    );
    expect(read.length).toBeGreaterThan(100);
    expect(read.filter((each) => !used.has(each))).toEqual([]);
    const empty = [...tables].filter(([, rows]) => rows <= COPIES).map(([table]) => table);
    expect(empty).toEqual([]);
  });

  /** Each statement of an app once: values can change a plan, but rarely between the runs of one statement. */
  function* statementsOfApps(): Generator<[database: Knex, statement: Statement]> {
    const seen = new Set<string>();
    for (const statement of statements) {
      const { text, role = '', name } = statement;
      const database = databases.get(role.replace('tocsin_', ''));
      const key = `${role} ${name ?? ''} ${text}`;
      if (database === undefined || seen.has(key) || !/^\s*(select|insert|update|delete|with)\b/i.test(text)) continue;
      seen.add(key);
      yield [database, statement];
    }
    expect(seen.size).toBeGreaterThan(200);
  }

  test('are all prepared ones of the sources', async () => {
    // Composed ones have numbers.
    const executed = [...new Set(statements.map(({ name = '' }) => name.replace(/-\d+$/, '')))];
    const isExecuted = (name: string) => executed.some((each) => path.matchesGlob(each, name));
    const missing = (await namesInSources()).filter((name) => !isExecuted(name) && !NOT_EXECUTED.has(name));
    expect(missing).toEqual([]);
  });

  test('scan no growing table fully', async () => {
    const growing = new Set([...tables.keys()].map((table) => table.split('.')[1]));
    const violations = new Set<string>();
    for (const [database, statement] of statementsOfApps()) {
      const { text, role } = statement;
      for (const reads of await fullScans(database, statement)) {
        if (!growing.has(reads.split(' ')[0])) continue;
        if (ALLOWED.some((allowed) => allowed.reads === reads && allowed.statement.test(text))) continue;
        violations.add(`${role} reads ${reads}: ${text.replaceAll(/\s+/g, ' ').trim()}`);
      }
    }
    expect([...violations]).toEqual([]);
  });

  test('name the workspace of each table with rows of workspaces', async () => {
    const tables = workspaceTables(await readCatalog(administrator, SCHEMAS));
    const unnamed = new Set<string>();
    const allowed = new Set<string>();
    for (const [, { text, role = '' }] of statementsOfApps()) {
      const ofRole = tables.get(role.replace('tocsin_', '')) ?? new Set();
      const line = text.replaceAll(/\s+/g, ' ').trim();
      for (const table of unnamedWorkspaces(text, ofRole)) {
        const entry = OF_ALL_WORKSPACES.find(({ statement }) => statement.test(line));
        if (entry === undefined) unnamed.add(`${role} reads or writes ${table}: ${line}`);
        else allowed.add(entry.reason);
      }
    }
    expect([...unnamed]).toEqual([]);
    // An entry for a statement that does not exist would allow it later.
    expect([...allowed].sort()).toEqual([...new Set(OF_ALL_WORKSPACES.map(({ reason }) => reason))].sort());
  });

  test('find only those incidents that the request may see', () => {
    const unlimited = new Set<string>();
    const allowed = new Set<string>();
    for (const [, { text, role }] of statementsOfApps()) {
      const line = text.replaceAll(/\s+/g, ' ').trim();
      if (role !== 'tocsin_incident' || !/\b(?:from|join) incidents\b/.test(line)) continue;
      if (/\.viewers &&|visible_restricted\(|\/\* viewers \*\//.test(line)) continue;
      const entry = OF_ALL_VIEWERS.find(({ statement }) => statement.test(line));
      if (entry === undefined) unlimited.add(line);
      else allowed.add(entry.reason);
    }
    expect([...unlimited]).toEqual([]);
    expect([...allowed].sort()).toEqual(OF_ALL_VIEWERS.map(({ reason }) => reason).sort());
  });

  // A plan for all values reads all partitions, so PostgreSQL plans each statement for its values there.
  const onePlan = (process.env['TOCSIN_TEST_PARTITIONS'] ?? '') === '' ? test : test.skip;

  onePlan('are planned again for their values only where one plan for all would be wrong', async () => {
    const planned = new Set<string>();
    for (const [database, statement] of statementsOfApps()) {
      const { text, role, name } = statement;
      if (name === undefined || PLANNED_FOR_VALUES.test(name)) continue;
      const plans = await countCustomPlans(database, statement);
      if (plans > 5) planned.add(`${role} ${name}: ${text.replaceAll(/\s+/g, ' ').trim()}`);
    }
    expect([...planned]).toEqual([]);
  });
});

import { expect } from '@jest/globals';
import { type Answer, type Client, eventually } from '@tocsin/testing';
import type pg from 'pg';
import { APP_NAMES, APPS } from '../../../installation/apps.ts';
import { CONTRACTS } from '../contract-schemas.ts';
import { type Keyed, sendOnce } from './keys.ts';
import {
  bodyOf,
  homesOf,
  type Ids,
  operationOf,
  type Query,
  type Request,
  requestOf,
  send,
  type Write,
} from './operations.ts';
import { expectRefused, type Others, type Refusal, refusalsOf, UNKNOWN_ID } from './refusals.ts';

/**
 * Tables that change at their own times: counts of storage, limits of requests to receivers, the epoch of the feed, copies
 * of the data of other services, what is made of messages, and what came of them.
 */
const CHANGING = new RegExp(
  String.raw`^(?:incident\.(?:(?:workspace|key)_storage|trackers|follow_up_tickets)|gateway\.audit_log|\w+\.(?:inbox|outbox|replica_\w+)` +
    String.raw`|webhook\.(?:windows|slots|events|feed_\w+|deleted_incidents|destinations))$`,
);

/** What they need passes by itself between two requests: a state of background work, a minute of a limit. */
const PASSING = ['retryIncidentProvisioning', 'verifyWebhook', 'testWebhook', 'redeliverWebhook'];

export interface Validated {
  /** Validates each request before it sends it, and compares the answers. */
  write: Write;
  /** How many requests of each operation were accepted and compared. */
  accepted: Map<string, number>;
  /** How many requests that are refused were compared. */
  refused: number;
  /** The first of each create with an Idempotency-Key. */
  keyed: Keyed[];
  /** The operations with two IDs in their path of which another workspace has tried both. */
  children: Set<string>;
  /** The IDs that writes have named or made, by the path in front of them. */
  named: Map<string, Set<string | number>>;
}

export function validating({ sql, client, ...others }: { sql: pg.Client; client: Client } & Others): Validated {
  const began = Date.now();
  const validated: Validated = {
    write,
    accepted: new Map(),
    refused: 0,
    keyed: [],
    children: new Set(),
    named: new Map(),
  };

  const name = (path: string, id: string | number) =>
    validated.named.set(path, (validated.named.get(path) ?? new Set()).add(id));

  function nameAll(template: string, ids: Ids): void {
    const [first = '', ...others] = template.split(/\{\w+\}/);
    let path = first;
    for (const [index, id] of ids.entries()) {
      name(path, id);
      path += `${id}${others[index]}`;
    }
  }

  /** What a write has made has an ID in paths below its own, or where resources of its kind are read. */
  function nameMade({ operation, path, method }: Request, body: unknown): void {
    const [resource] = Object.values((body ?? {}) as Record<string, { id?: string | number } | null>);
    const id = resource?.id ?? undefined;
    if (method !== 'POST' || id === undefined) return;
    for (const home of [`${path}/`, ...homesOf(operationOf(operation).reply?.schema)]) name(home, id);
  }

  async function write(operation: string, ids: Ids = [], body?: object, query?: Query): Promise<unknown> {
    const request = await requestOf(client, operation, { ids, body, query });
    const count = validated.accepted.get(operation) ?? 0;
    const refusals = count === 0 ? refusalsOf(request, others) : [];
    const { path, parameters } = operationOf(operation);
    nameAll(path, ids);
    // What is stored is compared only for the first, because it waits for all work that is left of earlier requests.
    const before = count === 0 ? await whatIsStored(sql) : undefined;
    const isKeyed = parameters.includes('Idempotency-Key');
    // Operations without a key ignore one, malformed or not.
    const ignored = isKeyed ? {} : { 'Idempotency-Key': 'a b' };
    const dry = await send(client.with(ignored), asValidation(request));
    const refused: Answer[] = [];
    for (const { by = client, ...refusal } of refusals) refused.push(await send(by, asValidation(refusal)));
    if (before !== undefined) expect([operation, await whatIsStored(sql)]).toEqual([operation, before]);
    for (const [index, refusal] of refusals.entries()) await compareRefusal(refusal, refused[index] as Answer);
    if (count === 0 && ids.length > 1) await compareChildren(request);
    const isFirstOfKey = count === 0 && isKeyed;
    const real = isFirstOfKey ? await sendOnce(client, request) : await send(client, request);
    if (isFirstOfKey) validated.keyed.push({ request, answer: real });

    const { assigned = [] } = CONTRACTS[operation]?.reply ?? {};
    const outcome = (answer: Answer, compared: unknown) => ({
      request,
      status: answer.status,
      revision: answer.headers.get('Service-Resource-Version'),
      body: compared,
    });
    expect(outcome(dry, comparable(dry, began))).toEqual(outcome(real, comparable(real, began, assigned, dry.body)));
    const marks = [dry, real].map(({ headers }) => headers.get('Validated-Only'));
    expect([operation, ...marks]).toEqual([operation, real.status < 300 ? 'true' : null, null]);
    if (real.status < 300) {
      validated.accepted.set(operation, count + 1);
      nameMade(request, real.body);
    }
    if (count === 0 && !PASSING.includes(operation)) {
      const again = await send(client, asValidation(request));
      if (again.status >= 400) await compareRefusal({ ...request, what: 'the same again' }, again);
    }
    return bodyOf(request, real);
  }

  /** Another workspace does not learn whether a resource below one of this workspace exists. */
  async function compareChildren(request: Request): Promise<void> {
    const unknown = { ...request, path: request.path.replace(/[^/]+(?=(?:\/[a-z-]+)?$)/, String(UNKNOWN_ID)) };
    expect(unknown.path).not.toBe(request.path);
    const answers = [request, unknown].map(async (each) => refusalOf(await send(others.stranger, each)));
    const [ofChild, ofNone] = await Promise.all(answers);
    expect({ request, isRefused: (ofChild?.status ?? 0) >= 400, ...ofChild }).toEqual({
      request,
      isRefused: true,
      ...ofNone,
    });
    validated.children.add(request.operation);
  }

  async function compareRefusal({ by = client, expected, ...refusal }: Refusal, dry: Answer): Promise<void> {
    if (expected !== undefined) expectRefused(refusal, dry, expected);
    expect({ refusal, isRefused: dry.status >= 400, ...refusalOf(dry) }).toEqual({
      ...{ refusal, isRefused: true, ...refusalOf(await send(by, refusal)) },
    });
    validated.refused += 1;
  }

  return validated;
}

export const asValidation = <Sent extends { path: string }>(request: Sent): Sent => ({
  ...request,
  path: `${request.path}${request.path.includes('?') ? '&' : '?'}validate_only=true`,
});

/** Makes every message that is published leave a row in a table of its own. */
export async function recordMessages(sql: pg.Client): Promise<void> {
  await sql.query(`create table public.published (type text);
    create function public.record_message() returns trigger language plpgsql security definer as
    $$ begin insert into public.published values (new.type); return new; end $$`);
  for (const { name, table } of await tablesIn(sql)) {
    if (!name.endsWith('.outbox')) continue;
    await sql.query(
      `create trigger record after insert on ${table} for each row execute function public.record_message()`,
    );
  }
}

async function tablesIn(sql: pg.Client): Promise<{ name: string; table: string }[]> {
  const { rows } = await sql.query<{ name: string; table: string }>(
    `select table_schema || '.' || table_name as name, format('%I.%I', table_schema, table_name) as table
     from information_schema.tables where table_schema = any($1) and table_type = 'BASE TABLE' order by 1`,
    [['public', ...APP_NAMES.map((app) => APPS[app].schema.name)]],
  );
  return rows;
}

const UNFINISHED = `select 1 from incident.provisioning_steps where status in ('pending', 'running')
  union all select 1 from webhook.deliveries where status = 'queued'
  union all select 1 from gateway.erasures where completed_at is null
  union all select 1 from webhook.deleted_incidents where due_at <= now()
  union all select 1 from incident.follow_up_tickets join incident.trackers on trackers.id = tracker_id
    where not is_paused and archived_at is null and last_failure is null and last_success_at is null`;

/** The number of the rows of each table, and a digest of them, after all work that earlier requests have left is done. */
async function whatIsStored(sql: pg.Client): Promise<Record<string, string>> {
  await eventually(async () => (await sql.query(UNFINISHED)).rows.length === 0, { what: 'the end of all work' });
  // Each request with a key stores when the key was last used, and the user last seen.
  const columns = (name: string) =>
    /^gateway\.(?:api_keys|users)$/.test(name)
      ? "(to_jsonb(stored) - array['last_used_at', 'last_seen_at'])::text"
      : 'stored::text';
  const digests = (await tablesIn(sql))
    .filter(({ name }) => !CHANGING.test(name))
    .map(
      ({ name, table }) =>
        `select '${name}' as name, count(*) || ' ' || md5(coalesce(string_agg(row, '' order by row), '')) as digest
         from (select md5(${columns(name)}) as row from ${table} as stored) as digests`,
    );
  const { rows } = await sql.query<{ name: string; digest: string }>(digests.join(' union all '));
  return Object.fromEntries(rows.map(({ name, digest }) => [name, digest]));
}

/**
 * The body, with null where the contract says that only the write assigns something, and without times of the test.
 * @param dry the body of the validation: it says of which items of lists the IDs are assigned
 */
function comparable({ text }: Answer, began: number, assigned: readonly string[] = [], dry?: unknown): unknown {
  if (text === '') return undefined;
  const copy = JSON.parse(text, (name, value: unknown) =>
    name === 'duration_seconds' || name === 'request_id' || isSince(value, began) ? 'now' : value,
  ) as Record<string, unknown>;
  for (const path of assigned) {
    const parts = path.split('.');
    const last = parts.pop() ?? '';
    const parent = parts.reduce<unknown>((value, part) => (value as Record<string, unknown> | undefined)?.[part], copy);
    if (parent !== undefined && Object.hasOwn(parent as object, last)) (parent as Record<string, unknown>)[last] = null;
  }
  setNullIds(copy, dry);
  return copy;
}

/** Sets the IDs of items of lists to null that are null in the other body. */
function setNullIds(body: unknown, other: unknown, isItem = false): void {
  if (typeof body !== 'object' || body === null || typeof other !== 'object' || other === null) return;
  const [target, others] = [body as Record<string, unknown>, other as Record<string, unknown>];
  for (const [name, value] of Object.entries(target)) {
    if (isItem && /(^|_)id$|^incident$/.test(name) && others[name] === null) target[name] = null;
    else setNullIds(value, others[name], Array.isArray(body));
  }
}

const isSince = (value: unknown, began: number) =>
  typeof value === 'string' &&
  /^20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/.test(value) &&
  Math.abs(Date.parse(value) - began) < 86_400_000;

/** Without what differs between two requests. */
function refusalOf({ status, headers, text }: Answer) {
  const { request_id: _, ...body } = JSON.parse(text) as Record<string, unknown>;
  return {
    status,
    body: JSON.stringify(body),
    headers: ['Content-Type', 'Allow', 'Validated-Only'].map((name) => headers.get(name)),
  };
}

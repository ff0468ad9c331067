import { expect } from '@jest/globals';
import { ERROR_STATUS, type ErrorCode } from '@tocsin/http';
import type { Answer, Client } from '@tocsin/testing';
import { CONTRACTS } from '../contract-schemas.ts';
import { NO_FILTERS } from './lists.ts';
import { type Operation, OPERATIONS, operationOf, type Request, REVISION } from './operations.ts';

/** What every such request refuses. */
export interface Refusal extends Omit<Request, 'body'> {
  what: string;
  /** Default: the client of the write. */
  by?: Client;
  body: unknown;
  /** Undefined, if it differs. */
  expected?: readonly [code: ErrorCode, field?: string | undefined];
}

export interface Others {
  /** A client with a key that may only read incidents. */
  reader: Client;
  /** An owner of another workspace. */
  stranger: Client;
}

export const UNKNOWN_ID = 987_654_321;
/** IDs of other systems, which may be unknown. */
const FREE = ['external_id', 'slack_channel_id'];
/** Keys of the configuration, which must exist. */
const KEYS = ['severity', 'status', 'tier'];

export function expectRefused(request: object, { status, body }: Answer, [code, field]: Required<Refusal>['expected']) {
  expect({ request, status, code: body.code, field: body.field }).toEqual({
    ...{ request, status: ERROR_STATUS[code], code, field },
  });
}

/** They refuse such a number of an item as the result of that item. */
const BY_ITEM = ['bulkIncidents', 'importIncidents'];

export function refusalsOf(request: Request, { reader, stranger }: Others): Refusal[] {
  const { operation, path, headers, body = {} } = request;
  const { parameters, properties, isStrict, method, path: template, pathIds } = operationOf(operation);
  const { bodyFault = 'invalid_request' } = CONTRACTS[operation] ?? {};
  const refusal = (what: string, change: Partial<Refusal>, ...expected: [ErrorCode, string?]): Refusal => ({
    ...{ ...request, ...change, what, expected },
  });
  const withHeader = (name: string, value: string) => ({ headers: { ...headers, [name]: value } });
  const at = (id: string | number) =>
    path.slice(0, template.indexOf('{')) + path.slice(template.indexOf('{')).replace(/^[^/]+/, String(id));
  const names = Object.keys(properties);
  const references = names.filter((name) => name.endsWith('_id') && !FREE.includes(name));
  const keys = /^(?:create|update)(?:Incident|Service)$/.test(operation)
    ? names.filter((name) => KEYS.includes(name))
    : [];
  const [id] = pathIds;
  const isFile = body instanceof Uint8Array;
  return [
    ...(!isFile && (isStrict || method === 'DELETE' || request.body === undefined)
      ? [refusal('an unknown property', { body: { ...body, unexpected: 1 } }, 'unknown_field', 'unexpected')]
      : []),
    isFile
      ? refusal('a body that is no picture', { body: '[]' }, 'invalid_request', 'body')
      : refusal('a body that is no object', { body: '[]' }, 'invalid_request'),
    ...(isFile || BY_ITEM.includes(operation)
      ? []
      : withMoreDigits(body).map((text) => ({ ...request, what: 'a number that would be rounded', body: text }))),
    refusal('a key without the scope', { by: reader }, 'missing_scope'),
    refusal(
      'an unknown parameter',
      { path: `${path}${path.includes('?') ? '&' : '?'}unexpected=1` },
      'invalid_request',
      'unexpected',
    ),
    ...(parameters.includes(REVISION)
      ? [
          refusal('no revision', { headers: {} }, 'precondition_required', REVISION),
          refusal('a malformed revision', withHeader(REVISION, '01'), 'invalid_precondition', REVISION),
          refusal('another revision', withHeader(REVISION, '999999'), 'precondition_failed', REVISION),
        ]
      : []),
    ...(names.includes('expected_revision')
      ? [
          refusal(
            'another expected revision',
            { body: { ...body, expected_revision: 999_999 } },
            ...(['precondition_failed', 'expected_revision'] as const),
          ),
        ]
      : []),
    ...(parameters.includes('Idempotency-Key')
      ? [refusal('a malformed key', withHeader('Idempotency-Key', 'a b'), 'invalid_idempotency_key', 'Idempotency-Key')]
      : []),
    ...(id === undefined
      ? []
      : [
          refusal('another resource', { path: at(UNKNOWN_ID) }, 'not_found'),
          refusal('the resource of another workspace', { by: stranger }, 'not_found'),
        ]),
    ...(id?.isNumber === true ? [refusal('a malformed ID', { path: at('01') }, 'invalid_request', id.name)] : []),
    ...references.map((name) =>
      refusal(`an unknown ${name}`, { body: { ...body, [name]: UNKNOWN_ID } }, bodyFault, name),
    ),
    ...keys.map((name) => refusal(`an unknown ${name}`, { body: { ...body, [name]: 'nonsense' } }, bodyFault, name)),
  ];
}

const NUMBER = '<number>';

/** The body with more digits of its first number than a double has; rounded, it would be the body itself. */
function withMoreDigits(body: object): string[] {
  let number: number | undefined;
  const text = JSON.stringify(body, (_, value: unknown) => {
    if (number !== undefined || typeof value !== 'number' || !Number.isSafeInteger(value) || value === 0) return value;
    number = value;
    return NUMBER;
  });
  return number === undefined ? [] : [text.replace(`"${NUMBER}"`, `${number}.000000000000000001`)];
}

/** Parameters that must be keys of the configuration. */
const CONFIGURED = ['status', 'severity', 'tier', 'service_tier', 'status_scope'];

function* wrongValues({ name, schema, most }: Operation['query'][number]): Generator<string> {
  const { type, enum: values, format, minLength = 0, maxLength, minimum, maximum } = schema;
  if (type !== 'string' || values !== undefined || format === 'date-time' || CONFIGURED.includes(name))
    yield 'nonsense';
  if (type !== 'string' || minLength > 0) yield '';
  if (maxLength !== undefined) yield 'x'.repeat(maxLength + 1);
  if (type === 'integer') yield '1.5';
  if (minimum !== undefined) yield String(minimum - 1);
  if (maximum !== undefined && maximum < 2 ** 53 - 1) yield String(maximum + 1);
  if (format === 'date-time') yield* ['2026-11-20', '2026-02-30T00:00:00Z', '2026-11-20T09:00:00'];
  if (most < 1_000) yield Array.from({ length: most + 1 }, () => '1').join(`&${name}=`);
}

const idsIn = ({ body }: Answer): unknown[] =>
  Object.values((body ?? {}) as object).flatMap((rows) =>
    Array.isArray(rows) ? rows.flatMap(({ id }: { id?: unknown }) => (id === undefined ? [] : [id])) : [],
  );

/**
 * Checks what each read refuses, and that a stranger reads nothing of the workspace. Returns the numbers of reads and of
 * lists that have cursors.
 * @param ids one that exists, by the path in front of it
 */
export async function checkReads({
  client,
  stranger,
  ids,
}: {
  client: Client;
  stranger: Client;
  ids: ReadonlyMap<string, string | number>;
}): Promise<{ reads: number; lists: number }> {
  const refuses = async (by: Client, path: string, code: ErrorCode, field?: string) =>
    expectRefused({ path }, await by.get(path), [code, field]);
  const reads = Object.values(OPERATIONS).filter(({ method }) => method === 'GET');
  const lists: { path: string; name: string; cursor: string; filter: string | undefined; isOfWorkspace: boolean }[] =
    [];
  for (const {
    path: template,
    pathIds: [id],
    parameters,
    query,
    required,
  } of reads) {
    const [prefix = ''] = template.split('{');
    /** The first of what is below another resource. */
    const at = (value: unknown) => template.replace(/\{\w+\}/, String(value)).replaceAll(/\{\w+\}/g, '1');
    /** The path with the query that it requires, except a parameter, and what is added. */
    const withQuery = (except: string, ...added: string[]) => {
      const given = Object.entries(required).filter(([name]) => name !== except);
      const search = [...given.map((each) => new URLSearchParams([each]).toString()), ...added].join('&');
      return at(ids.get(prefix)) + (search === '' ? '' : `?${search}`);
    };
    const path = withQuery('');
    const answer = await client.get(path);
    expect([path, answer.status]).toEqual([path, 200]);
    await refuses(client, withQuery('', 'unexpected=1'), 'invalid_request', 'unexpected');
    for (const parameter of query) {
      for (const value of wrongValues(parameter)) {
        const wrong = withQuery(parameter.name, `${parameter.name}=${value}`);
        await refuses(client, wrong, 'invalid_request', parameter.name);
      }
    }
    for (const name of Object.keys(required)) await refuses(client, withQuery(name), 'invalid_request', name);
    if (id !== undefined) {
      await refuses(stranger, path, 'not_found');
      await refuses(client, at(id.name === 'reference' ? `INC-${UNKNOWN_ID}` : UNKNOWN_ID), 'not_found');
      const malformed = id.isNumber ? ['0', '01', '-1', '1.5', 'x', '1e3'] : [];
      for (const value of malformed) await refuses(client, at(value), 'invalid_request', id.name);
    } else {
      const seen = idsIn(await stranger.get(path));
      expect([path, idsIn(answer).filter((each) => seen.includes(each))]).toEqual([path, []]);
    }
    const name = ['cursor', 'after'].find((parameter) => parameters.includes(parameter));
    if (!parameters.includes('limit') || name === undefined) continue;
    for (const cursor of ['', '%20', 'x', 'AAAA', 'a'.repeat(4_097)])
      await refuses(client, `${path}?${name}=${cursor}`, 'invalid_request', name);
    const cursor = (await client.get(`${path}?limit=1`)).body.pagination.next_cursor as string | undefined;
    const filter = query.find(
      (each) => !NO_FILTERS.test(each.name) && (each.schema.enum !== undefined || each.schema.type === 'boolean'),
    );
    const filtered = filter && `${filter.name}=${(filter.schema.enum as string[] | undefined)?.at(-1) ?? 'true'}`;
    if (cursor !== undefined) lists.push({ path, name, cursor, filter: filtered, isOfWorkspace: id === undefined });
  }
  for (const { path, name, cursor, filter, isOfWorkspace } of lists) {
    const changed = (cursor.startsWith('A') ? 'B' : 'A') + cursor.slice(1);
    for (const wrong of [changed, `${cursor}AA`, cursor.slice(0, -2), ...lists.map((list) => list.cursor)])
      if (wrong !== cursor) await refuses(client, `${path}?${name}=${wrong}`, 'invalid_request', name);
    // Those of the event feed are valid with any filter.
    if (filter !== undefined && name === 'cursor')
      await refuses(client, `${path}?${filter}&${name}=${cursor}`, 'invalid_request', name);
    if (isOfWorkspace) await refuses(stranger, `${path}?${name}=${cursor}`, 'invalid_request', name);
    expect((await client.get(`${path}?limit=7&${name}=${cursor}`)).status).toBe(200);
  }
  return { reads: reads.length, lists: lists.length };
}

import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from '@jest/globals';
import type { EventData as ContractData, EventType as ContractType } from '@tocsin/schemas';
import fc from '@tocsin/testing/fuzz';
import {
  EVENT_TYPES,
  type EventData,
  isLargeValue,
  MAX_EVENT_BYTES,
  type ParsedEvent,
  parseEvent,
} from '../src/index.ts';

// Compiles only if the generated types accept everything that the services publish.
const published = {} as { [Type in ContractType]: ContractData<Type> };
export const accepted: { [Type in ContractType]: EventData[Type] } = published;

const FOLDER = path.join(import.meta.dirname, '../../../docs/events/examples');
type Message = ReturnType<typeof JSON.parse>;

/** The schemas that the package contains. */
const SCHEMAS: Message = JSON.parse(readFileSync(path.join(import.meta.dirname, '../schemas.json'), 'utf8'));

const example = (type: string): Message => JSON.parse(readFileSync(path.join(FOLDER, `${type}.json`), 'utf8'));
const bytesOf = (message: unknown) => Buffer.from(JSON.stringify(message));
const parse = (message: unknown): ParsedEvent => parseEvent(bytesOf(message));
const ALL = readdirSync(FOLDER).map((file) => path.basename(file, '.json'));

test('knows every type that has an example', () => {
  expect([...EVENT_TYPES].sort()).toEqual(ALL.sort());
});

describe.each(ALL)('%s', (type) => {
  test('is an event', () => {
    const message = example(type);
    expect(parse(message)).toEqual({ kind: 'event', event: message });
  });

  test('may have unknown members anywhere, and keeps them', () => {
    const message = withUnknownMembers(example(type));
    expect(parse(message)).toEqual({ kind: 'event', event: message });
  });

  test('is broken without any of the members of its data', () => {
    const message = example(type);
    const required: string[] = SCHEMAS.definitions[type].properties.data.required;
    expect(required.length).toBeGreaterThan(0);
    for (const name of required) {
      const { [name]: _, ...data } = message.data;
      expect(parse({ ...message, data })).toEqual({
        kind: 'broken',
        reason: 'invalid_data',
        detail: `data.${name}: required`,
        id: message.id,
        type,
      });
    }
  });

  test('is broken if its data is not an object', () => {
    for (const data of [null, [], 'text', 7]) {
      expect(parse({ ...example(type), data })).toMatchObject({ kind: 'broken', reason: 'invalid_data' });
    }
  });
});

describe('a message', () => {
  const created = example('incident.created');

  test('of an unknown type is an envelope', () => {
    const message = { ...created, type: 'incident.exploded', data: [1, 2] };
    expect(parse(message)).toEqual({ kind: 'unknown_type', event: message });
  });

  test.each(['constructor', '__proto__', 'toString'])('of the type %s has an unknown type', (type) => {
    expect(parse({ ...created, type })).toMatchObject({ kind: 'unknown_type' });
  });

  test.each([2, 3, Number.MAX_SAFE_INTEGER])('with schema_version %d is newer, whatever else it has', (version) => {
    const { id, type } = created;
    expect(parse({ ...created, schema_version: version, workspace: 'another form' })).toEqual({
      kind: 'newer_version',
      schemaVersion: version,
      id,
      type,
    });
  });

  test.each([0, -1, 1.5, '2', null, 1e300])('with schema_version %j is broken', (version) => {
    expect(parse({ ...created, schema_version: version })).toMatchObject({
      kind: 'broken',
      reason: 'invalid_envelope',
      detail: expect.stringContaining('schema_version'),
    });
  });

  test.each(['id', 'type', 'occurred_at', 'workspace', 'request_id', 'data', 'schema_version'])(
    'without %s is broken',
    (name) => {
      const { [name]: _, ...message } = created;
      expect(parse(message)).toMatchObject({ kind: 'broken', reason: 'invalid_envelope', detail: `${name}: required` });
    },
  );

  test.each([
    ['an ID that is none', { id: 'seventeen' }],
    ['a time that is none', { occurred_at: 'yesterday' }],
    ['a day that does not exist', { occurred_at: '2026-02-30T00:00:00.000Z' }],
    ['a workspace without an ID', { workspace: { slug: 'acme', is_demo: false } }],
  ])('with %s is broken', (_, members) => {
    expect(parse({ ...created, ...members })).toMatchObject({ kind: 'broken', reason: 'invalid_envelope' });
  });

  test.each([
    ['nothing', ''],
    ['half of an object', '{"id":'],
    ['no JSON', 'incident'],
    ['no UTF-8', Buffer.from([34, 0xff, 34])],
  ])('with %s is broken', (_, content) => {
    expect(parseEvent(Buffer.from(content))).toMatchObject({ kind: 'broken', reason: 'not_json' });
  });

  test.each([null, [], 'text', 7, true, {}])('that is %j is broken', (message) => {
    expect(parse(message)).toMatchObject({ kind: 'broken', reason: 'invalid_envelope', id: undefined });
  });

  test('may have values of an enumeration that this version does not know', () => {
    const message = example('user.changed');
    message.data.user.role = 'auditor';
    expect(parse(message)).toMatchObject({ kind: 'event' });
  });

  test('is broken by a wrong value deep in its data, and the report does not contain the value', () => {
    const message = example('incident.created');
    message.data.incident.revision = 'secret';
    const parsed = parse(message);
    expect(parsed).toMatchObject({ kind: 'broken', detail: 'data.incident.revision: type' });
    expect(JSON.stringify(parsed)).not.toContain('secret');
  });

  test('is read up to the limit of bytes, and is broken beyond it', () => {
    const message = example('incident.created');
    const content = bytesOf(message);
    expect(parseEvent(content, { maxBytes: content.length })).toMatchObject({ kind: 'event' });
    expect(parseEvent(content, { maxBytes: content.length - 1 })).toMatchObject({
      kind: 'broken',
      reason: 'too_large',
    });
    message.data.incident.title = 'x'.repeat(MAX_EVENT_BYTES);
    expect(parse(message)).toMatchObject({ kind: 'broken', reason: 'too_large', id: undefined });
  });

  test('of a million nested arrays is read', () => {
    const text = JSON.stringify({ ...created, type: 'nested', data: 0 });
    const deep = text.replace('"data":0', `"data":${'['.repeat(1_000_000)}${']'.repeat(1_000_000)}`);
    expect(parseEvent(Buffer.from(deep))).toMatchObject({ kind: 'unknown_type' });
  });

  test('has a long ID or type only up to a limit in the report', () => {
    expect(parse({ ...created, id: 'x'.repeat(1_000_000) })).toMatchObject({ kind: 'broken', id: undefined });
  });

  test('of any form is read without an exception', () => {
    const values = fc.oneof(
      fc.jsonValue(),
      fc.constantFrom(...ALL).map((type) => ({ ...created, type })),
    );
    fc.assert(fc.property(values, (value) => typeof parse(value).kind === 'string'));
    fc.assert(fc.property(fc.uint8Array(), (bytes) => typeof parseEvent(bytes).kind === 'string'));
  });
});

test('recognises the digest of a large value', () => {
  const digest = `sha256:${'0'.repeat(64)}`;
  expect(isLargeValue({ digest, bytes: 5_000 })).toBe(true);
  for (const value of [null, 'text', { digest }, { digest: 'x', bytes: 1 }, { digest, bytes: 1, more: 1 }, []]) {
    expect(isLargeValue(value)).toBe(false);
  }
});

function withUnknownMembers(value: unknown): Message {
  const extend = (inner: unknown): unknown => {
    if (Array.isArray(inner)) return inner.map(extend);
    if (typeof inner !== 'object' || inner === null) return inner;
    return {
      // The members of `roles` are keys of a workspace.
      ...Object.fromEntries(
        Object.entries(inner).map(([name, member]) => [name, name === 'roles' ? member : extend(member)]),
      ),
      of_later: 1,
    };
  };
  return extend(value) as Message;
}

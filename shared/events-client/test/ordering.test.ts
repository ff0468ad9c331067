import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from '@jest/globals';
import {
  consume,
  type ConsumeOptions,
  EVENT_TYPES,
  positionOf,
  rememberInMemory,
  type TocsinEvent,
} from '../src/index.ts';
import { KeyedTasks } from '../src/keyed-tasks.ts';
import { matchesAny } from '../src/type-patterns.ts';

const FOLDER = path.join(import.meta.dirname, '../../../docs/events/examples');
const example = (type: string) => JSON.parse(readFileSync(path.join(FOLDER, `${type}.json`), 'utf8')) as TocsinEvent;

describe('the position of an event', () => {
  test('entries of the audit log have none: none of them replaces another one', () => {
    expect(positionOf(example('audit.recorded'))).toBeUndefined();
  });

  test.each(EVENT_TYPES.filter((type) => type !== 'audit.recorded'))('%s names its resource', (type) => {
    const position = positionOf(example(type));
    expect(position?.resource).toMatch(/^[a-z_-]+:\d+/);
    // Runs of investigations have no number that would order their messages, and nothing follows what is gone.
    if (['investigation.run.updated', 'incident.deleted', 'user.erased'].includes(type))
      expect(position?.revision).toBeUndefined();
    else expect(position?.revision).toBeGreaterThan(0);
  });

  test('orders the events of one incident', () => {
    const [created, updated, archived] = ['incident.created', 'incident.updated', 'incident.archived'].map((type) =>
      positionOf(example(type)),
    );
    expect([created, updated, archived].map((position) => position?.resource)).toEqual(Array(3).fill('incident:17'));
    expect(created!.revision).toBeLessThan(updated!.revision!);
    expect(updated!.revision).toBeLessThan(archived!.revision!);
  });
});

describe('patterns match types as a topic exchange does', () => {
  test.each([
    ['incident.created', 'incident.created', true],
    ['incident.created', 'incident.updated', false],
    ['incident.*', 'incident.created', true],
    ['incident.*', 'incident', false],
    ['investigation.*', 'investigation.run.updated', false],
    ['investigation.#', 'investigation.run.updated', true],
    ['incident.#', 'incident', true],
    ['#', 'investigation.run.updated', true],
    ['#.updated', 'investigation.run.updated', true],
    ['*.updated', 'investigation.run.updated', false],
    ['*.changed', 'custom-field.changed', true],
  ])('%s and %s: %s', (pattern, type, expected) => {
    expect(matchesAny([pattern], type)).toBe(expected);
  });
});

describe('what is remembered in memory', () => {
  const entry = (id: string, revision?: number) => ({
    id,
    type: 'incident.updated',
    resource: revision === undefined ? undefined : 'incident:1',
    revision,
  });
  const nothing = async () => undefined;

  test('makes a second event with the same ID a duplicate, unless the first has failed', async () => {
    const { once } = rememberInMemory();
    await expect(once(entry('a'), async () => Promise.reject(new Error('failed')))).rejects.toThrow('failed');
    expect(await once(entry('a'), nothing)).toBe('handled');
    expect(await once(entry('a'), nothing)).toBe('duplicate');
  });

  test('makes an older revision outdated, and an equal one not', async () => {
    const { once } = rememberInMemory();
    expect(await once(entry('a', 2), nothing)).toBe('handled');
    expect(await once(entry('b', 1), nothing)).toBe('outdated');
    expect(await once(entry('c', 2), nothing)).toBe('handled');
    expect(await once(entry('d', 3), nothing)).toBe('handled');
  });

  test('has a limit: the oldest is forgotten', async () => {
    const { once } = rememberInMemory({ max: 2 });
    for (const id of ['a', 'b', 'c']) await once(entry(id), nothing);
    expect(await once(entry('b'), nothing)).toBe('duplicate');
    expect(await once(entry('a'), nothing)).toBe('handled');
  });
});

describe('tasks', () => {
  test('with the same key never overlap, and others do', async () => {
    const tasks = new KeyedTasks(10);
    const log: string[] = [];
    const gates = new Map<string, () => void>();
    const add = (key: string, name: string) =>
      tasks.add({
        key,
        run: async () => {
          log.push(`start ${name}`);
          await new Promise<void>((resolve) => gates.set(name, resolve));
          log.push(`end ${name}`);
        },
      });
    add('a', 'a1');
    add('a', 'a2');
    add('b', 'b1');
    expect(log).toEqual(['start a1', 'start b1']);
    gates.get('a1')?.();
    await new Promise(setImmediate);
    expect(log).toEqual(['start a1', 'start b1', 'end a1', 'start a2']);
    gates.get('a2')?.();
    gates.get('b1')?.();
    await tasks.whenIdle();
    expect(tasks.size).toBe(0);
  });

  test('run at most as many as allowed at a time, and one while paused', async () => {
    const tasks = new KeyedTasks(2);
    let [running, most] = [0, 0];
    const add = (key: string) =>
      tasks.add({
        key,
        run: async () => {
          most = Math.max(most, (running += 1));
          await new Promise(setImmediate);
          running -= 1;
        },
      });
    for (const key of 'abcdef') add(key);
    await tasks.whenIdle();
    expect(most).toBe(2);
    most = 0;
    tasks.setPaused(true);
    for (const key of 'abcdef') add(key);
    await tasks.whenIdle();
    expect(most).toBe(1);
  });
});

describe('options that are not valid', () => {
  const valid = {
    connection: 'amqp://localhost',
    queue: 'billing',
    types: ['#'],
    handle: () => undefined,
    onError: () => undefined,
  } as const;
  test.each<[string, Partial<Record<keyof ConsumeOptions<'#'>, unknown>>]>([
    ['connection', { connection: 'http://ana:secret@localhost' }],
    ['connection', { connection: 'ana:secret' }],
    ['connection', { connection: [] }],
    ['connection', { connection: ['amqp://localhost', 'ana:secret'] }],
    ['queue', { queue: '' }],
    ['queue', { queue: 'amq.billing' }],
    ['queue', { queue: 'x'.repeat(251) }],
    ['queue', { queue: 'tocsin.webhook.feed' }],
    ['queue', { queue: 'acme.billing', namespace: 'acme' }],
    ['types', { types: [] }],
    ['types', { types: ['incident.creatd'] }],
    ['types', { types: ['investigation.*'] }],
    ['concurrency', { concurrency: 0 }],
    ['prefetch', { prefetch: 5, concurrency: 6 }],
    ['deliveryLimit', { deliveryLimit: 1.5 }],
    ['retryDelays', { retryDelays: [] }],
    ['retryDelays', { retryDelays: [-1] }],
    ['handleTimeout', { handleTimeout: Infinity }],
    ['giveUpTimeout', { giveUpTimeout: 0 }],
    ['stopTimeout', { stopTimeout: Number.NaN }],
    ['maxBytes', { maxBytes: 0 }],
    ['expireAfter', { expireAfter: 10 }],
  ])('%s is named: %j', (name, options) => {
    const start = () => consume({ ...valid, ...options } as ConsumeOptions<'#'>);
    expect(start).toThrow(TypeError);
    expect(start).toThrow(new RegExp(`^${name}\\b`));
    expect(start).not.toThrow(/secret/);
  });
});

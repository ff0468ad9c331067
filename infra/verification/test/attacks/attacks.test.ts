import { expect, test } from '@jest/globals';
import { APP_NAMES } from '../../../installation/apps.ts';
import type { Attack } from '../../attacks/attack.ts';
import { longestDelay } from '../../attacks/measure.ts';
import { readOptions } from '../../attacks/options.ts';
import { ATTACKS } from '../../attacks/registry.ts';
import { judge, type Observed } from '../../attacks/rules.ts';

const attack: Attack = { name: 'example', what: 'an example', expects: [200, 503], run: async () => undefined };

const quiet = { requests: 30, errors: {}, p50: 10, p99: 20, lag: 40, eventLoop: 20 };
const memory = Object.fromEntries(APP_NAMES.map((name) => [name, 150])) as Observed['measurement']['memory'];
const attacker = {
  requestCount: 3,
  outcomes: { 200: 1, 429: 1, 503: 1 },
  examples: { 500: 'GET /path: a body', 503: 'GET /path: not now' },
  violations: [],
  skipped: undefined,
  error: undefined,
};
const harmless: Observed = {
  before: quiet,
  during: quiet,
  after: quiet,
  attacker,
  measurement: { memory, childMemory: 0, eventLoop: { incident: 20 } },
  died: [],
  leftovers: [],
};

test('an attack that stops the recording of events may delay them', () => {
  const feed = { milliseconds: 60_000, reason: 'nothing records them' };
  expect(judge({ ...attack, feed }, { ...harmless, during: { ...quiet, lag: 60_000 } })).toEqual([]);
});

test('an attack that nobody notices passes', () => {
  expect(judge(attack, harmless)).toEqual([]);
});

test('a 503 that the attack does not expect fails by a rule of its own, with the answer', () => {
  const message = '1 of its requests end with 503, the first GET /path: not now';
  expect(judge({ ...attack, expects: [200] }, harmless)).toEqual([{ rule: 'unavailable', message, timed: false }]);
});

test('on a busy machine an event loop may be delayed by twice what the victims have to wait', () => {
  const during = { ...quiet, eventLoop: 60 };
  const blocked = (gateway: number) =>
    judge(attack, { ...harmless, during, measurement: { memory, childMemory: 0, eventLoop: { gateway } } });
  expect(blocked(120)).toEqual([]);
  expect(blocked(121)).toHaveLength(1);
});

test.each<[string, Partial<Observed>, string]>([
  ['a refused victim', { during: { ...quiet, errors: { 'list 503': 2 } } }, 'victims: 2 × list 503'],
  ['a victim afterwards', { after: { ...quiet, errors: { 'get 500': 1 } } }, 'victims: afterwards 1 × get 500'],
  ['no victims', { during: { ...quiet, requests: 0 } }, 'suite: the victims made no request'],
  ['a slow victim', { during: { ...quiet, p99: 251 } }, "latency: the victims' p99 is 251 ms, more than 250 ms"],
  [
    'a victim slower than on a slow machine',
    { before: { ...quiet, p99: 100 }, during: { ...quiet, p99: 501 } },
    "latency: the victims' p99 is 501 ms, more than 500 ms",
  ],
  [
    'a late event',
    { during: { ...quiet, lag: 1_001 } },
    "feed: the victims' events are 1001 ms late, more than 1000 ms",
  ],
  [
    'memory',
    { measurement: { memory: { ...memory, webhook: 513 }, childMemory: 0, eventLoop: {} } },
    'memory: webhook uses 513 MiB, more than 512 MiB',
  ],
  [
    'the memory of a child',
    { measurement: { memory, childMemory: 769, eventLoop: {} } },
    'memory: a child uses 769 MiB, more than 768 MiB',
  ],
  [
    'a blocked event loop',
    { measurement: { memory, childMemory: 0, eventLoop: { catalog: 101 } } },
    'event-loop: catalog blocks its event loop for 101 ms',
  ],
  [
    'an internal error',
    { attacker: { ...attacker, outcomes: { 500: 1 } } },
    'attacker: 1 of its requests end with 500, the first GET /path: a body',
  ],
  [
    'an unexpected end',
    { attacker: { ...attacker, outcomes: { closed: 2 } } },
    'attacker: 2 of its requests end with closed',
  ],
  [
    'a violation that the attack found',
    { attacker: { ...attacker, violations: [{ what: 'two incidents', timed: false }] } },
    'checks: two incidents',
  ],
  ['a process that ended', { died: ['gateway'] }, 'processes: gateway ended'],
  [
    'what is left',
    { leftovers: [{ what: '2 statements still run', timed: false }] },
    'recovery: 2 statements still run',
  ],
  ['an error of the suite', { attacker: { ...attacker, error: 'cannot prepare' } }, 'suite: cannot prepare'],
])('fails for %s', (_what, change, failure) => {
  expect(judge(attack, { ...harmless, ...change }).map(({ rule, message }) => `${rule}: ${message}`)).toEqual([
    failure,
  ]);
});

test('only rules about time depend on the machine', () => {
  const everything: Observed = {
    ...harmless,
    during: { ...quiet, errors: { 'list 503': 1 }, p99: 1_000, lag: 1_001 },
    measurement: { memory: { ...memory, gateway: 600 }, childMemory: 0, eventLoop: { gateway: 200 } },
  };
  const timed = judge(attack, everything).map((failure) => [failure.rule, failure.timed]);
  expect(timed).toEqual([
    ['victims', false],
    ['latency', true],
    ['feed', true],
    ['memory', false],
    ['event-loop', true],
  ]);
});

test('reads the longest delay of an event loop in any form of the metric', () => {
  const other = 'tocsin_event_loop_delay_seconds_count 5\n# HELP tocsin_event_loop_delay_seconds seconds\nother 7\n';
  expect(longestDelay(other)).toBeUndefined();
  expect(longestDelay(`${other}tocsin_event_loop_delay_seconds{app="incident"} 0.025\n`)).toBe(25);
  const several = 'tocsin_event_loop_delay_seconds{q="0.5"} 0.01\ntocsin_event_loop_delay_seconds{q="1"} 2e-1\n';
  expect(longestDelay(several)).toBe(200);
});

test('attacks have names of their own, and the options select them', () => {
  expect(new Set(ATTACKS.map(({ name }) => name)).size).toBe(ATTACKS.length);
  expect(readOptions([]).attacks).toBe(ATTACKS);
  expect(readOptions(['--only', 'large-pages', '--seconds', '5']).attacks.map(({ name }) => name)).toEqual([
    'large-pages',
  ]);
  expect(readOptions(['--short', '--every', '100']).timing).toMatchObject({ every: 100 });
  expect(readOptions([]).modes).toEqual(['services', 'embedded']);
  expect(readOptions(['--mode', 'embedded']).modes).toEqual(['embedded']);
  expect(() => readOptions(['--mode', 'none'])).toThrow('--mode: must be services or embedded');
  expect(() => readOptions(['--only', 'none'])).toThrow(/^there is no attack none: announced-bodies, /);
  expect(() => readOptions(['--seconds', '0'])).toThrow('--seconds: must be a positive number');
});

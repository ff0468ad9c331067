import { APP_NAMES } from '../../installation/apps.ts';
import type { Attack, AttackResult } from './attack.ts';
import type { Measurement } from './measure.ts';
import type { VictimSummary } from './messages.ts';
import type { Leftover } from './recovery.ts';

/** Everything that was measured in one attack. */
export interface Observed {
  before: VictimSummary;
  during: VictimSummary;
  /** After the recovery. */
  after: VictimSummary;
  attacker: AttackResult;
  measurement: Measurement;
  /** Processes that ended during the attack. */
  died: readonly string[];
  /** What was not as before when the time for the recovery was over. */
  leftovers: readonly Leftover[];
}

type RuleName =
  | 'suite'
  | 'victims'
  | 'latency'
  | 'feed'
  | 'memory'
  | 'event-loop'
  | 'attacker'
  | 'unavailable'
  | 'checks'
  | 'processes'
  | 'recovery';

export interface Failure {
  rule: RuleName;
  message: string;
  /** Depends on the speed of the machine: no test asserts it. */
  timed: boolean;
}

/** Milliseconds. A victim may also take five times as long as before. */
const LATENCY = 250;
const SLOWDOWN = 5;
/** Milliseconds from the response of a victim's create to its event in the feed, whatever others queue. */
const LAG = 1_000;
/** MiB of resident memory. */
const MEMORY = 512;
/** The process that encodes pictures ends above 512 MiB, and looks twenty times in a second. */
const CHILD_MEMORY = 768;
/**
 * Milliseconds. The goal is 20, but attacker, victims, servers and all apps share the processors of one machine here. So
 * it may also be twice the delay of the victims' process.
 */
const EVENT_LOOP = 100;
const BUSY_MACHINE = 2;
const ALWAYS_ALLOWED = '429';
const UNAVAILABLE = '503';

export function judge(attack: Attack, observed: Observed): Failure[] {
  const { before, during, after, attacker, measurement, died, leftovers } = observed;
  const failures: Failure[] = [];
  const fail = (rule: RuleName, message: string, timed = false) => void failures.push({ rule, message, timed });

  if (attacker.error !== undefined) fail('suite', attacker.error);
  for (const { what, timed } of attacker.violations) fail('checks', what, timed);
  for (const [error, count] of Object.entries(during.errors)) fail('victims', `${count} × ${error}`);
  for (const [error, count] of Object.entries(after.errors)) fail('victims', `afterwards ${count} × ${error}`);
  if (during.requests === 0) fail('suite', 'the victims made no request');
  const limit = Math.max(LATENCY, SLOWDOWN * before.p99, attack.deadline?.milliseconds ?? 0);
  if (during.p99 > limit) {
    fail('latency', `the victims' p99 is ${Math.round(during.p99)} ms, more than ${Math.round(limit)} ms`, true);
  }
  const maxLag = Math.max(LAG, attack.feed?.milliseconds ?? 0);
  if (during.lag !== undefined && during.lag > maxLag) {
    fail('feed', `the victims' events are ${Math.round(during.lag)} ms late, more than ${maxLag} ms`, true);
  }
  for (const app of APP_NAMES) {
    const memory = measurement.memory[app];
    if (memory > MEMORY) fail('memory', `${app} uses ${Math.round(memory)} MiB, more than ${MEMORY} MiB`);
    const delay = attack.stops === app ? 0 : (measurement.eventLoop[app] ?? 0);
    if (delay > Math.max(EVENT_LOOP, BUSY_MACHINE * during.eventLoop))
      fail('event-loop', `${app} blocks its event loop for ${Math.round(delay)} ms`, true);
  }
  if (measurement.childMemory > CHILD_MEMORY)
    fail('memory', `a child uses ${Math.round(measurement.childMemory)} MiB, more than ${CHILD_MEMORY} MiB`);
  const expected = new Set([...attack.expects.map(String), ALWAYS_ALLOWED]);
  for (const [outcome, count] of Object.entries(attacker.outcomes)) {
    if (expected.has(outcome)) continue;
    const example = attacker.examples[outcome];
    const message = `${count} of its requests end with ${outcome}${example === undefined ? '' : `, the first ${example}`}`;
    fail(outcome === UNAVAILABLE ? 'unavailable' : 'attacker', message, outcome === 'silent');
  }
  for (const app of died) fail('processes', `${app} ended`);
  for (const { what, timed } of leftovers) fail('recovery', what, timed);
  return failures;
}

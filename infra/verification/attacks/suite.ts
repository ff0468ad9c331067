import type { ChildProcess } from 'node:child_process';
import type { Mode } from '../systems/local-harness.ts';
import { setTimeout as delay } from 'node:timers/promises';
import { BUSY_MACHINE } from '@tocsin/testing';
import type { Attack, AttackResult } from './attack.ts';
import { forkAttacker, startAttacker } from './attacker-process.ts';
import { createVictim } from './create-victim.ts';
import { startMeasuring } from './measure.ts';
import type { VictimSummary } from './messages.ts';
import { connectionsOf } from '../systems/processes.ts';
import { awaitRecovery } from './recovery.ts';
import { INCIDENT_ROUTES, type Route } from './routes.ts';
import { type Failure, judge, type Observed } from './rules.ts';
import { startTarget, type Target } from '../systems/target.ts';
import { startVictims, type Victims } from './victims-process.ts';

/** Milliseconds. */
export interface Timing {
  /** Between two requests of one kind that the victims make. */
  every: number;
  /** The victims alone, before each attack. */
  before: number;
  /** An attack sends for at most this time. */
  attack: number;
  /** Its last responses may take this time. */
  grace: number;
  /** The victims are watched for at least this time from the beginning of an attack. */
  during: number;
  /** Everything must be as before within this time. */
  recovery: number;
  /** The victims alone, after the recovery. */
  after: number;
}

/** Each victim is a workspace of its own, so that their limits leave room for a fast pace. */
const VICTIMS = 3;
/** Code that has never run is slow. */
const WARM_UP = 3_000;

/** The outcome of one attack. */
export interface Row extends Observed {
  attack: string;
  mode: Mode;
  what: string;
  failures: Failure[];
}

/**
 * Starts a system, runs the attacks one after the other, and stops the system.
 * @param report receives each row as soon as it is complete
 */
export async function runSuite(options: {
  mode: Mode;
  attacks: readonly Attack[];
  timing: Timing;
  isShort: boolean;
  report: (row: Row) => void;
  /** Ends the suite after the current attack. */
  signal: AbortSignal;
}): Promise<Row[]> {
  const { mode, attacks, timing, isShort, report, signal } = options;
  const target = await startTarget(mode, isShort ? BUSY_MACHINE : {});
  let victims: Victims | undefined;
  // It takes as long to start as a short attack, whose times nobody judges: the next one starts during an attack.
  let next = isShort ? forkAttacker() : undefined;
  try {
    const created = await Promise.all(Array.from({ length: VICTIMS }, async () => createVictim(target)));
    victims = startVictims({ gateway: target.gateway, victims: created, every: timing.every });
    await watch(victims, INCIDENT_ROUTES, WARM_UP);
    const rows: Row[] = [];
    for (const attack of attacks) {
      if (signal.aborted) break;
      const child = next ?? forkAttacker();
      next = isShort && attack !== attacks.at(-1) ? forkAttacker() : undefined;
      const row = await runAttack(attack, { child, target, victims, timing, isShort });
      rows.push(row);
      report(row);
      if (row.died.length > 0 || row.leftovers.length > 0) await target.restart();
    }
    return rows;
  } finally {
    next?.kill('SIGKILL');
    victims?.stop();
    await target.stop();
  }
}

async function watch(victims: Victims, routes: readonly Route[], milliseconds: number): Promise<VictimSummary> {
  const end = victims.observe(routes);
  await delay(milliseconds);
  return end();
}

async function runAttack(
  attack: Attack,
  options: { child: ChildProcess; target: Target; victims: Victims; timing: Timing; isShort: boolean },
): Promise<Row> {
  const { child, target, victims, timing, isShort } = options;
  const routes = attack.victims ?? INCIDENT_ROUTES;
  const attacker = startAttacker({ child, target, attack: attack.name, isShort });
  try {
    const endedEarly = await attacker.prepared();
    const before = await watch(victims, routes, timing.before);
    const processes = await target.processes();
    const connections = await connectionsOf(target.gateway.port);
    const stopMeasuring = await startMeasuring(target, processes);

    const endVictims = victims.observe(routes);
    const minimum = delay(timing.during);
    const result = endedEarly ?? (await attacker.begin({ time: timing.attack, grace: timing.grace }));
    await minimum;
    await attacker.kill();
    target.faults.heal();
    const during = await endVictims();
    const measurement = await stopMeasuring();

    const leftovers = await awaitRecovery(target, connections, timing.recovery);
    const after = await watch(victims, routes, timing.after);
    const running = await target.processes();
    const died = [...processes.keys()].filter((name) => running.get(name) !== processes.get(name));
    const observed = { before, during, after, attacker: result satisfies AttackResult, measurement, died, leftovers };
    const { name, what } = attack;
    return { attack: name, mode: target.mode, what, ...observed, failures: judge(attack, observed) };
  } finally {
    await attacker.kill();
    target.faults.heal();
  }
}

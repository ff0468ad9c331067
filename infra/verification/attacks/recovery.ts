import { setTimeout as delay } from 'node:timers/promises';
import type { AppName } from '../../installation/apps.ts';
import { childrenOf, connectionsOf, memoryOf } from '../systems/processes.ts';
import type { Target } from '../systems/target.ts';

/**
 * MiB that a process may still use after an attack. V8 and malloc return memory to the system late; what an attack would
 * add each time exceeds the limit in the next lines of the table.
 */
const MEMORY_AFTER = 448;
/** New connections that the victims may have at the gateway at any moment. */
const CONNECTIONS = 20;
/** Milliseconds; a statement that runs longer is left over from the attack. */
const STATEMENT_TIME = 2_000;
const INTERVAL = 200;
const READY_TIMEOUT = 2_000;

/** Something that is not as before. */
export interface Leftover {
  what: string;
  /** Depends on when V8 and malloc return memory to the system. */
  timed: boolean;
}

/** Waits until everything is as it was before an attack. Returns what is not, after `within` milliseconds. */
export async function awaitRecovery(target: Target, connectionsBefore: number, within: number): Promise<Leftover[]> {
  const deadline = Date.now() + within;
  for (;;) {
    const problems = await findProblems(target, connectionsBefore);
    if (problems.length === 0 || Date.now() > deadline) return problems;
    await delay(INTERVAL);
  }
}

async function findProblems(target: Target, connectionsBefore: number): Promise<Leftover[]> {
  const memory: string[] = [];
  const problems: string[] = [];
  const processes = [...(await target.processes())];
  for (const [name, pid] of processes) {
    for (const each of [pid, ...(await childrenOf(pid))]) {
      const { now = 0 } = (await memoryOf(each)) ?? {};
      if (now > MEMORY_AFTER) memory.push(`${name}${each === pid ? '' : "'s child"} still uses ${Math.round(now)} MiB`);
    }
  }
  const notReady = await Promise.all(processes.map(async ([name]) => readinessProblem(target, name)));
  problems.push(...notReady.filter((problem) => problem !== undefined));
  const connections = await connectionsOf(target.gateway.port);
  if (connections > connectionsBefore + CONNECTIONS) {
    problems.push(`the gateway still has ${connections} connections, ${connectionsBefore} before`);
  }
  const { rows } = await target.sql.query<{ count: number }>(
    `select count(*)::integer as count from pg_stat_activity
     where datname = current_database() and state <> 'idle' and pid <> pg_backend_pid()
       and state_change < now() - $1 * interval '1 millisecond'`,
    [STATEMENT_TIME],
  );
  if ((rows[0]?.count ?? 0) > 0) problems.push(`${rows[0]?.count} statements still run`);
  return [...memory.map((what) => ({ what, timed: true })), ...problems.map((what) => ({ what, timed: false }))];
}

interface Readiness {
  status: string;
  dependencies: Record<string, string>;
}

async function readinessProblem(target: Target, app: AppName): Promise<string | undefined> {
  try {
    const response = await fetch(`${target.internalUrl(app)}/readyz`, { signal: AbortSignal.timeout(READY_TIMEOUT) });
    const { status, dependencies } = (await response.json()) as Readiness;
    const down = Object.keys(dependencies).filter((name) => dependencies[name] !== 'up');
    return response.ok && down.length === 0 ? undefined : `${app} is ${status}; not up: ${down.join(', ')}`;
  } catch {
    return `${app} does not answer /readyz`;
  }
}

import { setTimeout as delay } from 'node:timers/promises';
import { quantile } from '../../quantile.ts';
import type { Workspace } from '../../systems/workspaces.ts';
import type { Attack, AttackContext } from '../attack.ts';
import { flood } from '../flood.ts';
import { create, createIncident } from '../hostile-data.ts';

const DESTINATIONS = 'settings/destinations';
const OF_WORKSPACE = 5;
/** Of ten destinations, one is dead. */
const DEAD_EVERY = 10;
/** Milliseconds from an event to the success of its message, p99 of the destinations that answer. */
const SENT_WITHIN = 10_000;
const INTERVAL = 500;
/** Milliseconds until each has had its first message, or has failed. */
const KNOWN_WITHIN = 120_000;

interface Destination {
  name: string;
  status: string;
  last_success_at: string | null;
  last_failure: object | null;
  left_out: number;
}

/** Destinations that never answer, between many that do. */
export const destinationAttacks: readonly Attack[] = [
  {
    name: 'dead-destinations',
    what: '500 destinations of 100 workspaces, of which 50 never answer, and an incident in each every 5 seconds',
    // Silent: of those whose message is under way when the time is over.
    expects: [200, 201, 'silent'],
    run: async (context) => {
      const workspaces = await context.createWorkspaces(context.choose(100, 10));
      for (const [index, workspace] of workspaces.entries())
        for (let nth = index * OF_WORKSPACE; nth < (index + 1) * OF_WORKSPACE; nth += 1)
          await createDestination(context, workspace, nth);
      // When it begins, each has had a message, or has failed.
      for (const workspace of workspaces) await createIncident(context, workspace);
      await Promise.all(workspaces.map(async (workspace) => untilKnown(context, workspace)));
      await context.begin();
      const times: number[] = [];
      await flood(
        context,
        { clients: workspaces.length, perSecond: workspaces.length / context.choose(5, 1) },
        async (number) => {
          const workspace = workspaces[number % workspaces.length];
          if (workspace === undefined) return;
          const { created_at: at } = await createIncident<{ created_at: string }>(context, workspace);
          times.push(...(await timesOf(context, workspace, at)));
        },
      );
      const p99 = quantile(times, 0.99);
      context.check(p99 <= SENT_WITHIN, `messages of destinations that answer took ${p99} ms (p99)`, { timed: true });
    },
  },
];

async function createDestination(context: AttackContext, workspace: Workspace, nth: number): Promise<void> {
  const isDead = nth % DEAD_EVERY === 0;
  const url = isDead ? context.deadUrl(nth / DEAD_EVERY) : context.receiverUrl('honest', '/accept');
  const body = { name: `${isDead ? 'Dead' : 'Alive'} ${nth}`, kind: 'slack', url };
  await create(context, workspace, { path: DESTINATIONS, body });
}

async function listDestinations(context: AttackContext, workspace: Workspace): Promise<Destination[] | undefined> {
  const { outcome, text } = await context.send(workspace, { path: `/api/v1/${DESTINATIONS}`, kept: 100_000 });
  return outcome === 200 ? (JSON.parse(text) as { destinations: Destination[] }).destinations : undefined;
}

async function untilKnown(context: AttackContext, workspace: Workspace): Promise<void> {
  const isKnown = ({ last_success_at: success, last_failure: failure }: Destination) =>
    success !== null || failure !== null;
  const deadline = performance.now() + KNOWN_WITHIN;
  while ((await listDestinations(context, workspace))?.every(isKnown) !== true) {
    if (performance.now() > deadline) throw new Error('destinations neither get their first message nor fail');
    await delay(INTERVAL);
  }
}

/** Waits until all destinations that answer have the event of this time. Returns the milliseconds of each. */
async function timesOf(context: AttackContext, workspace: Workspace, at: string): Promise<number[]> {
  const deadline = performance.now() + SENT_WITHIN;
  for (;;) {
    const all = await listDestinations(context, workspace);
    // Its time is over, and nobody answers any more.
    if (all === undefined && context.isOver) return [];
    const alive = (all ?? []).filter(({ name }) => name.startsWith('Alive'));
    const late = alive.filter(({ last_success_at: success }) => success === null || success < at);
    if (all !== undefined && late.length === 0) {
      const isComplete = alive.every(({ status, left_out: leftOut }) => status === 'active' && leftOut === 0);
      context.check(isComplete, 'a destination that answers has failed, or left something out');
      return alive.map(({ last_success_at: success }) => Date.parse(success ?? at) - Date.parse(at));
    }
    if (performance.now() > deadline) {
      context.check(false, `${late.length} destinations that answer did not get a message`, { timed: true });
      return late.map(() => SENT_WITHIN * 2);
    }
    await delay(INTERVAL);
  }
}

import { setTimeout as delay } from 'node:timers/promises';
import type { AppName, ServiceName } from '../../../installation/apps.ts';
import type { Attack, AttackContext } from '../attack.ts';
import type { Outcome } from '../../systems/send.ts';
import type { Workspace } from '../../systems/workspaces.ts';
import { flood, LEGAL_RATE } from '../flood.ts';
import { create, postIncident } from '../hostile-data.ts';
import { INCIDENT_ROUTES, type Route } from '../routes.ts';

/** A list of each service, and what the victims of the others do meanwhile. */
const SERVICES: Readonly<Record<ServiceName, Pick<Attack, 'deadline'> & { path: string; others: readonly Route[] }>> = {
  incident: {
    path: '/api/v1/incidents',
    others: ['services', 'teams', 'fields', 'webhooks'],
    deadline: {
      milliseconds: 1_000,
      reason: 'a list of services waits 800 ms for the incident service, until that counts as down',
    },
  },
  catalog: { path: '/api/v1/teams', others: [...INCIDENT_ROUTES, 'fields', 'webhooks'] },
  'custom-field': { path: '/api/v1/custom-fields', others: [...INCIDENT_ROUTES, 'teams', 'webhooks'] },
  webhook: { path: '/api/v1/settings/webhooks', others: [...INCIDENT_ROUTES, 'teams', 'fields'] },
};

/** Milliseconds from the moment at which a service stops responding to the first 503. */
const REFUSED_WITHIN = 2_000;
const BACK_WITHIN = 10_000;
const BROKEN_FOR = 6_000;
/** More than a service has connections to its database. */
const TO_FILL_POOL = 40;
const INTERVAL = 100;

const stopped = (app: ServiceName): Attack => ({
  name: `stopped-${app}`,
  what: `the ${app} service stops responding (SIGSTOP), while 10 clients call it`,
  expects: [200, 503],
  stops: app,
  victims: SERVICES[app].others,
  ...(SERVICES[app].deadline !== undefined && { deadline: SERVICES[app].deadline }),
  ...(app === 'webhook' && { feed: { milliseconds: 60_000, reason: 'the webhook service records the feed' } }),
  // The others have nothing that this one has not.
  onlyFull: app !== 'incident',
  run: async (context, workspace) => {
    await context.begin();
    await breakWhile(context, { fault: { kind: 'process', app }, workspace, path: SERVICES[app].path });
  },
});

const frozenDatabase = (app: ServiceName): Attack => ({
  name: `frozen-database-${app}`,
  what: `the database connections of the ${app} service stop responding (SIGSTOP), while 10 clients call it`,
  expects: [200, 503],
  victims: SERVICES[app].others,
  // A service whose database is silent answers the calls of others as late as one that is silent itself.
  ...(SERVICES[app].deadline !== undefined && { deadline: SERVICES[app].deadline }),
  onlyFull: app !== 'incident',
  run: async (context, workspace) => {
    const { path } = SERVICES[app];
    await context.begin();
    // Only connections that exist can be stopped.
    await Promise.all(Array.from({ length: TO_FILL_POOL }, async () => context.send(workspace, { path })));
    await breakWhile(context, { fault: { kind: 'database', app }, workspace, path });
  },
});

const stalled = (kind: 'redis' | 'broker', what: string, allows: Pick<Attack, 'deadline' | 'feed'>): Attack => ({
  name: `stalled-${kind}`,
  what: `the connections to ${what} stay open and carry nothing, while a workspace creates fields and incidents`,
  expects: [200, 201],
  ...allows,
  run: async (context, workspace) => {
    await create(context, workspace, { path: 'custom-fields', body: { name: 'Field', field_type: 'string' } });
    await context.begin();
    if (!(await context.breakPart({ kind }))) {
      context.skip('there are no such connections');
      return;
    }
    await flood(context, { clients: 4, perSecond: LEGAL_RATE / 4 }, async (number) =>
      number % 2 === 0
        ? context.send(workspace, { path: '/api/v1/incidents?sort=team' })
        : postIncident(context, workspace, { title: 'Honest' }),
    );
    await context.heal();
  },
});

/** Parts of the system that stop responding without closing their connections. */
export const faultAttacks: readonly Attack[] = [
  stopped('incident'),
  stopped('catalog'),
  stopped('custom-field'),
  stopped('webhook'),
  frozenDatabase('incident'),
  frozenDatabase('catalog'),
  stalled('redis', 'Redis', {
    deadline: {
      milliseconds: 1_000,
      reason: 'until Redis counts as down, a request waits 250 ms to be counted and 500 ms for versions',
    },
  }),
  stalled('broker', 'RabbitMQ', { feed: { milliseconds: 60_000, reason: 'events wait until RabbitMQ works again' } }),
];

/** Breaks a part, calls a service that needs it, and checks that the service refuses in time and comes back. */
async function breakWhile(
  context: AttackContext,
  options: { fault: { kind: 'process' | 'database'; app: AppName }; workspace: Workspace; path: string },
): Promise<void> {
  const { workspace, path, fault } = options;
  if (!(await context.breakPart(fault))) {
    context.skip('the processes of Postgres cannot be stopped from here');
    return;
  }
  const start = performance.now();
  let refusedAfter: number | undefined;
  const calls = flood(context, { clients: 10, perSecond: 10 }, async () => {
    const { outcome } = await context.send(workspace, { path });
    if (outcome === 503) refusedAfter ??= performance.now() - start;
  });
  await context.pause(BROKEN_FOR);
  const shown = refusedAfter === undefined ? 'never' : `after ${Math.round(refusedAfter)} ms`;
  const isInTime = refusedAfter !== undefined && refusedAfter <= REFUSED_WITHIN;
  // The short form ends before that.
  if (fault.kind === 'process' && !context.isShort)
    context.check(isInTime, `the first 503 comes ${shown}`, { timed: true });
  await context.heal();
  await calls;
  const last = await untilAnswered(context, workspace, path);
  context.check(last === 200, `${path} does not come back: ${last}`);
}

async function untilAnswered(context: AttackContext, workspace: Workspace, path: string): Promise<Outcome> {
  const deadline = performance.now() + BACK_WITHIN;
  for (;;) {
    const { outcome } = await context.send(workspace, { path });
    if (outcome === 200 || performance.now() > deadline) return outcome;
    await delay(INTERVAL);
  }
}

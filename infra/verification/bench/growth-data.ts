import { Redis } from 'ioredis';
import { APP_NAMES, APPS } from '../../installation/apps.ts';
import { copyWorkspaces } from '../statements/copy-workspaces.ts';
import { STEP } from '../statements/fill-tables.ts';
import type { Workspace } from '../systems/workspaces.ts';
import { rateOfSweeps, withSql } from './growth-rates.ts';
import { type BenchSystem, startSystem } from './system.ts';
import { clientOf, EVENT, INCIDENTS, withIncidents, type World } from './world.ts';

const SCHEMAS = APP_NAMES.map((name) => APPS[name].schema.name);

/** An installation with many workspaces. */
export interface Filled {
  system: BenchSystem;
  sizes: readonly number[];
  /** The workspace at a place of `sizes`. */
  workspace(index: number): Workspace;
  /** What it took to copy the rows, and to start with them. */
  seconds: { copying: number; start: number };
  /** See `rateOfSweeps`. */
  sweeps: Promise<number[]>;
  stop(): Promise<void>;
}

/** Incidents by Zipf's law, the biggest workspace first; each has at least those that are measured. */
export function zipfSizes(workspaces: number, incidents: number): number[] {
  const ranks = Array.from({ length: workspaces }, (_, index) => index + 1);
  const biggest = incidents / ranks.reduce((sum, rank) => sum + 1 / rank, 0);
  return ranks.map((rank) => Math.max(INCIDENTS, Math.round(biggest / rank)));
}

/** Starts an installation whose workspaces have so many copies of incidents that the API has made. */
export async function startFilled(sizes: readonly number[]): Promise<Filled> {
  const first = await startSystem();
  try {
    const [original] = await first.createWorkspaces(1);
    if (original === undefined) throw new Error('there is no workspace');
    await createOriginals(first, original);
    await first.drained();
    await first.end();
    const copyingFrom = performance.now();
    await withSql(first.databaseUrl, async (sql) => {
      await copyWorkspaces(sql, { schemas: SCHEMAS, workspaceId: original.id, sizes });
      await sql.query('vacuum analyze');
    });
    const sweeps = withSql(first.databaseUrl, rateOfSweeps);
    const startingFrom = performance.now();
    const system = { ...first, ...(await first.restart()) };
    const ready = performance.now();
    return {
      ...{ system, sizes },
      workspace: (index) => ({
        id: original.id + (index + 1) * STEP,
        host: original.host.replace('.', `-${index + 1}.`),
        token: original.token,
      }),
      sweeps,
      seconds: { copying: (startingFrom - copyingFrom) / 1_000, start: (ready - startingFrom) / 1_000 },
      stop: async () => {
        await system.end();
        await forgetVersions(system);
        await first.stop();
      },
    };
  } catch (error) {
    await first.stop();
    throw error;
  }
}

/** Ten incidents with a team, two values, two timeline events, and a change or two. */
async function createOriginals(system: BenchSystem, workspace: Workspace): Promise<void> {
  const client = clientOf(system, workspace);
  const create = async (path: string, body: object, headers = {}): Promise<number> => {
    const { status, text, ...answer } = await client.post(`/api/v1/${path}`, body, headers);
    if (status !== 201) throw new Error(`${path}: ${status} ${text}`);
    return Object.values(answer.body as Record<string, { id: number }>)[0]?.id ?? 0;
  };
  const team_id = await create('teams', { name: 'Payments' });
  const services = ['checkout', 'search', 'accounts'];
  for (const name of services) await create('services', { name, owner_team_id: team_id });
  const score = await create('custom-fields', { name: 'Score', field_type: 'number' });
  const cause = await create('custom-fields', {
    ...{ name: 'Cause', field_type: 'multi_select', config: { allow_custom: true } },
  });
  for (let index = 0; index < 10; index += 1) {
    const service = services[index % 3] ?? '';
    const id = await create(
      'incidents',
      {
        ...{
          title: `${service} is down`,
          impact_summary: 'Requests fail.',
          service,
          severity: `sev${1 + (index % 3)}`,
        },
        ...{ team_id, regions: ['eu-west'] },
        custom_field_values: [
          { field_id: score, value: index },
          { field_id: cause, value: ['deployment'] },
        ],
      },
      { 'Idempotency-Key': `original-${index}` },
    );
    await create(`incidents/${id}/timeline`, EVENT);
    await create(`incidents/${id}/timeline`, { title: 'Rolled back', body: 'The last deployment is rolled back.' });
    // The others stay open, one of them with the severity that lists filter by.
    if (index % 4 === 0) continue;
    const change = { status: index % 3 === 0 ? 'monitoring' : 'resolved' };
    await client.patch(`/api/v1/incidents/${id}`, change, { 'If-Service-Resource-Version': '3' });
  }
}

/** The incidents of one workspace as those of several, so that each client has its own. */
export async function asWorld({ system }: Filled, workspace: Workspace, clients: number): Promise<World> {
  const [{ incidents } = { incidents: [] }] = await withIncidents(system, [workspace]);
  return Array.from({ length: clients }, (_, client) => ({
    ...workspace,
    incidents: [...incidents.slice(3 * client), ...incidents.slice(0, 3 * client)],
  }));
}

/** Redis has versions of each workspace, which do not expire. */
async function forgetVersions({ env }: BenchSystem): Promise<void> {
  const redis = new Redis(env['REDIS_URL'] ?? '');
  const batches = redis.scanStream({ match: `${env['TOCSIN_NAMESPACE']}:*`, count: 1_000 }) as AsyncIterable<string[]>;
  for await (const keys of batches) if (keys.length > 0) await redis.unlink(keys);
  await redis.quit();
}

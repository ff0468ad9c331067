import type { WorkspaceContext } from '@tocsin/schemas';
import { type Knex, pipeline, query, type Statement } from '@tocsin/postgres';
import { estimateHeapBytes, latestVersionCache } from '@tocsin/runtime';
import {
  type Configuration,
  DEFAULT_CONFIGURATION,
  type IncidentRole,
  type OnCallLead,
  type Severity,
  type WorkflowStatus,
} from '../domain/configuration.ts';
import type { ExchangeRate } from '../domain/exchange-rates.ts';
import { Retry } from '../../shared/domain/retry.ts';

interface ConfigurationRow {
  workflow_statuses: WorkflowStatus[] | null;
  severities: Severity[] | null;
  incident_roles: IncidentRole[] | null;
  exchange_rates: Record<string, ExchangeRate> | null;
  time_zone: string | null;
  on_call_lead: OnCallLead | null;
  version: number | null;
}

/** Reads the configurations of workspaces. */
export interface Configurations {
  get(workspace: WorkspaceContext): Promise<Configuration>;
  /** Bypasses the cache, after a `Retry`: the workspace's version rises only after the change. */
  reload(workspace: WorkspaceContext): Promise<Configuration>;
}

const MAX_BYTES = 16 * 1_048_576;

/**
 * Caches configurations by the version of their workspace. A change of the configuration raises that version, and every
 * request carries it, so the cache never returns a stale configuration.
 */
export function configurations(database: Knex): Configurations {
  const cache = latestVersionCache<Configuration>({
    bytes: MAX_BYTES,
    sizeOf: ({ exchangeRates, ...others }) => estimateHeapBytes({ ...others, exchangeRates: [...exchangeRates] }),
  });
  const reload = async (workspace: WorkspaceContext) => {
    const configuration = await readConfiguration(database, workspace.id);
    cache.set(workspace.id, workspace.version, configuration);
    return configuration;
  };
  return { get: async (workspace) => cache.get(workspace.id, workspace.version) ?? reload(workspace), reload };
}

/**
 * Prevents changes of a workspace's configuration until the transaction ends. Execute it before the transaction locks an
 * incident, in the lock order of configuration changes. Creates and this lock do not block each other, because creates
 * change no key of the row. Its rows are for `checkLocked`.
 */
export const lockConfiguration = (workspaceId: number): Statement => ({
  name: 'hold-configuration',
  text: 'select configuration_version as version from incident_counters where workspace_id = $1 for key share',
  values: [workspaceId],
});

/** Returns the version of the latest list of service tiers that was committed, after a change under way has ended. */
export async function committedTiersVersion(database: Knex, workspaceId: number): Promise<number> {
  const read: Statement<{ version: number }> = {
    name: 'read-tiers-version',
    text: 'select tiers_version as version from configurations where workspace_id = $1',
    values: [workspaceId],
  };
  const [, [row]] = await pipeline<[unknown, { version: number }]>(database, [lockConfiguration(workspaceId), read]);
  return row?.version ?? 0;
}

/** Returns the template of the workspace's post-mortems, which no cache keeps, because it may be large; empty: none. */
export async function findPostmortemTemplate(db: Knex, workspaceId: number): Promise<string> {
  const [row] = await query<{ template: string | null }>(db, {
    name: 'find-postmortem-template',
    text: 'select postmortem_template as template from configurations where workspace_id = $1',
    values: [workspaceId],
  });
  return row?.template ?? '';
}

/** @throws Retry if the locked configuration has another version */
export function checkLocked(rows: readonly unknown[] | undefined, { version }: Configuration): void {
  const [row] = (rows ?? []) as { version: number }[];
  // Without a row the workspace has no incident that could be changed.
  if (row !== undefined && row.version !== version) throw new Retry('configuration');
}

export async function readConfiguration(db: Knex, workspaceId: number): Promise<Configuration> {
  // In one statement, so that the lists match the version.
  const [row] = await query<ConfigurationRow>(db, {
    name: 'read-configuration',
    text: `select workflow_statuses, severities, incident_roles, exchange_rates, time_zone, on_call_lead,
      configuration_version as version
    from (values ($1::bigint)) as requested (workspace_id)
    left join configurations using (workspace_id)
    left join incident_counters using (workspace_id)`,
    values: [workspaceId],
  });
  return {
    version: row?.version ?? DEFAULT_CONFIGURATION.version,
    statuses: row?.workflow_statuses ?? DEFAULT_CONFIGURATION.statuses,
    severities: row?.severities ?? DEFAULT_CONFIGURATION.severities,
    incidentRoles: row?.incident_roles ?? DEFAULT_CONFIGURATION.incidentRoles,
    exchangeRates: new Map(Object.entries(row?.exchange_rates ?? {})),
    timeZone: row?.time_zone ?? DEFAULT_CONFIGURATION.timeZone,
    onCallLead: row?.on_call_lead ?? DEFAULT_CONFIGURATION.onCallLead,
  };
}

import type { WorkspaceContext } from '@tocsin/http';
import type { Knex } from '@tocsin/runtime';
import { LRUCache } from 'lru-cache';
import {
  type Configuration,
  DEFAULT_CONFIGURATION,
  type Severity,
  type WorkflowStatus,
} from '../domain/configuration.ts';
import type { ExchangeRate } from '../domain/exchange.ts';

interface ConfigurationRow {
  workflow_statuses: WorkflowStatus[] | null;
  severities: Severity[] | null;
  exchange_rates: Record<string, ExchangeRate> | null;
}

/** Where a workspace's configuration is read. */
export interface Configurations {
  get(workspace: WorkspaceContext): Promise<Configuration>;
}

/**
 * Keeps configurations by the version of their workspace: whoever changes one raises that version afterwards, and every
 * request carries it, so that nothing stale is ever used.
 */
export function configurations(database: Knex): Configurations {
  const known = new LRUCache<string, Configuration>({ max: 1_000 });
  return {
    async get(workspace) {
      const key = `${workspace.id}@${workspace.version}`;
      const cached = known.get(key);
      if (cached !== undefined) return cached;
      const configuration = await readConfiguration(database, workspace.id);
      known.set(key, configuration);
      return configuration;
    },
  };
}

export async function readConfiguration(db: Knex, workspaceId: number): Promise<Configuration> {
  const row = await db('configurations')
    .where({ workspace_id: workspaceId })
    .first<ConfigurationRow | undefined>('workflow_statuses', 'severities', 'exchange_rates');
  return {
    statuses: row?.workflow_statuses ?? DEFAULT_CONFIGURATION.statuses,
    severities: row?.severities ?? DEFAULT_CONFIGURATION.severities,
    exchangeRates: new Map(Object.entries(row?.exchange_rates ?? {})),
  };
}

import type { Knex } from '@tocsin/postgres';
import { deleteExcess } from './store/feed-trimmer.ts';
import type { FeedMetrics } from './feed-metrics.ts';

/** Keeps the feeds of workspaces within their bytes (contract: Event feed). */
export interface FeedTrimming {
  /** Called with the workspaces that events were recorded for: only their feeds can have grown. */
  recorded(workspaceIds: readonly number[]): void;
  /** Deletes the oldest events of feeds that have grown too large. Returns whether there may be more. */
  trim(): Promise<boolean>;
}

export function feedTrimming(options: { database: Knex; metrics: FeedMetrics; maxBytes: number }): FeedTrimming {
  const { database, metrics, maxBytes } = options;
  const grown = new Set<number>();
  return {
    recorded: (workspaceIds) => {
      for (const id of workspaceIds) grown.add(id);
    },
    async trim() {
      const workspaceIds = [...grown];
      for (const id of workspaceIds) {
        const deleted = await deleteExcess(database, id, maxBytes);
        metrics.swept.inc(deleted);
        if (deleted === 0) grown.delete(id);
      }
      return grown.size > 0;
    },
  };
}

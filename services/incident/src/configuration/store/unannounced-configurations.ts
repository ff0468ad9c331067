import { type Knex, query } from '@tocsin/postgres';

/** A change of a configuration for which the gateway has not raised the workspace's version yet. */
export interface UnannouncedConfiguration {
  workspaceId: number;
  version: number;
}

const UNANNOUNCED = `
  select workspace_id as "workspaceId", version from unannounced_configurations order by workspace_id limit $1`;

/** Stores unannounced changes, the latest of each workspace, over a pool or a transaction. */
export function unannouncedConfigurations(db: Knex) {
  return {
    /** Add it in the transaction of the change. */
    async add({ workspaceId, version }: UnannouncedConfiguration): Promise<void> {
      await query(db, {
        text: `insert into unannounced_configurations (workspace_id, version) values ($1, $2)
          on conflict (workspace_id) do update set version = excluded.version`,
        values: [workspaceId, version],
      });
    },

    /** Does nothing if the configuration has changed again. */
    async remove({ workspaceId, version }: UnannouncedConfiguration): Promise<void> {
      await query(db, {
        text: 'delete from unannounced_configurations where workspace_id = $1 and version = $2',
        values: [workspaceId, version],
      });
    },

    list: async (limit: number): Promise<UnannouncedConfiguration[]> =>
      query<UnannouncedConfiguration>(db, {
        name: 'list-unannounced-configurations',
        text: UNANNOUNCED,
        values: [limit],
        isPoll: true,
      }),
  };
}

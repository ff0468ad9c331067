import { APP_NAMES, APPS } from '../installation/apps.ts';
import { PARTITIONS, partitionTables } from '../migrate/partition-tables.ts';
import type { Command } from './command.ts';

export const partition: Command = {
  flags: {},
  table: { rows: 'partitioned', columns: ['schema', 'table', 'partitions'] },
  run: async (_values, target) => {
    const partitioned = [];
    for (const app of APP_NAMES) {
      const { name: schema, largest = [] } = APPS[app].schema;
      if (largest.length === 0) continue;
      const tables = await partitionTables(target.database(app), largest, PARTITIONS);
      partitioned.push(...tables.map((table) => ({ schema, table, partitions: PARTITIONS })));
    }
    return { partitioned };
  },
};

import path from 'node:path';

export const schema = {
  name: 'gateway',
  migrations: path.join(import.meta.dirname, '../migrations'),
  copied: { as: 'users', versions: { table: 'workspaces', workspace: 'id' } },
} as const;

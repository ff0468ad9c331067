import path from 'node:path';

export const schema = {
  name: 'catalog',
  migrations: path.join(import.meta.dirname, '../migrations'),
  copied: { as: 'catalog', versions: { table: 'workspace_versions', workspace: 'workspace_id' } },
  copies: { gateway: { replica_users: 'users' } },
  workspaces: ['workspace_versions'],
} as const;

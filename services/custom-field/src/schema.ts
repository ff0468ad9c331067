import path from 'node:path';

export const schema = {
  name: 'custom_field',
  migrations: path.join(import.meta.dirname, '../migrations'),
  copied: { as: 'custom_field', versions: { table: 'workspace_versions', workspace: 'workspace_id' } },
  workspaces: ['workspace_versions'],
} as const;

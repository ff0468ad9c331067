import path from 'node:path';

export const schema = {
  name: 'webhook',
  migrations: path.join(import.meta.dirname, '../migrations'),
  workspaces: ['subscriptions'],
} as const;

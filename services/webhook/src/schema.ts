import path from 'node:path';

export const schema = {
  name: 'webhook',
  migrations: path.join(import.meta.dirname, '../migrations'),
  // Not `deliveries`: a claim goes from queue to queue of all workspaces, and would look into each partition for every step.
  largest: ['feed_events', 'events', 'attempts'],
  workspaces: ['subscriptions', 'feed_workspaces'],
} as const;

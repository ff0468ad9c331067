import { createIndexConcurrently, type Knex } from '@tocsin/postgres';

export const config = { transaction: false };

export async function up(knex: Knex): Promise<void> {
  await createIndexConcurrently(knex, {
    name: 'events_by_incident',
    // As in `incident-of-event.ts`.
    on: String.raw`events (workspace_id, (substring(body from '"resource":\{"type":"incident","id":([0-9]+),')))`,
  });
}

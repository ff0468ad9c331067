import type { EventWorkspace } from '@tocsin/schemas';
import type { Knex } from '@tocsin/postgres';
import { republishResources } from '@tocsin/versioned-resources';
import { systemClock } from '@tocsin/runtime';
import { fields } from './usecases/fields.ts';

/** See `republishResources`. The running services announce the new version within seconds. A definition may be a megabyte. */
export const republishFields = async (
  database: Knex,
  { workspace, seen }: { workspace: EventWorkspace; seen: number },
): Promise<number> =>
  database.transaction(async (trx) =>
    republishResources(trx, { workspace, seen, now: systemClock.now(), batch: 10, kinds: [fields] }),
  );

import type { CustomFieldChangePage, EventWorkspace } from '@tocsin/contracts';
import type { ChangesFrom, Knex } from '@tocsin/postgres';
import { createLogger, memoryVersions, systemClock } from '@tocsin/runtime';
import { readFieldChangePage } from './usecases/read-changes.ts';
import { republish } from './usecases/republish.ts';

/** See `republish`. The running services announce the new version within seconds. */
export const republishFields = async (
  database: Knex,
  options: { workspace: EventWorkspace; seen: number },
): Promise<number> => database.transaction(async (trx) => republish(trx, { ...options, now: systemClock.now() }));

/** Reads a page of changes for a replica, as the internal API returns it. */
export const readFieldChanges = async (database: Knex, from: ChangesFrom): Promise<CustomFieldChangePage> =>
  readFieldChangePage(
    {
      database,
      owner: 'custom_field',
      versions: memoryVersions(),
      log: createLogger({ app: 'admin', level: 'silent' }),
    },
    from,
  );

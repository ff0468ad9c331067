import { type Knex, openDatabase } from '@tocsin/postgres';
import { loseTrips } from './faulty-trips.ts';
import { stopAfterAll } from './suites.ts';

/** The database of an app, whose trips `losing` loses until the end of the file, as it loses those to services. */
export function losableDatabase(app: string, url: string): Knex {
  const database = openDatabase({ url, schema: app, application: `tocsin-${app}`, poolSize: 4, shared: true });
  const end = loseTrips();
  stopAfterAll({
    stop: async () => {
      end();
      await database.destroy();
    },
  });
  return database;
}

import type { Environment } from '@tocsin/runtime';
import { withClient } from '../../installation/databases.ts';

/** What an operator may have set for other programs on the same server. */
const SETTINGS = {
  datestyle: 'German',
  intervalstyle: 'iso_8601',
  timezone: 'Asia/Kathmandu',
  extra_float_digits: '-15',
  bytea_output: 'escape',
  client_encoding: 'LATIN1',
  standard_conforming_strings: 'off',
  transform_null_equals: 'on',
  array_nulls: 'off',
  gin_fuzzy_search_limit: '1',
  default_transaction_isolation: 'serializable',
  search_path: 'pg_catalog',
  exit_on_error: 'on',
  idle_session_timeout: '5000',
  statement_timeout: '1000',
  lock_timeout: '1',
};

/** Sets them for a database. Returns no settings of apps. */
export const setAsOthers = async ({ adminUrl }: { adminUrl: string }): Promise<Environment> =>
  withClient(adminUrl, async (client) => {
    const [database] = (await client.query<{ name: string }>('select current_database() as name')).rows;
    for (const [name, value] of Object.entries(SETTINGS)) {
      await client.query(`alter database ${database?.name} set ${name} to '${value}'`);
    }
    return {};
  });

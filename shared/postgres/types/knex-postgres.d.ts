declare module 'knex/lib/dialects/postgres/index.js' {
  import { Knex } from 'knex';

  /** knex's client for PostgreSQL, which its types omit. */
  export default class PostgresClient extends Knex.Client {}
}

import type { Principal } from '@tocsin/http';
import type { Clock, Knex, Logger, Versions } from '@tocsin/runtime';

/** What commands work with. */
export interface Tools {
  database: Knex;
  clock: Clock;
  versions: Versions;
  log: Logger;
  /** Publishes at once what a commit left in the outbox. */
  wakeRelay: () => void;
}

/** For whom a command is carried out, and within which request. */
export interface Caller {
  principal: Principal;
  requestId: string;
}

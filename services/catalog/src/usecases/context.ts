import type { Principal } from '@tocsin/http';
import type { Clock, Knex, Logger, Versions } from '@tocsin/runtime';
import type { Neighbours } from '../clients/neighbours.ts';
import type { Configurations } from '../store/configuration-store.ts';
import type { Replicas } from './replicas.ts';

/** What commands work with. */
export interface Tools {
  database: Knex;
  clock: Clock;
  log: Logger;
  configurations: Configurations;
  replicas: Replicas;
  neighbours: Neighbours;
  versions: Versions;
  /** Publishes at once what a commit left in the outbox. */
  wakeRelay: () => void;
}

/** For whom a command is carried out, and within which request. */
export interface Caller {
  principal: Principal;
  requestId: string;
}

/** The workspace as events name it. */
export const eventWorkspaceOf = ({ principal: { workspace } }: Caller) => ({
  id: workspace.id,
  slug: workspace.slug,
  is_demo: workspace.is_demo,
});

import type { Principal } from '@tocsin/http';
import type { Clock, Knex } from '@tocsin/runtime';
import type { Configurations } from '../store/configuration-store.ts';
import type { FieldDefinitions } from '../store/field-definitions.ts';
import type { Replicas } from './replicas.ts';

/** What commands work with. */
export interface Tools {
  database: Knex;
  clock: Clock;
  configurations: Configurations;
  replicas: Replicas;
  fields: FieldDefinitions;
  /** Publishes at once what a commit left in the outbox. */
  wakeRelay: () => void;
}

/** For whom a command is carried out, and within which request. */
export interface Caller {
  principal: Principal;
  requestId: string;
}

/** A user as string fields and the changelog name one. */
export const actorOf = ({ principal }: Caller) => String(principal.user_id);

/** The workspace as events name it. */
export const eventWorkspaceOf = ({ principal: { workspace } }: Caller) => ({
  id: workspace.id,
  slug: workspace.slug,
  is_demo: workspace.is_demo,
});

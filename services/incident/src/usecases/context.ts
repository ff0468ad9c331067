import type { EventWorkspace } from '@tocsin/contracts';
import type { Principal } from '@tocsin/http';
import type { Clock, Knex } from '@tocsin/runtime';
import type { SourceDocuments } from '../clients/source-documents.ts';
import type { Configurations } from '../store/configuration-store.ts';
import type { FieldDefinitions } from '../store/field-definitions.ts';
import type { Chats } from './chats.ts';
import type { Replicas } from './replicas.ts';

/** What commands work with. */
export interface Tools {
  database: Knex;
  clock: Clock;
  configurations: Configurations;
  replicas: Replicas;
  fields: FieldDefinitions;
  documents: SourceDocuments;
  chats: Chats;
  /** Publishes at once what a commit left in the outbox. */
  wakeRelay: () => void;
  /** Begins at once what a commit asked to be set up. */
  wakeProvisioner: () => void;
}

/** For whom a command is carried out, and within which request. */
export interface Caller {
  principal: Principal;
  requestId: string;
}

/** A user as string fields and the changelog name one. */
export const actorOf = ({ principal }: Caller) => String(principal.user_id);

/** The workspace as events name it. */
export const eventWorkspaceOf = ({ principal: { workspace } }: Caller): EventWorkspace => ({
  id: workspace.id,
  slug: workspace.slug,
  is_demo: workspace.is_demo,
});

/** Whose a change is, as the changelog and the event tell it. */
export interface Author {
  /** A user's ID, or the word for a part of the system. */
  actor: string;
  workspace: EventWorkspace;
  /** The request that it goes back to. */
  requestId: string;
}

export const authorOf = (caller: Caller): Author => ({
  actor: actorOf(caller),
  workspace: eventWorkspaceOf(caller),
  requestId: caller.requestId,
});

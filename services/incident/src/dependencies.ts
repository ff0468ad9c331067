import type { EventWorkspace } from '@tocsin/contracts';
import { type Caller, eventOrigin } from '@tocsin/resources';
import type { Knex } from '@tocsin/postgres';
import type { Clock } from '@tocsin/runtime';
import type { SourceDocuments } from './source-imports/clients/source-documents.ts';
import type { Configurations } from './configuration/store/configuration-store.ts';
import type { FieldDefinitions } from './replicas/store/field-definitions.ts';
import type { Catalogs } from './replicas/store/catalog.ts';
import type { OwnerTeams } from './replicas/store/owner-teams.ts';
import type { Chats } from './chat/chats.ts';
import type { ImportTurns } from './source-imports/import-turns.ts';
import type { Replicas } from './replicas/replicas.ts';
import type { WorkspaceStorage } from './storage/workspace-storage.ts';

/** The dependencies of commands. */
export interface Dependencies {
  database: Knex;
  clock: Clock;
  configurations: Configurations;
  replicas: Replicas;
  fields: FieldDefinitions;
  ownerTeams: OwnerTeams;
  catalogs: Catalogs;
  documents: SourceDocuments;
  importTurns: ImportTurns;
  chats: Chats;
  storage: WorkspaceStorage;
  /** Makes the relay publish the outbox now; call it after the commit. */
  wakeRelay: () => void;
  /** Makes the provisioner look for due steps now; call it after the commit. */
  wakeProvisioner: () => void;
}

/** The user's ID as text, as string fields and the changelog store it. */
export const actorOf = ({ principal }: Caller) => String(principal.user_id);

/** The author of a change, for the changelog and the event. */
export interface Author {
  /** A user's ID, or the name of a part of the system, such as `slack`. */
  actor: string;
  workspace: EventWorkspace;
  /** The request that caused the change. */
  requestId: string;
}

export const authorOf = (caller: Caller): Author => ({ actor: actorOf(caller), ...eventOrigin(caller) });

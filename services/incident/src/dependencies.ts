import type { Knex } from '@tocsin/postgres';
import type { Clock } from '@tocsin/runtime';
import type { SourceDocuments } from './source-imports/clients/source-documents.ts';
import type { Configurations } from './configuration/store/configuration-store.ts';
import type { ConfigurationAnnouncements } from './configuration-changes/announcements.ts';
import type { ConfigurationServices } from './configuration-changes/clients/configuration-services.ts';
import type { FieldDefinitions } from './replicas/store/field-definitions.ts';
import type { Catalogs } from './replicas/store/catalog.ts';
import type { OwnerTeams } from './replicas/store/owner-teams.ts';
import type { Chats } from './chat/chats.ts';
import type { ImportTurns } from './source-imports/import-turns.ts';
import type { TransferServices } from './transfer/clients/transfer-services.ts';
import type { Replicas } from './replicas/replicas.ts';
import type { WorkspaceStorage } from './storage/workspace-storage.ts';

/** The dependencies of commands. */
export interface Dependencies {
  database: Knex;
  clock: Clock;
  configurations: Configurations;
  configurationServices: Pick<ConfigurationServices, 'readTiers' | 'prepareTiers'>;
  announcements: Pick<ConfigurationAnnouncements, 'announce'>;
  replicas: Replicas;
  fields: FieldDefinitions;
  ownerTeams: OwnerTeams;
  catalogs: Catalogs;
  documents: SourceDocuments;
  importTurns: ImportTurns;
  transferServices: Pick<TransferServices, 'findPeople' | 'readResources'>;
  chats: Chats;
  storage: WorkspaceStorage;
  /** Makes the relay publish the outbox now; call it after the commit. */
  wakeRelay: () => void;
  /** Makes the provisioner look for due steps now; call it after the commit. */
  wakeProvisioner: () => void;
}

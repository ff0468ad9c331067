import {
  chatMessage,
  type CommittedServiceTiers,
  eventContextQuery,
  INTERNAL_PATHS,
  type LastIncidentNumber,
  type QuotaUse,
  trackerHook,
  type TrackerHookAnswer,
  type UnmanagedReferences,
  workspaceQuery,
} from '@tocsin/schemas';
import { internalCommand, internalRoute } from '@tocsin/http';
import type { Chats } from '../chat/chats.ts';
import { postChatMessage } from '../chat/post-message.ts';
import { chatConnectionStore } from '../chat/store/chat-connection-store.ts';
import { committedTiersVersion } from '../configuration/store/configuration-store.ts';
import { readEventContext } from '../incidents/event-context.ts';
import { lastNumber } from '../incidents/store/counter-store.ts';
import { unmanagedReferences } from '../incidents/store/service-references.ts';
import type { Owners } from '../replicas/clients/owners.ts';
import { storageStore } from '../storage/store/storage-store.ts';
import { receiveHook } from '../trackers/receive-hook.ts';
import type { CommandDependencies } from '../incidents/run-command.ts';

const MEBIBYTE = 1_048_576;

/** The routes for other services. */
export function internalRoutes({
  replicas,
  owners,
  chats,
  ...dependencies
}: Pick<CommandDependencies, 'replicas'> & { owners: Pick<Owners, 'findPeople'>; chats: Chats } & Parameters<
    typeof receiveHook
  >[0]) {
  const { database } = dependencies;
  return [
    internalRoute({
      path: INTERNAL_PATHS.unmanagedReferences,
      callers: ['catalog'],
      query: workspaceQuery,
      handle: async ({ workspace_id: id }): Promise<UnmanagedReferences> => {
        // A new service must count as managed. Version 0: the catalog's own version is enough.
        await replicas.refresh({ id, version: 0 }, 'catalog');
        return unmanagedReferences(database, id);
      },
    }),
    internalRoute({
      path: INTERNAL_PATHS.lastIncidentNumber,
      callers: ['webhook'],
      query: workspaceQuery,
      handle: async ({ workspace_id: id }): Promise<LastIncidentNumber> => ({ number: await lastNumber(database, id) }),
    }),
    // A POST for the length of its question; it only reads.
    internalCommand({
      path: INTERNAL_PATHS.eventContexts,
      body: eventContextQuery,
      callers: ['webhook'],
      handle: async (query) => readEventContext({ database, owners }, query),
    }),
    internalCommand({
      path: INTERNAL_PATHS.chatMessages,
      body: chatMessage,
      callers: ['webhook'],
      handle: async (message) => postChatMessage(chats, message),
    }),
    // It may arrive twice: it only has a ticket looked at.
    internalCommand({
      path: INTERNAL_PATHS.trackerHooks,
      body: trackerHook,
      callers: ['gateway'],
      handle: async (hook): Promise<TrackerHookAnswer> => ({ is_verified: await receiveHook(dependencies, hook) }),
    }),
    internalRoute({
      path: INTERNAL_PATHS.committedServiceTiers,
      callers: ['catalog'],
      query: workspaceQuery,
      handle: async ({ workspace_id: id }): Promise<CommittedServiceTiers> => ({
        version: await committedTiersVersion(database, id),
      }),
    }),
    internalRoute({
      path: INTERNAL_PATHS.quotaUse,
      callers: ['gateway'],
      query: workspaceQuery,
      handle: async ({ workspace_id: id }): Promise<QuotaUse> => {
        const [incidents, bytes, connection] = await Promise.all([
          lastNumber(database, id),
          storageStore(database).stored(id),
          chatConnectionStore(database).find(id),
        ]);
        return { used: { incidents, storage_mb: Math.ceil(bytes / MEBIBYTE) }, chat: connection !== undefined };
      },
    }),
  ];
}

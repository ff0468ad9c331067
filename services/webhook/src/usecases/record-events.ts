import type { HandledBatch, ReceivedEvent } from '@tocsin/messaging';
import type { Knex } from '@tocsin/runtime';
import { resourceOf } from '../domain/feed-types.ts';
import { feedWriter } from '../store/feed-writer.ts';
import type { Time } from '../store/time.ts';

/**
 * Records a batch of events in the feed, in their order (contract: Event feed), and commits. The feed itself recognises
 * duplicates, for as long as it has the event.
 */
export async function recordEvents(
  time: Pick<Time, 'parameter'>,
  { events, trx }: { events: readonly ReceivedEvent[]; trx: Knex.Transaction },
): Promise<HandledBatch> {
  const incoming = events.flatMap(({ event, body }) => {
    const resource = resourceOf(event);
    if (resource === undefined) return [];
    return [{ id: event.id, workspaceId: event.workspace.id, type: event.type, resource, body }];
  });
  if (incoming.length === 0) return { handled: new Set() };
  const additions = await feedWriter(trx).record(incoming, time.parameter(), { commits: true });
  return { handled: new Set(additions.flatMap(({ eventIds }) => eventIds)) };
}

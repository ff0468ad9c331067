/**
 * `deliveries` brings events of new incidents to subscriptions (contract: Deliveries). This file handles a batch of
 * messages in one transaction: it locks the feeds of their workspaces, records the events, and queues a delivery for
 * each subscription that was active when its incident was created, as far as the queue has room (ADR 39).
 * `claim-deliveries.ts` leases due ones for 20 seconds, one of each workspace in turn, under locks of the limits.
 * `prepare-attempt.ts` is the last check before a request: it counts the attempt, and signs. `finish-attempt.ts`
 * records the outcome with the subscription, which is locked before the delivery, and frees the slot. What a crash
 * interrupts is due again when its lease ends, and an attempt whose request was confirmed counts: a receiver may get an
 * event twice. `housekeeping.ts` ends what is past its deadline. When an incident becomes restricted, `hide-restricted.ts`
 * hides its earlier events, and cancels its deliveries to subscriptions that may not get them.
 */
import type { HandledBatch, ReceivedEvent } from '@tocsin/messaging';
import { type Knex, pipeline } from '@tocsin/postgres';
import { type DeletedIncident, deletedIncidents } from '../erasure/store/deleted-incidents.ts';
import { type ErasedUser, erasedUsers } from '../erasure/store/erased-users.ts';
import { resourceOf } from '../feed/domain/feed-types.ts';
import { addRestrictions } from '../feed/store/feed-hider.ts';
import { lockFeeds, recordStatement, withMissingFeeds } from '../feed/store/feed-writer.ts';
import {
  deliverable,
  findInterested,
  type NewEvent,
  prepareDeliveries,
  type QueueDependencies,
} from './prepare-deliveries.ts';

/** A batch of events, and the transaction that handles all of them. */
interface Batch {
  events: readonly ReceivedEvent[];
  trx: Knex.Transaction;
}

/**
 * Records a batch of events in the feed, in their order, queues the deliveries of new incidents, and commits (contract:
 * Event feed, Deliveries). The feed recognises its duplicates itself, for as long as it has the event.
 */
export async function recordAndQueueDeliveries(
  dependencies: QueueDependencies & {
    onRecorded: (workspaceIds: readonly number[]) => void;
    /** Called after a commit, when earlier events have to be hidden, or emptied. */
    onWithdrawal: () => void;
  },
  { events, trx }: Batch,
): Promise<HandledBatch> {
  const incoming = events.flatMap(({ event, body }) => {
    const resource = resourceOf(event);
    if (resource === undefined) return [];
    const { id, type, workspace, restricted: isRestricted = false } = event;
    return [{ id, workspaceId: workspace.id, type, resource, body, isRestricted }];
  });
  const erasures = events.filter(({ event }) => event.type === 'user.erased').map(({ event }) => event as ErasedUser);
  if (erasures.length > 0) await erasedUsers(trx).add(erasures);
  const erased = erasures.map(({ id }) => id);
  const deletions = events.filter(({ event }) => event.type === 'incident.deleted');
  if (deletions.length > 0) await deletedIncidents(trx).add(deletions.map(({ event }) => event as DeletedIncident));
  if (incoming.length === 0) return { handled: new Set(erased) };

  const workspaceIds = [...new Set(incoming.map(({ workspaceId }) => workspaceId))];
  const creations = deliverable(events);
  const [locked, interested] = await pipeline(trx, [lockFeeds(workspaceIds), findInterested(creations)]);
  const feeds = await withMissingFeeds(trx, workspaceIds, locked);
  const wanted = ofWorkspaces(creations, interested);
  const { handled, statements, onCommit } = await prepareDeliveries(dependencies, { events: wanted, trx });

  const record = recordStatement(incoming, { feeds, now: dependencies.time.parameter() });
  const restricted = incoming.filter(({ isRestricted }) => isRestricted);
  const hide = restricted.length === 0 ? [] : [addRestrictions(restricted)];
  const [additions] = await pipeline(trx, [record, ...hide, ...statements], { commit: true });
  const recorded = additions.flatMap(({ event_ids: ids }) => ids);
  if (hide.length + deletions.length > 0) dependencies.onWithdrawal();
  dependencies.onRecorded(additions.map(({ workspace_id: id }) => id));
  return { handled: new Set([...recorded, ...handled, ...erased]), ...(onCommit !== undefined && { onCommit }) };
}

function ofWorkspaces(events: readonly NewEvent[], workspaces: readonly { id: number }[]): NewEvent[] {
  const ids = new Set(workspaces.map(({ id }) => id));
  return events.filter(({ event }) => ids.has(event.workspace.id));
}

import type { Envelope, EventData } from '@tocsin/contracts';
import type { Knex } from '@tocsin/runtime';
import { MAX_QUEUED } from '../domain/delivery.ts';
import { incidentCreatedBody, resourceUrl } from '../domain/envelope.ts';
import { activeAt } from '../store/activity-store.ts';
import { deliveryStore } from '../store/delivery-store.ts';
import { subscriptionStore } from '../store/subscription-store.ts';
import { lockWorkspace } from '../store/workspace-lock.ts';
import type { Tools } from './context.ts';

export interface QueueTools extends Pick<Tools, 'time' | 'figures' | 'log'> {
  /** The template of links to incidents; without one events have none. */
  resourceUrl: string | undefined;
}

type IncidentCreated = Envelope<EventData<'incident.created'>>;

/**
 * Queues a delivery for each subscription that was active when the incident was created (contract: Deliveries): judged by
 * when that was, not by when we hear of it.
 */
export async function queueEvent(tools: QueueTools, event: IncidentCreated, trx: Knex.Transaction): Promise<void> {
  const { workspace, data, occurred_at: occurredAt, request_id: requestId } = event;
  if (workspace.is_demo) return;
  const subscriptions = await subscriptionStore(trx, workspace.id).lockForEvent('incident.created');
  const active = await activeAt(
    trx,
    subscriptions.map(({ id }) => id),
    occurredAt,
  );
  const takers = subscriptions.filter(({ id }) => active.has(id));
  if (takers.length === 0) return;

  await lockWorkspace(trx, workspace.id);
  const store = deliveryStore(trx);
  const room = Math.max(0, MAX_QUEUED - (await store.queueLength(workspace.id)));
  const queued = takers.slice(0, room);
  if (queued.length > 0) {
    const now = await tools.time(trx);
    const url =
      tools.resourceUrl === undefined ? undefined : resourceUrl(tools.resourceUrl, workspace.slug, data.incident);
    const stored = {
      id: event.id,
      workspaceId: workspace.id,
      body: incidentCreatedBody({ eventId: event.id, occurredAt, incident: data.incident, url }),
      requestId,
      occurredAt,
    };
    await store.addEvent(stored, now);
    await store.addDeliveries(
      stored,
      queued.map(({ id, status }) => ({ id, held: status === 'paused' })),
      now,
    );
  }
  if (queued.length < takers.length) {
    const skipped = takers.slice(room).map(({ id }) => id);
    tools.figures.skipped.inc(skipped.length);
    tools.log.warn(
      { event: event.id, workspace: workspace.id, subscriptions: skipped, request_id: requestId },
      'the queue of a workspace is full: an event was skipped',
    );
  }
}

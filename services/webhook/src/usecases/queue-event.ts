import type { Envelope, EventData } from '@tocsin/contracts';
import { type Knex, storableTrace } from '@tocsin/runtime';
import { MAX_QUEUED } from '../domain/delivery.ts';
import { incidentCreatedBody, incidentNumberOf, resourceUrl } from '../domain/envelope.ts';
import { activeAt } from '../store/activity-store.ts';
import { deliveryStore } from '../store/delivery-store.ts';
import { subscriptionStore } from '../store/subscription-store.ts';
import { lockWorkspace } from '../store/subscription-store.ts';
import type { Dependencies } from './context.ts';

export interface QueueDependencies extends Pick<Dependencies, 'time' | 'metrics' | 'log'> {
  /** The template of links to incidents; without it events have no link. */
  resourceUrl: string | undefined;
}

type IncidentCreated = Envelope<EventData<'incident.created'>>;

/**
 * Queues a delivery for each subscription that was active when the incident was created (contract: Deliveries). The
 * incident's number in the workspace decides that, not the time at which the event arrives.
 */
export async function queueEvent(
  dependencies: QueueDependencies,
  event: IncidentCreated,
  trx: Knex.Transaction,
): Promise<void> {
  const { workspace, data, occurred_at: occurredAt, request_id: requestId } = event;
  if (workspace.is_demo) return;
  const subscriptions = await subscriptionStore(trx, workspace.id).lockForEvent('incident.created');
  const active = await activeAt(
    trx,
    subscriptions.map(({ id }) => id),
    { number: incidentNumberOf(data.incident), occurredAt },
  );
  const recipients = subscriptions.filter(({ id }) => active.has(id));
  if (recipients.length === 0) return;

  await lockWorkspace(trx, workspace.id);
  const store = deliveryStore(trx);
  const capacity = Math.max(0, MAX_QUEUED - (await store.queueLength(workspace.id)));
  const queued = recipients.slice(0, capacity);
  if (queued.length > 0) {
    const now = await dependencies.time(trx);
    const url =
      dependencies.resourceUrl === undefined
        ? undefined
        : resourceUrl(dependencies.resourceUrl, workspace.slug, data.incident);
    const storedEvent = {
      id: event.id,
      workspaceId: workspace.id,
      body: incidentCreatedBody({ eventId: event.id, occurredAt, incident: data.incident, url }),
      requestId,
      trace: storableTrace(),
      occurredAt,
    };
    await store.addEvent(storedEvent, now);
    await store.addDeliveries(
      storedEvent,
      queued.map(({ id, status }) => ({ id, held: status === 'paused' })),
      now,
    );
  }
  if (queued.length < recipients.length) {
    const skipped = recipients.slice(capacity).map(({ id }) => id);
    dependencies.metrics.skipped.inc(skipped.length);
    dependencies.log.warn(
      { event: event.id, workspace: workspace.id, subscriptions: skipped, request_id: requestId },
      'the queue of a workspace is full: an event was skipped',
    );
  }
}

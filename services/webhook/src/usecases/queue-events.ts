import { type Envelope, type EventData, QUEUES } from '@tocsin/contracts';
import { claimInInbox, type HandledBatch, type ReceivedEvent } from '@tocsin/messaging';
import type { Knex } from '@tocsin/runtime';
import { incidentCreatedBody, incidentNumberOf, resourceUrl } from '../domain/envelope.ts';
import { filterActive } from '../store/activity-store.ts';
import { deliveryStore } from '../store/delivery-store.ts';
import { findSubscribed, lockForEvents, lockWorkspaces } from '../store/subscription-store.ts';
import type { Dependencies } from './context.ts';

export interface QueueDependencies extends Pick<
  Dependencies,
  'time' | 'metrics' | 'log' | 'wakeDispatcher' | 'deliveryLimits'
> {
  /** The template of links to incidents; without it events have no link. */
  resourceUrl: string | undefined;
}

type IncidentCreated = Envelope<EventData<'incident.created'>>;

const isCreation = (event: Envelope): event is IncidentCreated => event.type === 'incident.created';

interface NewEvent {
  event: IncidentCreated;
  trace: string | null;
}

/** An event, and the subscriptions that were active when its incident was created. */
interface AddressedEvent extends NewEvent {
  recipients: { subscriptionId: string; isHeld: boolean }[];
}

/**
 * Returns the events of workspaces that have subscriptions. One statement asks for all of them, later than the last of
 * the events: so it sees every subscription that was active when the incident was created (ADR 39).
 */
export async function findWantedEvents(database: Knex, events: readonly ReceivedEvent[]): Promise<ReceivedEvent[]> {
  const creations = events.filter(({ event }) => isCreation(event) && !event.workspace.is_demo);
  if (creations.length === 0) return [];
  const workspaceIds = [...new Set(creations.map(({ event }) => event.workspace.id))];
  const subscribed = await findSubscribed(database, 'incident.created', workspaceIds);
  return creations.filter(({ event }) => subscribed.has(event.workspace.id));
}

/**
 * Queues a delivery for each subscription that was active when an incident was created (contract: Deliveries). The
 * incident's number in the workspace decides that, not the time at which the event arrives.
 */
export async function queueEvents(
  dependencies: QueueDependencies,
  { events, trx }: { events: readonly ReceivedEvent[]; trx: Knex.Transaction },
): Promise<HandledBatch> {
  const ids = events.map(({ event }) => event.id);
  const handled = await claimInInbox(trx, QUEUES.webhookIncidents, ids);
  const fresh = events.flatMap(({ event, trace }) =>
    isCreation(event) && handled.has(event.id) ? [{ event, trace }] : [],
  );
  const addressed = await findRecipients(trx, fresh);
  if (addressed.length === 0) return { handled };
  const isDue = await queueWithinCapacity(dependencies, trx, addressed);
  return { handled, ...(isDue && { onCommit: dependencies.wakeDispatcher }) };
}

/** Returns the events that have recipients. */
async function findRecipients(trx: Knex.Transaction, events: readonly NewEvent[]): Promise<AddressedEvent[]> {
  if (events.length === 0) return [];
  const workspaceIds = [...new Set(events.map(({ event }) => event.workspace.id))];
  const subscriptions = Map.groupBy(
    await lockForEvents(trx, 'incident.created', workspaceIds),
    ({ workspaceId }) => workspaceId,
  );
  const candidates = events.flatMap((source) =>
    (subscriptions.get(source.event.workspace.id) ?? []).map(({ id, status }) => ({
      source,
      creation: { number: incidentNumberOf(source.event.data.incident), occurredAt: source.event.occurred_at },
      subscriptionId: id,
      isHeld: status === 'paused',
    })),
  );
  // A statement after the lock: it sees the intervals of the statuses that are locked.
  const active = await filterActive(trx, candidates);
  return [...Map.groupBy(active, ({ source }) => source)].map(([source, recipients]) => ({ ...source, recipients }));
}

/** Queues what the queue of each workspace has room for. Returns whether any of it is due now. */
async function queueWithinCapacity(
  dependencies: QueueDependencies,
  trx: Knex.Transaction,
  addressed: readonly AddressedEvent[],
): Promise<boolean> {
  const workspaceIds = [...new Set(addressed.map(({ event }) => event.workspace.id))];
  await lockWorkspaces(trx, workspaceIds);
  const store = deliveryStore(trx);
  const lengths = await store.queueLengths(workspaceIds);
  const queued: AddressedEvent[] = [];
  for (const { event, trace, recipients } of addressed) {
    const length = lengths.get(event.workspace.id) ?? 0;
    const capacity = Math.max(0, dependencies.deliveryLimits.maxQueued - length);
    if (capacity > 0) queued.push({ event, trace, recipients: recipients.slice(0, capacity) });
    lengths.set(event.workspace.id, length + recipients.length);
    if (recipients.length > capacity) reportSkipped(dependencies, event, recipients.slice(capacity));
  }
  if (queued.length === 0) return false;
  const { resourceUrl: template } = dependencies;
  await store.queue(
    queued.map(({ event, trace, recipients }) => ({ ...storedEvent(event, template), trace, recipients })),
    await dependencies.time(trx),
  );
  return queued.some(({ recipients }) => recipients.some(({ isHeld }) => !isHeld));
}

function storedEvent(
  { id, workspace, data, occurred_at: occurredAt, request_id: requestId }: IncidentCreated,
  template: string | undefined,
) {
  const { incident } = data;
  const url = template === undefined ? undefined : resourceUrl(template, workspace.slug, incident);
  const body = incidentCreatedBody({ eventId: id, occurredAt, incident, url });
  return { id, workspaceId: workspace.id, body, requestId, occurredAt };
}

function reportSkipped(
  { metrics, log }: QueueDependencies,
  event: IncidentCreated,
  recipients: AddressedEvent['recipients'],
): void {
  metrics.skipped.inc(recipients.length);
  const subscriptions = recipients.map(({ subscriptionId }) => subscriptionId);
  log.warn(
    { event: event.id, workspace: event.workspace.id, subscriptions, request_id: event.request_id },
    'the queue of a workspace is full: an event was skipped',
  );
}

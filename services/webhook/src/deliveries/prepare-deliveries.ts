import { type Envelope, type EventData, QUEUES } from '@tocsin/schemas';
import { claimStatement, type ReceivedEvent } from '@tocsin/messaging';
import { type Knex, pipeline, type Statement } from '@tocsin/postgres';
import { incidentCreatedBody, incidentNumberOf, resourceUrl } from '../requests/domain/envelope.ts';
import { activeStatement } from '../subscriptions/store/activity-store.ts';
import { knownStatement, lengthsStatement, queueStatement } from '../queue/store/delivery-store.ts';
import { findSubscribed, lockForEvents, lockStatement } from '../subscriptions/store/subscription-store.ts';
import { timeStatement } from '../shared/store/time.ts';
import type { DeliveryLimits } from '../queue/domain/delivery.ts';
import type { WebhookMetrics } from '../queue/metrics.ts';
import type { SubscriptionDependencies } from '../subscriptions/subscription-command.ts';

export interface QueueDependencies extends Pick<SubscriptionDependencies, 'time' | 'log' | 'wakeDispatcher'> {
  metrics: WebhookMetrics;
  deliveryLimits: DeliveryLimits;
  /** The template of links to incidents; without it events have no link. */
  resourceUrl: string | undefined;
}

type IncidentCreated = Envelope<EventData<'incident.created'>>;

const isCreation = (event: Envelope): event is IncidentCreated => event.type === 'incident.created';

/** The event of a new incident, and the trace that its deliveries belong to. */
export interface NewEvent {
  event: IncidentCreated;
  trace: string | null;
}

/** An event, and the subscriptions that were active when its incident was created. */
interface AddressedEvent extends NewEvent {
  recipients: { subscriptionId: string; isHeld: boolean }[];
}

/** What becomes of the deliveries of a batch. */
export interface PreparedDeliveries {
  /** The IDs of the events that were handled now, and not before. */
  handled: ReadonlySet<string>;
  /** Adds the deliveries, with the commit of the transaction; none if there are none. */
  statements: readonly Statement<never>[];
  /** Called after the transaction has committed. */
  onCommit?: () => void;
}

/** The events of new incidents that may be delivered, of all that are in a batch. */
export const deliverable = (events: readonly ReceivedEvent[]): readonly NewEvent[] =>
  events.flatMap(({ event, trace }) => (isCreation(event) && !event.workspace.is_demo ? [{ event, trace }] : []));

/**
 * Asks which workspaces of the events have subscriptions. One statement asks for all of them, later than the last of the
 * events: so it sees every subscription that was active when the incident was created (ADR 39).
 */
export const findInterested = (events: readonly NewEvent[]) => findSubscribed('incident.created', workspacesOf(events));

/**
 * Prepares a delivery for each subscription that was active when an incident was created (contract: Deliveries). The
 * incident's number in the workspace decides that, not the time at which the event arrives.
 */
export async function prepareDeliveries(
  dependencies: QueueDependencies,
  { events, trx }: { events: readonly NewEvent[]; trx: Knex.Transaction },
): Promise<PreparedDeliveries> {
  if (events.length === 0) return { handled: new Set(), statements: [] };
  const ids = events.map(({ event }) => event.id);
  const [claimed, queuedBefore, subscriptions] = await pipeline(trx, [
    claimStatement(QUEUES.webhookFeed, ids),
    knownStatement(events.map(({ event }) => ({ id: event.id, workspaceId: event.workspace.id }))),
    lockForEvents('incident.created', workspacesOf(events)),
  ]);
  const handled = new Set(claimed.map(({ message_id: id }) => id));
  // The inbox has forgotten what was queued: its rows are older, or were not restored.
  const forgotten = queuedBefore.flatMap(({ id }) => (handled.delete(id) ? [id] : []));
  if (forgotten.length > 0)
    dependencies.log.warn({ events: forgotten }, 'events came again that the inbox has forgotten');
  const byWorkspace = Map.groupBy(subscriptions, ({ workspaceId }) => workspaceId);
  const candidates = events
    .filter(({ event }) => handled.has(event.id))
    .flatMap((source) =>
      (byWorkspace.get(source.event.workspace.id) ?? [])
        .filter(({ includeRestricted }) => includeRestricted || source.event.restricted !== true)
        .map(({ id, status }) => ({
          source,
          creation: { number: incidentNumberOf(source.event.data.incident), occurredAt: source.event.occurred_at },
          workspaceId: source.event.workspace.id,
          subscriptionId: id,
          isHeld: status === 'paused',
        })),
    );
  if (candidates.length === 0) return { handled, statements: [] };

  const workspaceIds = workspacesOf(candidates.map(({ source }) => source));
  // Statements after the lock of the subscriptions: they see the intervals of the statuses that are locked. The queues
  // are counted by a statement after the lock of their workspaces.
  const [active, , lengths, [time]] = await pipeline(trx, [
    activeStatement(candidates),
    lockStatement(workspaceIds),
    lengthsStatement(workspaceIds),
    timeStatement(dependencies.time.parameter()),
  ]);
  const indexes = new Set(active.map(({ index }) => index));
  const recipients = candidates.filter((_, index) => indexes.has(index));
  const addressed = [...Map.groupBy(recipients, ({ source }) => source)].map(([source, candidatesOfEvent]) => ({
    ...source,
    recipients: candidatesOfEvent,
  }));
  const queued = takeWithinCapacity(
    dependencies,
    addressed,
    new Map(lengths.map(({ workspace_id: id, length }) => [id, length])),
  );
  if (queued.length === 0 || time === undefined) return { handled, statements: [] };

  const { resourceUrl: template, wakeDispatcher } = dependencies;
  const statement = queueStatement(
    queued.map(({ event, trace, recipients: subscriptionsOfEvent }) => ({
      ...storedEvent(event, template),
      trace,
      recipients: subscriptionsOfEvent,
    })),
    time.now,
  );
  const isDue = queued.some(({ recipients: subscriptionsOfEvent }) =>
    subscriptionsOfEvent.some(({ isHeld }) => !isHeld),
  );
  return { handled, statements: [statement], ...(isDue && { onCommit: wakeDispatcher }) };
}

const workspacesOf = (events: readonly NewEvent[]) => [...new Set(events.map(({ event }) => event.workspace.id))];

/**
 * Returns what the queue of each workspace has room for.
 * @param lengths of the queues, by workspace; those that are empty are missing
 */
function takeWithinCapacity(
  dependencies: QueueDependencies,
  addressed: readonly AddressedEvent[],
  lengths: Map<number, number>,
): AddressedEvent[] {
  const queued: AddressedEvent[] = [];
  for (const { event, trace, recipients } of addressed) {
    const length = lengths.get(event.workspace.id) ?? 0;
    const capacity = Math.max(0, dependencies.deliveryLimits.maxQueued - length);
    if (capacity > 0) queued.push({ event, trace, recipients: recipients.slice(0, capacity) });
    lengths.set(event.workspace.id, length + recipients.length);
    if (recipients.length > capacity) reportSkipped(dependencies, event, recipients.slice(capacity));
  }
  return queued;
}

function storedEvent(
  {
    id,
    workspace,
    data,
    occurred_at: occurredAt,
    request_id: requestId,
    restricted: isRestricted = false,
  }: IncidentCreated,
  template: string | undefined,
) {
  const { incident } = data;
  const url = template === undefined ? undefined : resourceUrl(template, workspace.slug, incident);
  const body = incidentCreatedBody({ eventId: id, occurredAt, incident, isRestricted, url });
  return { id, workspaceId: workspace.id, body, requestId, occurredAt, isRestricted };
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

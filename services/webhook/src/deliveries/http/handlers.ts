import { buildPage, type Cursors, cursorsOf, DEFAULT_LIMIT, notFound, seesRestricted } from '@tocsin/http';
import { changeBy } from '@tocsin/messaging';
import type { Knex } from '@tocsin/postgres';
import type { DeliveryLimits } from '../../queue/domain/delivery.ts';
import { deliveryLogStore, type LoggedAttempt, type LoggedDelivery } from '../../queue/store/delivery-log-store.ts';
import type { Time } from '../../shared/store/time.ts';
import { getDelivery, redeliver } from '../redeliver.ts';
import { type DeliveryApi, deliveryContracts } from './contracts.ts';
import type { DeliveryWire } from './wire.ts';

interface DeliveryDependencies {
  database: Knex;
  time: Time;
  cursors: Cursors;
  deliveryLimits: DeliveryLimits;
  wakeDispatcher: () => void;
  wakeRelay: () => void;
}

const { path } = deliveryContracts.listWebhookDeliveries;

export function deliveryHandlers(dependencies: DeliveryDependencies): DeliveryApi {
  const { database, time, deliveryLimits: limits, wakeDispatcher, wakeRelay } = dependencies;
  const positions = cursorsOf(dependencies.cursors, { name: 'id', keys: ['integer'] });
  return {
    listWebhookDeliveries: async ({ principal, query }) => {
      const { limit = DEFAULT_LIMIT, cursor, webhook_id: subscriptionId, status, event_id: eventId } = query;
      const filter = { subscriptionId, status, eventId: eventId?.toLowerCase() };
      const scope = { workspaceId: principal.workspace.id, path, filters: filter };
      const [before] = cursor === undefined ? [] : positions.decode(cursor, scope);
      const { rows, pagination } = await buildPage({
        listed: await deliveryLogStore(database).list(principal.workspace.id, {
          ...filter,
          ...{ seesRestricted: seesRestricted(principal), before, limit: limit + 1 },
        }),
        limit,
        view: deliveryView,
        nextCursor: ({ id }) => positions.encode([id], scope),
      });
      return { body: { deliveries: rows, pagination } };
    },

    getWebhookDelivery: async ({ principal, params: { id } }) => {
      const log = deliveryLogStore(database);
      const whose = { workspaceId: principal.workspace.id, seesRestricted: seesRestricted(principal) };
      const attempts = await log.attempts({ ...whose, id });
      const delivery = await getDelivery(database, { ...whose, deliveryId: id });
      const body = await log.findBody(delivery);
      if (body === undefined) throw notFound(`The delivery ${id}`);
      return { body: { delivery: { ...deliveryView(delivery), body }, attempts: attempts.map(attemptView) } };
    },

    redeliverWebhook: async (request) => {
      const { principal, params } = request;
      const queued = await redeliver(
        { database, time, limits },
        {
          ...{ workspaceId: principal.workspace.id, deliveryId: params.id, seesRestricted: seesRestricted(principal) },
          ...{ requestedBy: String(principal.user_id), change: changeBy(request) },
        },
      );
      wakeDispatcher();
      wakeRelay();
      return { body: { delivery: deliveryView(queued) } };
    },
  };
}

const deliveryView = (delivery: LoggedDelivery): DeliveryWire => ({
  id: delivery.id,
  webhook_id: delivery.subscriptionId,
  event_id: delivery.eventId,
  event_type: delivery.eventType,
  incident: delivery.incident,
  status: delivery.status,
  attempts: delivery.attempts,
  last_error: delivery.lastError,
  last_status: delivery.lastStatus,
  queued_at: delivery.queuedAt,
  due_at: delivery.finishedAt === null ? delivery.dueAt : null,
  finished_at: delivery.finishedAt,
  redelivery: delivery.redelivery,
  requested_by: requester(delivery),
});

/** Users of the API do not learn what the accounts and the machines of operators are called. */
const requester = ({ requestedBy }: LoggedDelivery) =>
  requestedBy === null || /^[0-9]+$/.test(requestedBy) ? requestedBy : 'operator';

const attemptView = ({ number, startedAt, duration, result, status, answer }: LoggedAttempt) => ({
  ...{ number, started_at: startedAt, duration_ms: duration, result, status, answer },
});

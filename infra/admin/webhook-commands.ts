import os from 'node:os';
import { createLogger } from '@tocsin/runtime';
import {
  DELIVERY_STATUSES,
  deliveryLimits,
  deliveryLog,
  type LoggedAttempt,
  type LoggedDelivery,
  type Subscription,
} from '../../services/webhook/src/administration.ts';
import { UsageError } from '../cli/src/operation-parameters.ts';
import { type Command, parsePositive, workspaceFlag } from './command.ts';
import { snakeCase } from './views.ts';

const argument = { name: 'delivery', help: "the delivery's ID", parse: parsePositive };

const DEFAULT_LIMIT = 100;
const MAX_LIMIT = 10_000;

const webhookView = (subscription: Subscription & { waiting: number }) => ({
  id: subscription.id,
  name: subscription.name,
  url: subscription.origin,
  status: subscription.status,
  verified: subscription.verified,
  event_types: subscription.eventTypes,
  waiting: subscription.waiting,
  consecutive_failures: subscription.consecutiveFailures,
  last_success_at: subscription.lastSuccessAt,
  last_failure_at: subscription.lastFailureAt,
  created_at: subscription.createdAt,
});

/** All that is logged of a delivery. */
const deliveryView = ({ id, workspaceId, subscriptionId: subscription, origin: url, ...logged }: LoggedDelivery) =>
  snakeCase({ id, workspaceId, subscription, url, ...logged });

const attemptView = ({ number, startedAt, duration, answer: _, ...outcome }: LoggedAttempt) =>
  snakeCase({ number, startedAt, durationMs: duration, ...outcome });

interface Filter {
  workspace: string;
  subscription?: string;
  status?: (typeof DELIVERY_STATUSES)[number];
  limit?: number;
}

/** The user of the machine who runs the command. */
function operator(): string {
  try {
    return `${os.userInfo().username}@${os.hostname()}`;
  } catch {
    // The user of a container may have no name.
    return `${process.getuid?.() ?? 'unknown'}@${os.hostname()}`;
  }
}

export const list: Command = {
  flags: { workspace: workspaceFlag },
  table: {
    rows: 'webhooks',
    columns: [
      ...['id', 'name', 'url', 'status', 'verified', 'waiting', 'consecutive_failures'],
      ...['last_success_at', 'last_failure_at', 'created_at'],
    ],
  },
  run: async ({ workspace }: { workspace: string }, { gateway, database }) => {
    const { id } = await gateway.getWorkspace(workspace);
    return { webhooks: (await deliveryLog(database('webhook')).subscriptions(id)).map(webhookView) };
  },
};

export const deliveries: Command = {
  flags: {
    workspace: workspaceFlag,
    subscription: { value: 'ID', help: 'only the deliveries of this webhook' },
    status: { value: 'STATUS', help: '', choices: DELIVERY_STATUSES },
    limit: {
      value: 'N',
      help: `at most N of them; ${DEFAULT_LIMIT} by default, up to ${MAX_LIMIT}`,
      parse: (text, name) => parsePositive(text, name, MAX_LIMIT),
    },
  },
  table: {
    rows: 'deliveries',
    columns: [
      ...['id', 'incident', 'subscription', 'url', 'status', 'attempts', 'last_error', 'last_status'],
      ...['event_queued_at', 'finished_at', 'redelivery'],
    ],
  },
  run: async ({ workspace, subscription, status, limit = DEFAULT_LIMIT }: Filter, { gateway, database }) => {
    const { id } = await gateway.getWorkspace(workspace);
    const filter = { subscriptionId: subscription, status, limit };
    return { deliveries: (await deliveryLog(database('webhook')).deliveries(id, filter)).map(deliveryView) };
  },
};

export const showDelivery: Command = {
  argument,
  flags: {},
  run: async ({ delivery }: { delivery: number }, { database }) => {
    const logged = await deliveryLog(database('webhook')).delivery(delivery);
    return { delivery: deliveryView(logged.delivery), attempts: logged.attempts.map(attemptView) };
  },
};

export const redeliver: Command = {
  argument,
  flags: {},
  run: async ({ delivery: id }: { delivery: number }, { gateway, database, env, print }) => {
    const limits = deliveryLimits(env);
    const log = deliveryLog(database('webhook'));
    const { delivery: original } = await log.delivery(id);
    const { slug, isDemo } = await gateway.getWorkspaceById(original.workspaceId);
    if (isDemo) throw new UsageError(`${slug} is a demo workspace, which sends no webhooks`);
    const delivery = await log.redeliver({ deliveryId: id, requestedBy: operator() }, limits);
    const logger = createLogger({
      app: 'admin',
      level: 'info',
      destination: { write: (line) => print(line.trim()) },
    });
    logger.info(
      {
        delivery: delivery.id,
        of: id,
        event: delivery.eventId,
        subscription: delivery.subscriptionId,
        workspace: delivery.workspaceId,
        requested_by: delivery.requestedBy,
      },
      'an operator queued a delivery again',
    );
    return { delivery: deliveryView(delivery) };
  },
};

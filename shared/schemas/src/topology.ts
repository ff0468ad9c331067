import { type EventType, FEED_TYPES } from './events.ts';
import type { ServiceName } from './service-calls.ts';

type AppName = 'gateway' | ServiceName;

/** Names on the broker begin with the installation's namespace (`TOCSIN_NAMESPACE`, default `tocsin`). */
export const exchangeName = (namespace: string) => `${namespace}.events`;
/** From where a message that a consumer returns goes to the end of its queue: the routing key is the queue's `name`. */
export const requeueExchangeName = (namespace: string) => `${namespace}.requeue`;
export const queueName = (namespace: string, queue: QueueDefinition) => `${namespace}.${queue.name}`;
export const deadLetterQueueName = (namespace: string, queue: QueueDefinition) => `${queueName(namespace, queue)}.dead`;

/** Takes the messages by which apps find out whether the broker stores messages. Nobody consumes it: it keeps the last one. */
export const healthQueueName = (namespace: string) => `${namespace}.health`;
/** The routing key of these messages. */
export const HEALTH_TYPE = 'health';

/**
 * A durable queue and the routing keys that are bound to it. During an upgrade a consumer of the previous release ignores
 * the types that it does not know.
 */
export interface QueueDefinition {
  /** Begins with the name of the app that consumes the queue. */
  name: `${AppName}.${string}`;
  bindings: readonly EventType[];
  /** Of several consumers one gets all messages, so that they are handled in the order of the queue. */
  singleActiveConsumer?: true;
  /**
   * Publishers keep it about this short while it is consumed. No turns can be taken in a queue: what one workspace has
   * there delays all others (ADR 48).
   */
  keptBelow?: number;
}

/**
 * All queues. Every app declares all of them, publishers too, so that an event published before its consumer's first
 * start waits in the queue. Each queue has its own dead-letter queue, `<name>.dead`.
 */
export const QUEUES = {
  /** Recorded in the event feed, but for erasures; those of new incidents are queued as deliveries, too. */
  webhookFeed: {
    name: 'webhook.feed',
    bindings: [...FEED_TYPES, 'user.erased'],
    singleActiveConsumer: true,
    keptBelow: 500,
  },
  incidentReplicas: {
    name: 'incident.replicas',
    bindings: ['service.changed', 'team.changed', 'custom-field.changed', 'user.changed', 'workspace.changed'],
  },
  incidentReports: {
    name: 'incident.feeds',
    bindings: ['customer-impact.updated', 'investigation.run.updated'],
  },
  /** Recorded in the audit log. */
  gatewayAudit: { name: 'gateway.audit', bindings: ['audit.recorded'] },
  catalogReplicas: { name: 'catalog.replicas', bindings: ['user.changed'] },
} as const satisfies Record<string, QueueDefinition>;

const isBound = ({ bindings }: { bindings: readonly string[] }, type: string) => bindings.includes(type);

/** Whether a queue is bound to events of this type. If so, a message that the broker could not route must be resent. */
export const hasConsumer = (type: string) => Object.values(QUEUES).some((queue) => isBound(queue, type));

/** The queue among those bound to this type that publishers keep short. */
export const shortQueueOf = (type: string): QueueDefinition | undefined =>
  Object.values<QueueDefinition>(QUEUES).find((queue) => queue.keptBelow !== undefined && isBound(queue, type));

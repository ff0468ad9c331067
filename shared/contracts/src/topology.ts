import type { EventType } from './events.ts';

/** Names on the broker begin with the installation's namespace (`TOCSIN_NAMESPACE`), `tocsin` unless set. */
export const exchangeName = (namespace: string) => `${namespace}.events`;
export const queueName = (namespace: string, queue: QueueDefinition) => `${namespace}.${queue.name}`;
export const deadLetterQueueName = (namespace: string, queue: QueueDefinition) => `${queueName(namespace, queue)}.dead`;

/** A durable queue and the routing keys that lead to it. */
export interface QueueDefinition {
  name: string;
  bindings: readonly EventType[];
}

/**
 * Every queue of ours. Each app declares all of them, publishers too: an event that is published before its consumer's
 * first start then waits for it, instead of going nowhere. Each has a dead-letter queue of its own, `<name>.dead`.
 */
export const QUEUES = {
  webhookIncidents: { name: 'webhook.incidents', bindings: ['incident.created'] },
  incidentReplicas: {
    name: 'incident.replicas',
    bindings: ['service.changed', 'team.changed', 'custom-field.changed', 'user.changed', 'workspace.changed'],
  },
  incidentFeeds: {
    name: 'incident.feeds',
    bindings: ['customer-impact.updated', 'investigation.run.updated'],
  },
  catalogReplicas: { name: 'catalog.replicas', bindings: ['user.changed'] },
} as const satisfies Record<string, QueueDefinition>;

/** Whether a queue of ours takes events of this type: if so, a message that the broker could not route is not sent. */
export const hasConsumer = (type: string) =>
  Object.values(QUEUES).some(({ bindings }: QueueDefinition) => bindings.includes(type as EventType));

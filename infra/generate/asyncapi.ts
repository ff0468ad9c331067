import { envelope, eventData, type EventType, exchangeName } from '@tocsin/contracts';
import { z } from 'zod';
import { EXAMPLES } from '../events/examples.ts';
import type { Artefact } from './artefact.ts';

/** Those that come to us from other systems; we publish all others. */
const CONSUMED: ReadonlySet<EventType> = new Set(['customer-impact.updated', 'investigation.run.updated']);

const SUMMARIES: Record<EventType, string> = {
  'incident.created': 'An incident was declared',
  'incident.updated': 'Properties, values or the timeline of an incident changed',
  'incident.archived': 'An incident was archived',
  'incident.restored': 'An archived incident was restored',
  'service.changed': 'A service was made, changed, archived or restored',
  'team.changed': 'A team was made, changed, archived or restored',
  'custom-field.changed': 'A custom field was defined, changed, archived or restored',
  'workspace.changed': 'A workspace was made, or its settings or configuration changed',
  'user.changed': 'A user was made, changed, deactivated or activated',
  'customer-impact.updated': 'What an incident costs, as another system computed it',
  'investigation.run.updated': 'How an investigation of an incident stands, as another system reports it',
};

const TYPES = Object.keys(eventData) as EventType[];
const nameOf = (type: EventType) => type.replaceAll(/[.-]/g, '_');

/** The broker's side of the contract, from the schemas that the services check their messages with. */
export const asyncApiArtefact: Artefact = {
  file: 'docs/events/asyncapi.json',
  make: async () => json(document()),
};

/** One message of every type, for whoever writes a consumer and its tests. */
export const exampleArtefacts: readonly Artefact[] = TYPES.map((type) => ({
  file: `docs/events/examples/${type}.json`,
  make: async () => json(EXAMPLES[type]),
}));

const json = (value: unknown) => `${JSON.stringify(value, undefined, 2)}\n`;

function document() {
  return {
    asyncapi: '3.0.0',
    info: {
      title: 'Tocsin events',
      version: '1',
      description:
        'Messages on the topic exchange. Persistent JSON, at least once and in no promised order: deduplicate by id, and let revision or version decide what is newer. Ignore members that you do not know.',
    },
    defaultContentType: 'application/json',
    channels: {
      events: {
        address: exchangeName('tocsin'),
        description: 'The exchange; its first word is TOCSIN_NAMESPACE. The routing key is the type.',
        messages: Object.fromEntries(
          TYPES.map((type) => [nameOf(type), { $ref: `#/components/messages/${nameOf(type)}` }]),
        ),
        bindings: {
          amqp: {
            is: 'routingKey',
            exchange: { name: exchangeName('tocsin'), type: 'topic', durable: true, vhost: '/' },
          },
        },
      },
    },
    operations: {
      publish: operation('send', 'What Tocsin publishes', (type) => !CONSUMED.has(type)),
      consume: operation('receive', 'What Tocsin consumes from other systems', (type) => CONSUMED.has(type)),
    },
    components: {
      messages: Object.fromEntries(TYPES.map((type) => [nameOf(type), message(type)])),
    },
  };
}

function operation(action: 'send' | 'receive', summary: string, takes: (type: EventType) => boolean) {
  return {
    action,
    summary,
    channel: { $ref: '#/channels/events' },
    messages: TYPES.filter(takes).map((type) => ({ $ref: `#/channels/events/messages/${nameOf(type)}` })),
  };
}

function message(type: EventType) {
  const payload = envelope.extend({ type: z.literal(type), data: eventData[type] });
  return {
    name: type,
    title: SUMMARIES[type],
    contentType: 'application/json',
    bindings: { amqp: { messageType: type } },
    payload: z.toJSONSchema(payload, { target: 'draft-7', io: 'input', unrepresentable: 'any' }),
    examples: [{ payload: EXAMPLES[type] }],
  };
}

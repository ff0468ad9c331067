import {
  envelope,
  eventData,
  EVENT_TYPES,
  EVENTS,
  type EventType,
  eventWorkspace,
  exchangeName,
  incidentChange,
  incidentReference,
  incidentSnapshot,
  largeValue,
  timelineEventSnapshot,
} from '@tocsin/schemas';
import { z } from 'zod';
import { EXAMPLES } from './event-examples.ts';
import { jsonText } from './formatted.ts';
import { type JsonSchema, mapInner } from './tolerant-schema.ts';

/** Whether Tocsin publishes these events; it consumes all others from other systems. */
const isPublished = (type: EventType) => EVENTS[type].publishers.length > 0;

const nameOf = (type: EventType) => type.replaceAll(/[.-]/g, '_');

/** The description of the events, from the schemas by which the services validate their messages. */
export const asyncApiFile = {
  file: 'docs/events/asyncapi.json',
  generate: async () => jsonText(document()),
};

/** One message of every type, for authors of consumers. */
export const exampleFiles = EVENT_TYPES.map((type) => ({
  file: `docs/events/examples/${type}.json`,
  generate: async () => jsonText(EXAMPLES[type]),
}));

function document() {
  return {
    asyncapi: '3.1.0',
    info: {
      title: 'Tocsin events',
      version: '1',
      description:
        'Messages on the topic exchange: persistent JSON, delivered at least once. Events of one incident, and those of one workspace that carry a version, are published in the order of revision or version; redelivery may change the order. Deduplicate by id; use revision or version to tell which message is newer. Ignore unknown members and unknown types. The folder examples has one message of every type.',
      license: { name: 'Apache-2.0', url: 'https://www.apache.org/licenses/LICENSE-2.0' },
      tags: [{ name: 'incidents' }, { name: 'catalog' }, { name: 'custom fields' }, { name: 'workspaces' }],
    },
    defaultContentType: 'application/json',
    servers: {
      rabbitmq: {
        host: 'rabbitmq.example:5672',
        protocol: 'amqp',
        protocolVersion: '0-9-1',
        description: "The installation's own RabbitMQ (`AMQP_URL`)",
      },
    },
    channels: {
      events: {
        address: exchangeName('tocsin'),
        description: 'The exchange. Its name begins with TOCSIN_NAMESPACE. The routing key is the event type.',
        messages: Object.fromEntries(
          EVENT_TYPES.map((type) => [nameOf(type), { $ref: `#/components/messages/${nameOf(type)}` }]),
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
      publish: operation('send', 'Events that Tocsin publishes', isPublished),
      consume: operation('receive', 'Events that Tocsin consumes from other systems', (type) => !isPublished(type)),
    },
    components: {
      messages: Object.fromEntries(EVENT_TYPES.map((type) => [nameOf(type), message(type)])),
      schemas: Object.fromEntries(
        Object.entries(SCHEMAS).map(([name, schema]) => [name, withReferences(schema, name)]),
      ),
    },
  };
}

function operation(action: 'send' | 'receive', description: string, includes: (type: EventType) => boolean) {
  return {
    action,
    description,
    channel: { $ref: '#/channels/events' },
    messages: EVENT_TYPES.filter(includes).map((type) => ({ $ref: `#/channels/events/messages/${nameOf(type)}` })),
  };
}

const schemaOf = (schema: z.ZodType): JsonSchema => {
  const { $schema: _, ...properties } = z.toJSONSchema(schema, {
    target: 'draft-7',
    io: 'input',
    unrepresentable: 'any',
  });
  return properties as JsonSchema;
};

/** The schemas that several messages have. */
const SCHEMAS: Readonly<Record<string, JsonSchema>> = {
  Envelope: schemaOf(envelope),
  Workspace: schemaOf(eventWorkspace),
  Incident: schemaOf(incidentSnapshot),
  IncidentReference: schemaOf(incidentReference),
  Change: schemaOf(incidentChange),
  TimelineEvent: schemaOf(timelineEventSnapshot),
  LargeValue: schemaOf(largeValue),
};
const NAMES = new Map(Object.entries(SCHEMAS).map(([name, schema]) => [textOf(schema), name]));

/** A schema without its description, which differs where the schema is used. */
function textOf({ description: _, ...schema }: JsonSchema): string {
  return JSON.stringify(schema);
}

const referenceTo = (name: string) => ({ $ref: `#/components/schemas/${name}` });

/** @param nameOfSchema the name of the schema itself, which is no reference */
function withReferences(schema: JsonSchema, nameOfSchema?: string): JsonSchema {
  const name = NAMES.get(textOf(schema));
  if (name === undefined || name === nameOfSchema) return mapInner(schema, (inner) => withReferences(inner));
  const { description } = schema;
  if (description === undefined || description === SCHEMAS[name]?.description) return referenceTo(name);
  return { description, allOf: [referenceTo(name)] };
}

function message(type: EventType) {
  const typeAndData = z.object({ type: z.literal(type), data: eventData[type] });
  return {
    name: type,
    title: EVENTS[type].summary,
    contentType: 'application/json',
    bindings: { amqp: { messageType: type } },
    payload: { allOf: [referenceTo('Envelope'), withReferences(schemaOf(typeAndData))] },
  };
}

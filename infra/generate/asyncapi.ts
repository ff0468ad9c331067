import {
  envelope,
  eventData,
  type EventType,
  eventWorkspace,
  exchangeName,
  incidentChange,
  incidentReference,
  incidentSnapshot,
  largeValue,
  timelineEventSnapshot,
} from '@tocsin/contracts';
import { z } from 'zod';
import { EXAMPLES } from './event-examples.ts';
import { jsonText } from './formatted.ts';
import { type JsonSchema, mapInner } from './tolerant-schema.ts';

/** Events that Tocsin consumes from other systems; it publishes all others. */
const CONSUMED: ReadonlySet<EventType> = new Set(['customer-impact.updated', 'investigation.run.updated']);

const SUMMARIES: Record<EventType, string> = {
  'incident.created': 'An incident was created',
  'incident.updated': 'Properties, values or the timeline of an incident changed',
  'incident.archived': 'An incident was archived',
  'incident.restored': 'An archived incident was restored',
  'incident.imported': 'An import from another system created or changed an incident, with its timeline',
  'timeline_event.created':
    'A timeline event was added to an incident, by a client, a lifecycle operation or an import',
  'timeline_event.updated': 'Properties of a timeline event changed',
  'timeline_event.deleted': 'A timeline event was deleted',
  'service.changed': 'A service was created, changed, archived or restored',
  'team.changed': 'A team was created, changed, archived or restored',
  'custom-field.changed': 'A custom field was created, changed, archived or restored',
  'workspace.changed': 'A workspace was created, or its settings or configuration changed',
  'user.changed': 'A user was created, changed, deactivated or activated',
  'audit.recorded': 'Somebody changed a setting of a workspace',
  'customer-impact.updated': 'Another system computed the customer impact of an incident',
  'investigation.run.updated': 'Another system reported the progress of an investigation of an incident',
};

const TYPES = Object.keys(eventData) as EventType[];
const nameOf = (type: EventType) => type.replaceAll(/[.-]/g, '_');

/** The description of the events, from the schemas by which the services validate their messages. */
export const asyncApiFile = {
  file: 'docs/events/asyncapi.json',
  generate: async () => jsonText(document()),
};

/** One message of every type, for authors of consumers. */
export const exampleFiles = TYPES.map((type) => ({
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
      publish: operation('send', 'Events that Tocsin publishes', (type) => !CONSUMED.has(type)),
      consume: operation('receive', 'Events that Tocsin consumes from other systems', (type) => CONSUMED.has(type)),
    },
    components: {
      messages: Object.fromEntries(TYPES.map((type) => [nameOf(type), message(type)])),
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
    messages: TYPES.filter(includes).map((type) => ({ $ref: `#/channels/events/messages/${nameOf(type)}` })),
  };
}

const schemaOf = (schema: z.ZodType): JsonSchema => {
  const { $schema: _, ...rest } = z.toJSONSchema(schema, { target: 'draft-7', io: 'input', unrepresentable: 'any' });
  return rest as JsonSchema;
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

/** @param own the name of the schema itself, which is no reference */
function withReferences(schema: JsonSchema, own?: string): JsonSchema {
  const name = NAMES.get(textOf(schema));
  if (name === undefined || name === own) return mapInner(schema, (inner) => withReferences(inner));
  const { description } = schema;
  if (description === undefined || description === SCHEMAS[name]?.description) return referenceTo(name);
  return { description, allOf: [referenceTo(name)] };
}

function message(type: EventType) {
  const own = z.object({ type: z.literal(type), data: eventData[type] });
  return {
    name: type,
    title: SUMMARIES[type],
    contentType: 'application/json',
    bindings: { amqp: { messageType: type } },
    payload: { allOf: [referenceTo('Envelope'), withReferences(schemaOf(own))] },
  };
}

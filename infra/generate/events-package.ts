import { envelope, EVENT_TYPES, eventData } from '@tocsin/schemas';
import { z } from 'zod';
import { compileValidators } from './compile-validators.ts';
import { type JsonSchema, tolerantSchema } from './tolerant-schema.ts';
import { typeOf } from './type-of-schema.ts';

const FOLDER = 'shared/events-client';
const HEADER = '// Generated from shared/schemas by npm run generate. Do not edit.';

const schemaOf = (schema: z.ZodType): JsonSchema => {
  const { $schema: _, ...jsonSchema } = z.toJSONSchema(schema, {
    target: 'draft-7',
    io: 'input',
    unrepresentable: 'any',
  });
  return tolerantSchema(jsonSchema as JsonSchema);
};

const dataSchemas = Object.fromEntries(EVENT_TYPES.map((type) => [type, schemaOf(eventData[type])]));
const envelopeSchema = schemaOf(envelope);

/** The files of `@tocsin/events` that follow from the schemas of the events. */
export const eventsPackageFiles = [
  { file: `${FOLDER}/schemas.json`, generate: async () => `${JSON.stringify(messageSchemas(), undefined, 2)}\n` },
  { file: `${FOLDER}/src/generated/event-data.ts`, generate: async () => types() },
  { file: `${FOLDER}/src/generated/validators.ts`, generate: async () => validators() },
];

/** One schema of the whole message for each type, and all of them together. */
function messageSchemas() {
  return {
    $schema: 'http://json-schema.org/draft-07/schema#',
    title: 'The events of Tocsin',
    description:
      'The definitions are the messages by type. Unknown members, and unknown values of enumerations, are valid.',
    oneOf: EVENT_TYPES.map((type) => ({ $ref: `#/definitions/${type}` })),
    definitions: Object.fromEntries(
      EVENT_TYPES.map((type) => [
        type,
        {
          ...envelopeSchema,
          properties: { ...envelopeSchema.properties, type: { type: 'string', const: type }, data: dataSchemas[type] },
        },
      ]),
    ),
  };
}

function types(): string {
  return [
    HEADER,
    '',
    '/** The members that every event has. */',
    `export interface EnvelopeMembers ${typeOf(withoutProperties(envelopeSchema, 'type', 'data'))}`,
    '',
    '/** The type of `data`, by event type. */',
    'export interface EventData {',
    ...EVENT_TYPES.map((type) => `  '${type}': ${typeOf(dataSchemas[type] ?? {}, 1)};`),
    '}',
    '',
    '/** Every event type that this version knows. */',
    'export const EVENT_TYPES = [',
    ...EVENT_TYPES.map((type) => `  '${type}',`),
    '] as const satisfies readonly (keyof EventData)[];',
    '',
  ].join('\n');
}

function withoutProperties(schema: JsonSchema, ...names: string[]): JsonSchema {
  const properties = Object.entries(schema.properties ?? {}).filter(([name]) => !names.includes(name));
  return { ...schema, properties: Object.fromEntries(properties) };
}

function validators(): string {
  return [
    HEADER,
    '// @ts-nocheck: JavaScript by Ajv',
    compileValidators({
      validateEnvelope: envelopeSchema,
      ...Object.fromEntries(EVENT_TYPES.map((type) => [nameOf(type), dataSchemas[type] ?? {}])),
    }),
    '',
    'export const dataValidators = {',
    ...EVENT_TYPES.map((type) => `  '${type}': ${nameOf(type)},`),
    '};',
    '',
  ].join('\n');
}

const nameOf = (type: string) => `validate_${type.replaceAll(/[.-]/g, '_')}`;

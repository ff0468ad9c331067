/** The part of JSON Schema, draft 7, that the schemas of the events use. */
export interface JsonSchema {
  type?: string | string[];
  description?: string;
  properties?: Record<string, JsonSchema>;
  required?: string[];
  items?: JsonSchema;
  /** Of objects whose members are not named; `false` is dropped. */
  additionalProperties?: JsonSchema | false;
  anyOf?: JsonSchema[];
  enum?: unknown[];
  examples?: unknown[];
  const?: unknown;
  format?: string;
  pattern?: string;
  [keyword: string]: unknown;
}

/** Keywords that need no change. */
const KEPT = new Set([
  ...['type', 'description', 'required', 'const', 'format', 'pattern'],
  ...['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum'],
]);
const DROPPED = new Set(['minLength', 'maxLength', 'minItems', 'maxItems', 'propertyNames', 'definitions', 'id']);

/** RFC 3339. */
const TIMESTAMP = '^\\d{4}-\\d{2}-\\d{2}[Tt]\\d{2}:\\d{2}:\\d{2}(?:\\.\\d+)?(?:[Zz]|[+-]\\d{2}:\\d{2})$';

/**
 * The schema for consumers, which must accept events of later versions: unknown members are valid, and so are unknown
 * values of enumerations (contract: Versioning) and all lengths, because limits change. References are resolved, and
 * timestamps have a pattern.
 * @throws Error for a keyword that it does not know
 */
export function tolerantSchema(schema: JsonSchema, definitions = definitionsOf(schema)): JsonSchema {
  const reference = schema['$ref'];
  if (typeof reference === 'string') {
    const { $ref: _, ...others } = schema;
    return { ...tolerantSchema(definitions[reference] ?? unknownReference(reference), definitions), ...others };
  }
  const tolerant: JsonSchema = {};
  const convert = (inner: JsonSchema) => tolerantSchema(inner, definitions);
  for (const [keyword, value] of Object.entries(schema)) {
    if (KEPT.has(keyword)) tolerant[keyword] = value;
    else if (keyword === 'properties') tolerant.properties = mapValues(schema.properties ?? {}, convert);
    else if (keyword === 'items') tolerant.items = convert(schema.items ?? {});
    else if (keyword === 'anyOf') tolerant.anyOf = schema.anyOf?.map(convert) ?? [];
    else if (keyword === 'enum') tolerant.examples = schema.enum ?? [];
    else if (keyword === 'additionalProperties') {
      if (schema.additionalProperties) tolerant.additionalProperties = convert(schema.additionalProperties);
    } else if (!DROPPED.has(keyword))
      throw new Error(`the generator does not know the keyword ${keyword} of JSON Schema`);
  }
  if (schema.format === 'date-time') tolerant.pattern ??= TIMESTAMP;
  return tolerant;
}

const definitionsOf = ({ definitions = {} }: JsonSchema): Record<string, JsonSchema> =>
  Object.fromEntries(
    Object.entries(definitions as Record<string, JsonSchema>).map(([name, value]) => [`#/definitions/${name}`, value]),
  );

export const mapValues = <From, To>(object: Record<string, From>, convert: (value: From) => To): Record<string, To> =>
  Object.fromEntries(Object.entries(object).map(([name, value]) => [name, convert(value)]));

/** A schema whose direct parts are converted. */
export function mapInner(schema: JsonSchema, convert: (schema: JsonSchema) => JsonSchema): JsonSchema {
  const mapped = { ...schema };
  if (schema.properties !== undefined) mapped.properties = mapValues(schema.properties, convert);
  if (schema.items !== undefined) mapped.items = convert(schema.items);
  if (schema.additionalProperties) mapped.additionalProperties = convert(schema.additionalProperties);
  if (schema.anyOf !== undefined) mapped.anyOf = schema.anyOf.map(convert);
  return mapped;
}

function unknownReference(reference: string): never {
  throw new Error(`the generator cannot resolve ${reference}`);
}

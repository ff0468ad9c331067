import type { JsonSchema } from './tolerant-schema.ts';

const SCALARS: Readonly<Record<string, string>> = {
  string: 'string',
  integer: 'number',
  number: 'number',
  boolean: 'boolean',
  null: 'null',
};

/**
 * The TypeScript type of the values of a schema, as source text that is indented by `depth` steps. A `$ref` is the name
 * of a type.
 */
export function typeOf(schema: JsonSchema, depth = 0): string {
  const { type, anyOf, $ref } = schema;
  if (typeof $ref === 'string') return $ref;
  if ('const' in schema) return literal(schema.const);
  if (anyOf !== undefined) return union(anyOf.map((option) => typeOf(option, depth)));
  if (type === undefined) return 'unknown';
  if (Array.isArray(type)) return union(type.map((one) => typeOf({ ...schema, type: one }, depth)));
  if (schema.enum !== undefined) return union(schema.enum.map(literal));
  // The known values, for completion; others are allowed.
  if (schema.examples !== undefined) return union([...schema.examples.map(literal), `(${scalar(type)} & {})`]);
  if (type === 'array') return arrayOf(typeOf(schema.items ?? {}, depth));
  if (type !== 'object') return scalar(type);
  const required = new Set(schema.required);
  const members = Object.entries(schema.properties ?? {}).flatMap(([name, member]) => {
    const text = typeOf(member, depth + 1);
    const key = /^[a-z_]\w*$/i.test(name) ? name : `'${name}'`;
    return [
      ...(member.description === undefined ? [] : [`/** ${member.description.replaceAll('*/', '* /')} */`]),
      required.has(name) ? `${key}: ${text};` : `${key}?: ${text} | undefined;`,
    ];
  });
  if (members.length === 0) return `Record<string, ${typeOf(restOf(schema), depth)}>`;
  const indent = '  '.repeat(depth);
  return `{\n${members.map((line) => `${indent}  ${line}\n`).join('')}${indent}}`;
}

const restOf = ({ additionalProperties }: JsonSchema): JsonSchema =>
  additionalProperties === undefined || additionalProperties === false ? {} : additionalProperties;

/** Everything else in a union with `unknown` adds nothing. */
const union = (options: string[]) => (options.includes('unknown') ? 'unknown' : [...new Set(options)].join(' | '));

const arrayOf = (item: string) => (/^\w+$/.test(item) ? `${item}[]` : `(${item})[]`);

const literal = (value: unknown) => (typeof value === 'string' ? `'${value}'` : String(value));

function scalar(type: string): string {
  const text = SCALARS[type];
  if (text === undefined) throw new Error(`the generator does not know the type ${type} of JSON Schema`);
  return text;
}

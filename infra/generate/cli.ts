import { type Operation, readApi } from './api-operations.ts';
import type { JsonSchema } from './tolerant-schema.ts';

/** What the command `tocsin` knows about the parameters of operations, besides the table of the SDK. */
export const cliFile = {
  file: 'infra/cli/src/parameters.ts',
  generate: async () => {
    const { operations, schemas } = await readApi();
    return [
      '// Generated from the API descriptions by npm run generate. Do not edit.',
      "import type { OperationParameters } from './operation-parameters.ts';",
      '',
      '/** The parameters of each operation, by its ID. */',
      'export const PARAMETERS: Readonly<Record<string, OperationParameters>> = {',
      ...operations.map((operation) => `  ${operation.id}: ${JSON.stringify(parametersOf(operation, schemas))},`),
      '};',
      '',
    ].join('\n');
  },
};

type Schemas = Readonly<Record<string, JsonSchema>>;

function parametersOf(operation: Operation, schemas: Schemas) {
  const { params, query, body, hasQueryOption } = operation;
  const { properties = {}, required = [] } = resolve(body?.schema ?? {}, schemas);
  const kindsOf = (given: readonly { name: string; schema: JsonSchema; required: boolean }[]) =>
    Object.fromEntries(
      given.map(({ name, schema, required: isRequired }) => [
        name,
        `${kindOf(schema, schemas)}${isRequired ? '!' : ''}`,
      ]),
    );
  const ofBody = Object.entries(properties).map(([name, schema]) => ({
    ...{ name, schema, required: required.includes(name), description: schema.description ?? '' },
  }));
  const given = body === undefined && !hasQueryOption ? query : ofBody;
  const inputs = kindsOf(given);
  const values = Object.fromEntries(
    [...given, ...(hasQueryOption ? query : [])].flatMap(({ name, schema, description }) => {
      const allowed = valuesOf(resolve(schema, schemas), description, schemas);
      return allowed === undefined ? [] : [[name, allowed]];
    }),
  );
  return {
    arguments: params.map(({ name }) => name),
    inputs,
    ...(hasQueryOption && { query: kindsOf(query) }),
    ...(Object.keys(values).length > 0 && { values }),
    sample: sampleOf(operation, inputs),
  };
}

function resolve(schema: JsonSchema, schemas: Schemas): JsonSchema {
  const { $ref } = schema;
  return typeof $ref === 'string' ? (schemas[$ref.slice($ref.lastIndexOf('/') + 1)] ?? {}) : schema;
}

const SCALARS = new Set(['string', 'integer', 'number', 'boolean']);

/** How a flag is written: a scalar, several of them, or JSON; `|null` if it can be cleared. */
function kindOf(given: JsonSchema, schemas: Schemas): string {
  const schema = resolve(given, schemas);
  const types = [schema.anyOf?.map(({ type }) => type) ?? schema.type].flat(2);
  const others = [...new Set(types.filter((type) => type !== 'null'))];
  const [type = 'json'] = others;
  const nullable = types.includes('null') ? '|null' : '';
  if (others.length > 1 || type === 'object') return 'json';
  if (type !== 'array') return SCALARS.has(type) ? `${type}${nullable}` : 'json';
  const item = resolve(schema.items ?? {}, schemas).type;
  return typeof item === 'string' && SCALARS.has(item) ? `${item}s${nullable}` : 'json';
}

/** The commands that print configured keys. */
const LISTS: Readonly<Record<string, string>> = {
  severities: 'tocsin config list-severities',
  'workflow statuses': 'tocsin config list-workflow-statuses',
  'service tiers': 'tocsin services list-tiers',
};
const CONFIGURED = new RegExp(`^Keys? of (?:one of the workspace's )?(${Object.keys(LISTS).join('|')})\\b`);

/** What a text may be, or the command that prints it if the workspace configures it. */
function valuesOf(schema: JsonSchema, description: string, schemas: Schemas): readonly string[] | string | undefined {
  const { enum: values } = resolve(schema.items ?? schema, schemas);
  if (values !== undefined) return values.filter((value) => typeof value === 'string');
  const [, list] = CONFIGURED.exec(description) ?? [];
  return list && LISTS[list];
}

/** The arguments and flags of an example: what is required, or else the first text, or else the whole body in a file. */
function sampleOf(
  { params, query, body, isUpload, isFile }: Operation,
  inputs: Readonly<Record<string, string>>,
): string {
  const ids = params.map(({ schema }) =>
    schema['example'] === undefined ? '1' : String(schema['example'] as string | number),
  );
  const example = Object.entries((body?.example ?? {}) as Record<string, unknown>);
  const simple = example.filter(
    ([name, value]) => typeof value !== 'object' && !(inputs[name] ?? 'json').startsWith('json'),
  );
  const chosen = simple.filter(([name]) => inputs[name]?.endsWith('!'));
  const flags = (chosen.length > 0 ? chosen : simple.slice(0, 1)).map(([name, value]) => flagOf(name, String(value)));
  if (flags.length === 0 && example.length > 0) flags.push('--data @body.json');
  if (isUpload) flags.push('--file screenshot.png');
  if (isFile) flags.push('--output screenshot.png');
  const limit = query.some(({ name }) => name === 'limit') ? ['--limit 10'] : [];
  return [...ids, ...flags, ...limit].join(' ');
}

const flagOf = (name: string, value: string) =>
  `--${name.replaceAll('_', '-')} ${/^[\w.@:/-]+$/.test(value) ? value : `'${value.replaceAll("'", "'\\''")}'`}`;

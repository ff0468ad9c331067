import { ERROR_STATUS } from '@tocsin/http';
import { type Operation, type Parameter, readApi } from './api-operations.ts';
import { type JsonSchema, mapInner } from './tolerant-schema.ts';
import { typeOf } from './type-of-schema.ts';

const FOLDER = 'shared/sdk/src';
const header = (source: string) => `// Generated from ${source} by npm run generate. Do not edit.`;

/** The committed files of `@tocsin/sdk`: what it does at run time must be there without a build. */
export const sdkFiles = [
  { file: `${FOLDER}/operations.ts`, generate: async () => operationTable((await readApi()).operations) },
  { file: `${FOLDER}/error-classes.ts`, generate: async () => errorClasses() },
];

/** Its types, which are not committed. */
export const sdkTypeFiles = [{ file: `${FOLDER}/generated/api.ts`, generate: async () => apiTypes(await readApi()) }];

function operationTable(operations: readonly Operation[]): string {
  const rows = operations.map((operation) => {
    const { id, resource, verb, method, path, summary, scopes, query, body, deadline } = operation;
    const row = {
      name: `${resource}.${verb}`,
      ...{ method, path, summary, deadline },
      ...(scopes.length > 0 && { scopes }),
      ...(operation.isUpload
        ? { input: 'file' }
        : body === undefined
          ? query.length > 0 && !operation.hasQueryOption && { input: 'query' }
          : { input: 'body' }),
      ...(operation.isKeyed && { isKeyed: true }),
      ...(operation.hasRevision && { hasRevision: true }),
      ...(operation.hasMarkdown && { hasMarkdown: true }),
      ...(operation.isFile && { isFile: true }),
      ...(operation.hasHtml && { hasHtml: true }),
      ...(operation.item !== undefined && { item: operation.item }),
      ...(operation.rows !== undefined && { rows: operation.rows }),
    };
    return `  ${id}: ${JSON.stringify(row)},`;
  });
  return [
    header('the API descriptions'),
    '',
    '/** Every operation of the API by its ID, with its place in the SDK. */',
    'export const OPERATIONS = {',
    ...rows,
    '} as const;',
    '',
  ].join('\n');
}

const pascal = (name: string) => name.replaceAll(/(?:^|[_-])(\w)/g, (_, letter: string) => letter.toUpperCase());

function errorClasses(): string {
  const codes = Object.keys(ERROR_STATUS).map((code) => [code, `${pascal(code)}Error`] as const);
  return [
    header('shared/http/src/errors/errors.ts'),
    "import { TocsinError } from './errors.ts';",
    '',
    ...codes.map(
      ([code, name]) => `export class ${name} extends TocsinError {\n  declare readonly code: '${code}';\n}`,
    ),
    '',
    '/** The class of the errors with a code. */',
    'export const ERROR_CLASSES = {',
    ...codes.map(([code, name]) => `  ${code}: ${name},`),
    '} as const;',
    '',
  ].join('\n');
}

function apiTypes({ schemas, operations }: Awaited<ReturnType<typeof readApi>>): string {
  const requested = reachable(
    operations.flatMap(({ body }) => (body === undefined ? [] : [body.schema])),
    schemas,
  );
  const returned = reachable(
    operations.flatMap(({ reply = {} }) => [reply]),
    schemas,
  );
  const components = Object.entries(schemas)
    .filter(([name]) => requested.has(name) || returned.has(name))
    .map(([name, schema]) => declaration(name, schema, returned.has(name)));
  const resources = Object.entries(Object.groupBy(operations, ({ resource }) => resource));
  return [
    header('the API descriptions'),
    "import type { Pages } from '../pages.ts';",
    "import type { CallOptions, KeyedOptions, RevisionOptions, UpdateOptions, Validated, WriteOptions } from '../options.ts';",
    '',
    ...components,
    ...operations.flatMap(argumentTypes),
    ...resources.map(([resource, group = []]) => resourceType(resource, group, operations)),
    '/** The resources of the API, with a method for each operation. */',
    'export interface Api {',
    ...resources.map(([resource]) => `  readonly ${resource}: ${resourceName(resource)};`),
    '}',
    '',
  ].join('\n');
}

/** The names of all schemas that these use, themselves or through others. */
function reachable(roots: readonly JsonSchema[], schemas: Record<string, JsonSchema>): Set<string> {
  const names = new Set<string>();
  const visit = (schema: JsonSchema): JsonSchema => {
    const name = referenced(schema);
    if (name !== undefined && !names.has(name)) {
      names.add(name);
      visit(schemas[name] ?? {});
    }
    if (Array.isArray(schema['oneOf'])) for (const option of schema['oneOf'] as JsonSchema[]) visit(option);
    mapInner(schema, visit);
    return schema;
  };
  for (const root of roots) visit(root);
  return names;
}

const referenced = ({ $ref }: JsonSchema): string | undefined =>
  typeof $ref === 'string' ? $ref.slice($ref.lastIndexOf('/') + 1) : undefined;

/**
 * A schema of the API description as `typeOf` reads it. What the API returns may get further values of enumerations
 * (contract: Versioning); what it accepts is exact.
 */
function readable(schema: JsonSchema, isReturned: boolean): JsonSchema {
  const { oneOf, enum: values, additionalProperties, ...others } = schema;
  const inner = (part: JsonSchema) => readable(part, isReturned);
  if (referenced(schema) !== undefined) return { $ref: referenced(schema), ...describe(schema) };
  if (oneOf !== undefined) return { anyOf: (oneOf as JsonSchema[]).map(inner), ...describe(schema) };
  if (values?.length === 1) return { const: values[0], ...describe(schema) };
  const { examples: _, ...keywords } = others;
  return mapInner(
    {
      ...keywords,
      ...(values !== undefined && (isReturned ? { examples: values } : { enum: values })),
      ...(additionalProperties !== undefined && { additionalProperties }),
    },
    inner,
  );
}

const describe = ({ description }: JsonSchema) => (description === undefined ? {} : { description });

const comment = (text: string, indent = '') => `${indent}/** ${text.replaceAll('*/', '* /').replaceAll('\n', ' ')} */`;

function declaration(name: string, schema: JsonSchema, isReturned: boolean): string {
  const text = typeOf(readable(schema, isReturned));
  return [
    ...(schema.description === undefined ? [] : [comment(schema.description)]),
    text.startsWith('{') && text.endsWith('}') ? `export interface ${name} ${text}` : `export type ${name} = ${text};`,
    '',
  ].join('\n');
}

/** The types of an operation's query, of its body and of its responses, unless they have a name already. */
function argumentTypes(operation: Operation): string[] {
  const { query, body, reply } = operation;
  const schemaOf = (parameters: readonly Parameter[]): JsonSchema => ({
    type: 'object',
    properties: Object.fromEntries(
      parameters.map(({ name, schema, description }) => [name, { ...schema, description }]),
    ),
    required: parameters.filter(({ required }) => required).map(({ name }) => name),
  });
  const named = (part: string, schema: JsonSchema | undefined, isReturned: boolean) =>
    schema === undefined || referenced(schema) !== undefined
      ? []
      : [declaration(`${pascal(operation.id)}${part}`, schema, isReturned)];
  return [
    ...named('Query', query.length > 0 ? schemaOf(query) : undefined, false),
    ...named('Body', body?.schema, false),
    ...named('Reply', reply, true),
  ];
}

const nameOf = (operation: Operation, part: string, schema: JsonSchema | undefined) =>
  schema === undefined ? 'void' : (referenced(schema) ?? `${pascal(operation.id)}${part}`);

const resourceName = (resource: string) => `${pascal(resource)}Api`;

function resourceType(resource: string, group: readonly Operation[], all: readonly Operation[]): string {
  return [
    `export interface ${resourceName(resource)} {`,
    ...group.flatMap((operation) => [
      ...methodOf(operation),
      ...(operation.hasRevision ? updateOf(operation, all) : []),
      ...(operation.hasMarkdown ? documentOf(operation, 'Markdown', 'a Markdown document') : []),
      ...(operation.hasHtml ? documentOf(operation, 'Html', 'an HTML page') : []),
    ]),
    '}',
    '',
  ].join('\n');
}

const paramsOf = ({ params }: Operation) =>
  params.map(({ name, schema }) => `${name}: ${typeOf(readable(schema, false))}`);

function optionsOf({ id, method, isKeyed, hasRevision, hasQueryOption }: Operation): string {
  const plain = method === 'GET' ? 'CallOptions' : 'WriteOptions';
  const options = hasRevision ? 'RevisionOptions' : isKeyed ? 'KeyedOptions' : plain;
  return hasQueryOption ? `${options} & { query?: ${pascal(id)}Query | undefined }` : options;
}

function methodOf(operation: Operation): string[] {
  const { verb, query, body, reply, assigned, rows, hasRevision, isDeprecated } = operation;
  const optional = (isOptional: boolean) => (isOptional ? '?' : '');
  const input = operation.isUpload
    ? ['file: Blob | Uint8Array']
    : body === undefined
      ? query.length > 0 &&
        !operation.hasQueryOption && [
          `query${optional(query.every(({ required }) => !required))}: ${pascal(operation.id)}Query`,
        ]
      : [`body${optional(!body.required)}: ${nameOf(operation, 'Body', body.schema)}`];
  const before = [...paramsOf(operation), ...(input === false ? [] : input)];
  const result = operation.isFile ? 'Blob' : nameOf(operation, 'Reply', reply);
  const returned = rows === undefined ? `Promise<${result}>` : `Pages<${result}['${rows}'][number], ${result}>`;
  const options = optionsOf(operation);
  const docs = comment(
    `${operation.summary}. ${operation.description} \`${operation.method} ${operation.path}\`, ${scopesOf(operation)}.${isDeprecated ? ' @deprecated' : ''}`,
    '  ',
  );
  const signature = (parameters: readonly string[], type: string) => `  ${verb}(${parameters.join(', ')}): ${type};`;
  const plain = signature([...before, `options${optional(!hasRevision)}: ${options}`], returned);
  if (assigned.length === 0) return [docs, plain];
  // An optional argument cannot stand before the required options.
  const required = before.map((parameter) => parameter.replace(/^(\w+)\?: (.*)$/s, '$1: $2 | undefined'));
  const validated = `Promise<Validated<${result}, ${assigned.map((name) => `'${name}'`).join(' | ')}>>`;
  return [docs, signature([...required, `options: ${options} & { validateOnly: true }`], validated), docs, plain];
}

const scopesOf = ({ scopes }: Operation) =>
  scopes.length === 0 ? 'with any key' : `needs the scope ${scopes.map((scope) => `\`${scope}\``).join(' or ')}`;

/** The method that returns the resource in another format. */
const documentOf = (operation: Operation, format: string, what: string) => [
  comment(`${operation.summary} as ${what}.`, '  '),
  `  ${operation.verb}${format}(${[...paramsOf(operation), 'options?: CallOptions'].join(', ')}): Promise<string>;`,
];

/** The method that reads, changes and writes. */
function updateOf(operation: Operation, all: readonly Operation[]): string[] {
  const { resource, verb, item, body } = operation;
  // As the client does it.
  const reader = verb.startsWith('update') ? verb.replace('update', 'get') : 'get';
  const get = all.find((other) => other.resource === resource && other.verb === reader);
  if (get?.reply === undefined || item === undefined || body === undefined)
    throw new Error(`${operation.id} has no resource that can be read`);
  const reply = nameOf(get, 'Reply', get.reply);
  const change = nameOf(operation, 'Body', body.schema);
  const parameters = [
    ...paramsOf(operation),
    `change: (current: ${reply}['${item}']) => ${change} | undefined | Promise<${change} | undefined>`,
    'options?: UpdateOptions',
  ];
  return [
    comment(
      `Reads the resource, and writes the change that the function makes of it; again if somebody was faster. Without a change, the resource as it is.`,
      '  ',
    ),
    `  ${verb}With(${parameters.join(', ')}): Promise<${reply}>;`,
  ];
}

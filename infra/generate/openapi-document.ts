import {
  OpenApiGeneratorV31,
  OpenAPIRegistry,
  type ResponseConfig,
  type RouteConfig,
} from '@asteasolutions/zod-to-openapi';
import {
  type AnyDocumentation,
  type Contract,
  type Contracts,
  DEFAULT_DEADLINE,
  ERROR_STATUS,
  type ErrorBody,
  type ErrorCode,
  errorCodesOf,
  errorResponseName,
  EVENT_STREAM,
  EXTENSIONS,
  IDEMPOTENCY_HEADER,
  IF_VERSION_HEADER,
  LAST_EVENT_ID_HEADER,
  HTML,
  MARKDOWN,
  messageOf,
  NDJSON,
  queryOf,
  REPLAYED_HEADER,
  UNBUFFERED_HEADER,
  VALIDATED_HEADER,
  VERSION_HEADER,
  type WebhookDocumentation,
} from '@tocsin/http';
import { z } from 'zod';
import { ERROR_DOCUMENTATION } from './error-documentation.ts';

/** The default of a property of a request. Generators of clients make a property with the keyword `default` required. */
const DEFAULT = 'x-default';

const REQUEST_ID = '4bf92f35-77b3-4da6-a3ce-929d0e0e4736';

const errorReply = z
  .object({
    code: z
      .enum(Object.keys(ERROR_STATUS) as [ErrorCode, ...ErrorCode[]])
      .meta({ description: 'Stable; for programs' }),
    message: z.string().meta({ description: 'For people; it may change' }),
    field: z.string().optional().meta({
      description:
        'The invalid property (dotted, with indexes), query parameter, path parameter or header; absent if none is',
    }),
    details: z
      .record(z.string(), z.unknown())
      .optional()
      .meta({ description: 'Values for programs; which ones depends on `code`' }),
    request_id: z.string().meta({ description: 'Identifies the request in the logs; also in `X-Request-ID`' }),
  })
  .meta({
    id: 'Error',
    description: 'The body of every response that is not a success',
  });

/** A header of responses as OpenAPI describes it. */
type HeaderDescription = {
  description: string;
  schema: { type: 'integer' | 'string'; minimum?: number; enum?: string[] };
};

/** Headers of responses, by name. A response refers to them. */
const HEADERS = {
  [VERSION_HEADER]: {
    description: "The resource's revision, for `If-Service-Resource-Version` of the next PATCH",
    schema: { type: 'integer', minimum: 1 },
  },
  [REPLAYED_HEADER]: {
    description: '`true` if the response is the stored one of an earlier request with the same idempotency key',
    schema: { type: 'string', enum: ['true'] },
  },
  [VALIDATED_HEADER]: {
    description: '`true` if the request was only validated: nothing of what the response shows has happened',
    schema: { type: 'string', enum: ['true'] },
  },
  'Retry-After': {
    description: 'Seconds after which the request may be sent again',
    schema: { type: 'integer', minimum: 1 },
  },
  'WWW-Authenticate': { description: 'The authentication scheme', schema: { type: 'string', enum: ['Bearer'] } },
  Deprecation: {
    description: 'When the operation was deprecated (RFC 9745): `@` and Unix seconds',
    schema: { type: 'string' },
  },
  Sunset: { description: 'When the operation will be removed (RFC 8594)', schema: { type: 'string' } },
  Allow: { description: 'The methods that the path allows', schema: { type: 'string' } },
  Connection: {
    description: '`close` if the connection ends after the response',
    schema: { type: 'string', enum: ['close'] },
  },
  [UNBUFFERED_HEADER]: {
    description: 'Of a stream: asks reverse proxies to pass each part on at once',
    schema: { type: 'string', enum: ['no'] },
  },
  Link: { description: 'The operation that replaces this one, as `successor-version`', schema: { type: 'string' } },
} satisfies Record<string, HeaderDescription>;

type HeaderName = keyof typeof HEADERS;

/** The headers of error responses, by their status. */
const ERROR_HEADERS: Readonly<Record<number, readonly HeaderName[]>> = {
  401: ['WWW-Authenticate'],
  405: ['Allow'],
  413: ['Connection'],
  429: ['Retry-After'],
  503: ['Retry-After'],
};

/**
 * Builds the OpenAPI 3.1 document of a service's contracts, in their order.
 * @param options.documentation by operation ID; the generated files have it for every operation
 * @throws Error when an example does not match its schema
 */
export function openApiDocument(
  service: string,
  contracts: Contracts,
  options: {
    documentation?: Readonly<Record<string, AnyDocumentation>>;
    webhooks?: Readonly<Record<string, WebhookDocumentation>>;
  } = {},
) {
  const registry = new OpenAPIRegistry();
  registerComponents(registry, Object.values(contracts));
  for (const [id, contract] of Object.entries(contracts)) {
    registry.registerPath(operation({ service, id, contract, documentation: options.documentation?.[id] }));
  }
  for (const [type, webhook] of Object.entries(options.webhooks ?? {})) {
    registry.registerWebhook(webhookRequest(type, webhook));
  }
  const definitions = [{ type: 'schema' as const, schema: errorReply }, ...registry.definitions];
  const document = new OpenApiGeneratorV31(definitions, { sortComponents: 'alphabetically' }).generateDocument({
    openapi: '3.1.0',
    info: { title: `Tocsin: ${service}`, version: '1' },
  });
  for (const methods of [document.paths, document.webhooks]) shortenParameters(methods ?? {});
  for (const schema of Object.values(document.components?.schemas ?? {})) describeDefaults(schema);
  boundNumbers(requestSchemas(document.paths), document.components?.schemas);
  return document;
}

/** The schemas of bodies, queries and headers. An ID in a path has no maximum: a larger one is not found. */
const requestSchemas = (paths: object = {}): Schema[] =>
  Object.values(paths as Record<string, Record<string, Operation>>)
    .flatMap((methods) => Object.values(methods))
    .flatMap(({ parameters = [], requestBody }) => [
      ...parameters.filter((parameter) => parameter.in !== 'path').map(({ schema }) => schema),
      ...Object.values(requestBody?.content ?? {}).map(({ schema }) => schema),
    ]);

/** Gives the numbers in requests the limits that all numbers have (contract: Requests). */
function boundNumbers(given: readonly Schema[], components: Readonly<Record<string, object>> = {}): void {
  // A set has what is added while it is iterated.
  const schemas = new Set(given);
  for (const schema of schemas) {
    const { $ref, type, properties = {}, items, additionalProperties: more, anyOf = [], oneOf = [] } = schema;
    const target = components[$ref?.replace('#/components/schemas/', '') ?? ''];
    const inner = [target, items, more, ...Object.values(properties), ...anyOf, ...oneOf];
    for (const part of inner) if (typeof part === 'object') schemas.add(part);
    if (!['integer', 'number'].some((name) => [type].flat().includes(name))) continue;
    schema.maximum ??= Number.MAX_SAFE_INTEGER;
    if (schema.exclusiveMinimum === undefined) schema.minimum ??= Number.MIN_SAFE_INTEGER;
  }
}

interface Schema {
  $ref?: string;
  type?: string | string[];
  description?: string;
  default?: unknown;
  [DEFAULT]?: unknown;
  properties?: Record<string, Schema>;
  items?: Schema;
  additionalProperties?: Schema | boolean;
  anyOf?: Schema[];
  oneOf?: Schema[];
  minimum?: number;
  maximum?: number;
  exclusiveMinimum?: number;
}

interface Operation {
  parameters?: { in: string; schema: Schema }[];
  requestBody?: { content: Record<string, { schema: Schema }> };
}

/** Replaces the keyword `default` of properties by words and an extension. */
function describeDefaults({ properties = {} }: Schema): void {
  for (const property of Object.values(properties)) {
    describeDefaults(property);
    if (!('default' in property)) continue;
    property[DEFAULT] = property.default;
    delete property.default;
    const { description = '' } = property;
    if (!description.includes('default')) {
      property.description = `${description}; default: \`${JSON.stringify(property[DEFAULT])}\``;
    }
  }
}

/** Removes what parameters say twice: the description of a parameter as that of its schema, and the default of `required`. */
function shortenParameters(paths: NonNullable<ReturnType<OpenApiGeneratorV31['generateDocument']>['paths']>): void {
  for (const parameter of Object.values(paths).flatMap(({ get, post, put, patch, delete: remove }) =>
    [get, post, put, patch, remove].flatMap((operation) => operation?.parameters ?? []),
  )) {
    if ('$ref' in parameter) continue;
    const { schema } = parameter;
    if (parameter.required === false) delete parameter.required;
    if (schema !== undefined && 'description' in schema && schema.description === parameter.description)
      delete schema.description;
  }
}

/** Registers the headers, error responses and examples of errors that the contracts use. */
function registerComponents(registry: OpenAPIRegistry, contracts: readonly Contract[]): void {
  for (const failure of contracts.flatMap(failuresOf)) {
    registry.registerComponent('responses', failure.name, failureResponse(failure));
  }
  for (const name of new Set(
    contracts.flatMap((contract) => [
      ...successHeaders(contract),
      ...failuresOf(contract).flatMap(({ headers }) => headers),
    ]),
  )) {
    registry.registerComponent('headers', name, HEADERS[name]);
  }
  for (const code of new Set(contracts.flatMap(errorCodesOf))) {
    const { when } = ERROR_DOCUMENTATION[code];
    registry.registerComponent('examples', code, { summary: when, value: errorExample(code) });
  }
  registry.registerComponent('examples', TIMEOUT_EXAMPLE, {
    summary: 'The request did not arrive in time; the connection is closed.',
    value: { code: 'invalid_request', message: 'The body did not arrive within 30 seconds', request_id: REQUEST_ID },
  });
}

function operation(options: {
  service: string;
  id: string;
  contract: Contract;
  documentation: AnyDocumentation | undefined;
}): RouteConfig {
  const { service, id, contract, documentation } = options;
  const query = queryOf(contract);
  const headers = z.object({
    ...(contract.idempotent === true && {
      [IDEMPOTENCY_HEADER]: z
        .string()
        .min(1)
        .max(128)
        .regex(/^[!-~]+$/)
        .optional()
        .meta({
          description: 'Visible ASCII characters. The same key with the same body has one effect and one response.',
        }),
    }),
    ...(contract.stream !== undefined && {
      [LAST_EVENT_ID_HEADER]: z.string().max(4096).optional().meta({
        description: 'Of a stream that is opened again: the `id` of its last message, instead of `after`',
      }),
    }),
    ...(contract.precondition === true && {
      [IF_VERSION_HEADER]: z
        .int()
        .min(1)
        .meta({
          description: 'The revision that the change is based on',
          ...(documentation?.revision !== undefined && { example: documentation.revision }),
        }),
    }),
  });
  return {
    method: contract.method,
    path: contract.path,
    operationId: id,
    summary: contract.summary,
    ...(documentation !== undefined && { description: describeOperation(contract, documentation) }),
    tags: [contract.tag],
    ...(contract.deprecated !== undefined && { deprecated: true, [EXTENSIONS.deprecation]: contract.deprecated }),
    security: [{ token: [] }, ...(contract.basic === true ? [{ basic: [] }] : [])],
    [EXTENSIONS.service]: service,
    [EXTENSIONS.scope]: contract.scope,
    [EXTENSIONS.needs]: contract.needs ?? [],
    [EXTENSIONS.deadline]: (contract.deadline ?? DEFAULT_DEADLINE) / 1_000,
    ...(contract.wait !== undefined && { [EXTENSIONS.wait]: contract.wait / 1_000 }),
    ...(contract.cost !== undefined && { [EXTENSIONS.cost]: contract.cost }),
    ...(contract.upload !== undefined && { [EXTENSIONS.bodyBytes]: contract.upload.maxBytes }),
    ...(contract.tokenProperty !== undefined && { [EXTENSIONS.tokenProperty]: contract.tokenProperty }),
    ...(contract.reply.assigned !== undefined && { [EXTENSIONS.assigned]: contract.reply.assigned }),
    request: {
      ...(contract.params !== undefined && { params: withExamples(contract.params, documentation?.params) }),
      ...(query !== undefined && { query }),
      headers,
      ...(contract.body !== undefined && {
        body: { required: contract.bodyOptional !== true, content: json(contract.body, documentation?.body) },
      }),
      ...(contract.upload !== undefined && { body: { required: true, content: files(contract.upload.types) } }),
    },
    responses: { [contract.reply.status]: success(contract, documentation), ...failures(contract) },
  };
}

/** A media type with its schema, and with an example if there is one. */
function json(schema: z.ZodType, example: unknown) {
  if (example === undefined) return { 'application/json': { schema } };
  schema.parse(example);
  return { 'application/json': { schema, example } };
}

/** Files of some media types. */
const files = (types: readonly string[]) =>
  Object.fromEntries(types.map((type) => [type, { schema: z.string().meta({ format: 'binary' }) }]));

/** Gives parameters their examples. */
function withExamples(schema: z.ZodObject, examples: Readonly<Record<string, unknown>> | undefined): z.ZodObject {
  if (examples === undefined) return schema;
  schema.parse(examples);
  const shape = Object.entries(schema.shape as Record<string, z.ZodType>).map(
    ([name, parameter]) =>
      [name, name in examples ? parameter.meta({ ...parameter.meta(), example: examples[name] }) : parameter] as const,
  );
  return z.strictObject(Object.fromEntries(shape));
}

function success(contract: Contract, documentation: AnyDocumentation | undefined): ResponseConfig {
  return {
    description:
      contract.reply.body === undefined && contract.reply.file === undefined && contract.lines === undefined
        ? 'Success, without a body'
        : `Success${nullsOf(contract, '. With `validate_only=true`, these are null, whatever the schema says:')}`,
    headers: references(successHeaders(contract)),
    ...(contract.lines !== undefined && { content: lines(contract.lines, documentation) }),
    ...(contract.reply.file !== undefined && { content: files(contract.reply.file) }),
    ...(contract.reply.body !== undefined && {
      content: {
        ...json(contract.reply.body, documentation?.reply),
        ...stream(contract, documentation),
        ...(contract.markdown === true && { [MARKDOWN]: documentIn('Markdown', documentation?.markdown) }),
        ...(contract.html === true && { [HTML]: documentIn('an HTML page', documentation?.html) }),
      },
    }),
  };
}

/** What an operation does, and what is null in the response to a request that is only validated. */
const describeOperation = (contract: Contract, { description }: AnyDocumentation): string =>
  description + nullsOf(contract, ' Null with `validate_only=true`:');

/** A sentence about what is null in the response to a request that is only validated, if that is something. */
function nullsOf({ reply: { assigned } }: Contract, start: string): string {
  if (assigned === undefined) return '';
  const names = assigned.map((name) => `\`${name}\`${name.includes('[]') ? ' of new items' : ''}`);
  return `${start} ${names.join(', ')}.`;
}

/** The media type of server-sent events, of which OpenAPI 3.1 can only say that they are text. */
function stream({ stream: data }: Contract, documentation: AnyDocumentation | undefined) {
  if (data === undefined) return {};
  const schema = z.string().meta({ description: 'Server-sent events; the `data` of each is an event as JSON' });
  const example = documentation?.stream?.map(({ data: value, ...message }) => {
    data.parse(value);
    return messageOf({ ...message, data: JSON.stringify(value) });
  });
  return { [EVENT_STREAM]: { schema, ...(example !== undefined && { example: example.join('') }) } };
}

/** A document with the content of the JSON. */
const documentIn = (format: string, example: string | undefined) => ({
  schema: z.string().meta({ description: `The same as ${format}, for a client that prefers it` }),
  ...(example !== undefined && { example }),
});

/** The media type of lines, of which OpenAPI 3.1 can only say that they are text. */
function lines(line: z.ZodType, documentation: AnyDocumentation | undefined) {
  const schema = z.string().meta({ description: 'A JSON object in each line' });
  const example = documentation?.lines?.map((value) => `${JSON.stringify(line.parse(value))}\n`).join('');
  return { [NDJSON]: { schema, ...(example !== undefined && { example }) } };
}

const successHeaders = (contract: Contract): HeaderName[] => [
  ...(contract.reply.versioned === true ? (['Service-Resource-Version'] as const) : []),
  ...(contract.idempotent === true ? (['Idempotency-Replayed'] as const) : []),
  ...(contract.method === 'get' ? [] : (['Validated-Only'] as const)),
  ...(contract.stream === undefined && contract.lines === undefined ? [] : ([UNBUFFERED_HEADER] as const)),
  ...deprecationHeaderNames(contract),
];

const deprecationHeaderNames = ({ deprecated }: Contract): readonly HeaderName[] =>
  deprecated === undefined ? [] : ['Deprecation', 'Sunset', 'Link'];

/** The errors of a contract that have one status. Equal ones have the same name, and others have others. */
interface Failure {
  name: string;
  status: number;
  codes: readonly ErrorCode[];
  /** Names of examples; default: those of the codes. */
  examples?: readonly string[];
  headers: readonly HeaderName[];
}

const failuresOf = (contract: Contract): Failure[] => [TIMEOUT, ...codedFailures(contract)];

const TIMEOUT_EXAMPLE = 'request_timeout';

/** Of a request that does not arrive in time: its code has another status elsewhere. */
const TIMEOUT: Failure = {
  name: 'RequestTimeout',
  status: 408,
  codes: ['invalid_request'],
  examples: [TIMEOUT_EXAMPLE],
  headers: ['Connection'],
};

const codedFailures = (contract: Contract): Failure[] =>
  Object.entries(Object.groupBy(errorCodesOf(contract), (code) => ERROR_STATUS[code])).map(([text, codes]) => {
    const status = Number(text);
    return {
      name: `${errorResponseName(status, codes)}${contract.deprecated === undefined ? '' : 'Deprecated'}`,
      status,
      codes,
      headers: [...headersOf(status, codes), ...deprecationHeaderNames(contract)],
    };
  });

const failures = (contract: Contract) =>
  Object.fromEntries(
    failuresOf(contract).map(({ name, status }) => [status, { $ref: `#/components/responses/${name}` }]),
  );

/** The response, with an example of each error. */
const failureResponse = ({ codes, examples = codes, headers }: Failure) => ({
  description: codes.map((code) => `\`${code}\``).join(', '),
  ...(headers.length > 0 && { headers: references(headers) }),
  content: {
    'application/json': {
      schema: { $ref: '#/components/schemas/Error' },
      examples: Object.fromEntries(examples.map((name) => [name, { $ref: `#/components/examples/${name}` }])),
    },
  },
});

const headersOf = (status: number, codes: readonly ErrorCode[]): HeaderName[] => [
  ...(ERROR_HEADERS[status] ?? []),
  ...(codes.includes('idempotency_in_progress') ? (['Retry-After'] as const) : []),
];

const references = (names: readonly HeaderName[]) =>
  Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));

function errorExample(code: ErrorCode): ErrorBody {
  const { when: _, ...body } = ERROR_DOCUMENTATION[code];
  return { code, ...body, request_id: REQUEST_ID };
}

/** The headers of every request that Tocsin sends to a receiver (contract: Webhooks). */
const WEBHOOK_HEADERS = z.object({
  'webhook-id': z.string().meta({ description: "The event's ID; the same in every attempt: deduplicate by it" }),
  'webhook-timestamp': z.string().meta({ description: 'Unix seconds of this attempt' }),
  'webhook-signature': z.string().meta({
    description:
      '`v1,` and the Base64 HMAC-SHA256 of `<webhook-id>.<webhook-timestamp>.<raw body>`; the key is the whole secret, `whsec_` included. Several signatures are separated by spaces while two secrets are valid.',
  }),
});

function webhookRequest(type: string, { summary, description, body, example }: WebhookDocumentation): RouteConfig {
  return {
    method: 'post',
    path: type,
    operationId: type.replaceAll(/\.(\w)/g, (_, letter: string) => letter.toUpperCase()),
    summary,
    description,
    tags: ['Webhooks'],
    security: [],
    request: { headers: WEBHOOK_HEADERS, body: { required: true, content: json(body, example) } },
    responses: {
      '2XX': { description: 'Received. The body is ignored; at most 64 KiB within 10 seconds.' },
      '4XX': { description: 'Refused. 408, 425 and 429 are tried again; all others are not.' },
      '5XX': { description: 'Failed. The request is sent again, at most 8 times within 24 hours.' },
    },
  };
}

import { FILE_HEADERS } from '../../systems/examples.ts';
import type { Answer, Client } from '@tocsin/testing';
import { type ApiOperation, type ApiSchema, readPublicDescription } from '../../../../gateway/src/description.ts';
import { APP_NAMES } from '../../../installation/apps.ts';

export const REVISION = 'If-Service-Resource-Version';

export const DESCRIPTION = await readPublicDescription(APP_NAMES, 'https://{workspace}.tocsin.example');
const { paths, components } = DESCRIPTION;

export interface Operation {
  method: string;
  path: string;
  /** The names of its parameters. */
  parameters: readonly string[];
  /** Those of its path, in order. */
  pathIds: readonly { name: string; isNumber: boolean }[];
  /** Those of its query, with the schema of one value, and how many it may have. */
  query: readonly { name: string; schema: ApiSchema; most: number }[];
  /** The examples of those of its query that it requires. */
  required: Query;
  /** Whether its body has no other properties than those. */
  isStrict: boolean;
  /** Of its body. */
  properties: Readonly<Record<string, ApiSchema>>;
  /** The first property of its response: a resource, or the rows of a list; and the name of their schema. */
  reply: { name: string; schema: string | undefined; isList: boolean } | undefined;
}

/** All operations of the API description, by their IDs. */
export const OPERATIONS: Readonly<Record<string, Operation>> = Object.fromEntries(
  Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]): [string, Operation] => [
      operation.operationId,
      {
        method: method.toUpperCase(),
        path,
        parameters: (operation.parameters ?? []).map(({ name }) => name),
        pathIds: (operation.parameters ?? [])
          .filter((parameter) => parameter.in === 'path')
          .map(({ name, schema }) => ({ name, isNumber: schema.type === 'integer' })),
        query: (operation.parameters ?? [])
          .filter((parameter) => parameter.in === 'query')
          .map(({ name, schema }) => ({
            ...{ name, schema: schema.items ?? schema },
            most: schema.items === undefined ? 1 : (schema.maxItems ?? Infinity),
          })),
        required: Object.fromEntries(
          (operation.parameters ?? [])
            .filter((parameter) => parameter.in === 'query' && parameter.required === true)
            .map(({ name, schema }) => [name, String((schema as { example?: unknown }).example)]),
        ),
        isStrict: bodySchemaOf(operation)?.additionalProperties === false,
        properties: bodySchemaOf(operation)?.properties ?? {},
        reply: replyOf(operation),
      },
    ]),
  ),
);

export const operationOf = (id: string): Operation => {
  const operation = OPERATIONS[id];
  if (operation === undefined) throw new Error(`there is no operation ${id}`);
  return operation;
};

function bodySchemaOf({ requestBody }: ApiOperation): ApiSchema | undefined {
  const schema = requestBody?.content['application/json']?.schema;
  return components?.schemas?.[schema?.$ref?.split('/').at(-1) ?? ''] ?? schema;
}

function replyOf({ responses }: ApiOperation): Operation['reply'] {
  const success = Object.entries(responses).find(([status]) => status.startsWith('2'))?.[1];
  const [property] = Object.entries(success?.content?.['application/json']?.schema.properties ?? {});
  if (property === undefined) return undefined;
  const [name, { $ref, allOf, items }] = property;
  return { name, schema: $ref ?? allOf?.[0]?.$ref ?? items?.$ref, isList: items !== undefined };
}

/** The path in front of the last ID of an operation that is about one resource, and the name of its parameter. */
const homeOf = ({ path }: Operation) => /^(.*\/)\{(\w+)\}$/.exec(path) ?? [];

/** The paths in front of the IDs of resources with a schema: where they are read or changed. */
export const homesOf = (schema: string | undefined): string[] =>
  Object.values(OPERATIONS).flatMap((operation) => {
    const [, home, parameter] = homeOf(operation);
    const isHome = home !== undefined && parameter === 'id' && !home.includes('{');
    return isHome && schema !== undefined && operation.reply?.schema === schema ? home : [];
  });

/** The first list of resources with a schema that has pages: of a workspace, if there is one, or else of a resource. */
export function listOf(schema: string | undefined): Operation | undefined {
  const lists = Object.values(OPERATIONS).filter(
    ({ reply, parameters }) => reply?.isList === true && reply.schema === schema && isPaged(parameters),
  );
  return lists.find(({ pathIds }) => pathIds.length === 0) ?? lists[0];
}

export const isPaged = (parameters: readonly string[]) =>
  ['limit', 'cursor'].every((name) => parameters.includes(name));

export interface Request {
  operation: string;
  method: string;
  path: string;
  headers: Record<string, string>;
  body: object | undefined;
}

export const send = async (
  client: Client,
  { method, path, headers, body }: Omit<Request, 'operation' | 'body'> & { body: unknown },
) => client.send(method, path, body, headers);

export interface RequestParts {
  ids?: Ids | undefined;
  body?: object | undefined;
  query?: Query | undefined;
  presentRevision?: number | undefined;
}

/**
 * The request of an operation. If it needs a revision, that is the present one.
 * @param presentRevision undefined unless it is known
 */
export async function requestOf(
  client: Client,
  operation: string,
  { ids = [], body, query, presentRevision }: RequestParts,
): Promise<Request> {
  const { method, path: template, parameters } = operationOf(operation);
  const left = [...ids];
  const filled = template.replaceAll(/\{\w+\}/g, () => String(left.shift()));
  const path = query === undefined ? filled : `${filled}?${new URLSearchParams(query).toString()}`;
  const ofFile = body instanceof Uint8Array ? FILE_HEADERS : {};
  if (!parameters.includes(REVISION)) return { operation, method, path, headers: ofFile, body };
  const revision = presentRevision ?? revisionIn(await client.get(path));
  return { operation, method, path, headers: { [REVISION]: String(revision) }, body };
}

/** What is written of a post-mortem stands beside what is computed. */
const revisionIn = ({ headers, body }: Answer): unknown =>
  headers.get('Service-Resource-Version') ?? body.document?.revision;

export type Query = Readonly<Record<string, string>>;

/** In the order of the path. */
export type Ids = readonly (string | number)[];

/** Carries out an operation, and returns the body of its response. @throws if it is refused */
export type Write = (
  operation: string,
  ids?: Ids,
  body?: object,
  query?: Query,
  // eslint-disable-next-line @typescript-eslint/no-explicit-any
) => Promise<any>;

export const bodyOf = (request: Request, { status, body, text }: Answer): unknown => {
  if (status >= 300) throw new Error(`${JSON.stringify(request)}: ${status} ${text}`);
  return body;
};

export const writing =
  (client: Client): Write =>
  async (operation, ids = [], body, query) => {
    const request = await requestOf(client, operation, { ids, body, query });
    return bodyOf(request, await send(client, request));
  };

/** All elements of a list, page by page. @param limit of a page */
export async function readList<Row>(client: Client, path: string, name: string, limit = () => 100): Promise<Row[]> {
  const items: Row[] = [];
  for (let cursor: string | undefined = ''; cursor !== undefined;) {
    const url = new URL(path, 'http://x');
    url.searchParams.set('limit', String(limit()));
    if (cursor !== '') url.searchParams.set('cursor', cursor);
    const { status, text, body } = await client.get(url.pathname + url.search);
    if (status !== 200) throw new Error(`${path}: ${status} ${text}`);
    items.push(...(body[name] as Row[]));
    const next: string | undefined = body.pagination.next_cursor as string | undefined;
    if (next === cursor) throw new Error(`${path}: the page behind a cursor ends with the same cursor`);
    cursor = next;
    if (body.pagination.has_more !== (cursor !== undefined)) throw new Error(`${path}: contradicts itself`);
  }
  return items;
}

/** All rows of a list; of one below other resources, those of all that their list has. */
export async function readAll<Row>(client: Client, { path, reply }: Operation): Promise<Row[]> {
  const { name = '' } = reply ?? {};
  const [home = '', below] = path.split('{id}');
  if (below === undefined) return readList<Row>(client, path, name);
  const parents = Object.values(OPERATIONS).find((each) => each.method === 'GET' && `${each.path}/` === home);
  if (parents === undefined) throw new Error(`there is no list of what ${path} names`);
  const rows: Row[] = [];
  for (const { id } of await readAll<{ id: number }>(client, parents))
    rows.push(...(await readList<Row>(client, `${home}${id}${below}`, name)));
  return rows;
}

import { boundedText, MAX_FILTER_TEXT, type Principal, type WorkspaceContext } from '@tocsin/schemas';
import { type CursorScope, DEFAULT_LIMIT, idempotently, pageQuery, type Reply, type RouteRequest } from '@tocsin/http';
import type { Knex } from '@tocsin/postgres';
import { z } from 'zod';
import { entriesOf } from '@tocsin/runtime';
import type { Caller } from './caller.ts';
import type { StoredResource } from './resource.ts';
import type { ResourceKind, resourceCommands } from './resource-commands.ts';

type One = Pick<RouteRequest<{ id: number }, unknown, unknown>, 'principal' | 'requestId' | 'params'>;

/** The handlers of the operations on one resource, which are alike for all kinds. */
export function resourceHandlers<Kind extends StoredResource, Properties extends object, Wire, Body>(options: {
  database: Knex;
  kind: ResourceKind<Kind>;
  commands: ReturnType<typeof resourceCommands<Kind, Properties>>;
  /** The properties that a request contains, in the form in which they are stored. */
  properties: (body: Body) => Partial<Properties>;
  /** The body of a response. */
  bodyOf: (resource: Kind) => Wire;
  /** Runs before a resource that exists is read or changed. */
  refresh?: (workspace: WorkspaceContext) => Promise<unknown>;
}) {
  const { database, kind, commands, properties, bodyOf, refresh } = options;
  const replyOf = (resource: Kind): Reply<Wire> => ({ body: bodyOf(resource), revision: resource.revision });
  const commandOf = async ({ principal, requestId, params }: One): Promise<Caller & { id: number }> => {
    await refresh?.(principal.workspace);
    return { principal, requestId, id: params.id };
  };
  const responseOf = (resource: Kind) => ({
    ...{ status: 201, text: JSON.stringify(bodyOf(resource)), revision: resource.revision },
  });
  type Create = { principal: Principal; requestId: string; body: Body & { name: string; slug?: string | undefined } };
  const newOf = ({ principal, requestId, body }: Create) => ({
    principal,
    requestId,
    body,
    properties: properties(body) as Partial<Properties> & Partial<Kind>,
  });
  return {
    get: async ({ principal: { workspace }, params: { id } }: One): Promise<Reply<Wire>> => {
      await refresh?.(workspace);
      return replyOf(await kind.store(database, workspace.id).get(id));
    },

    create: async (request: Create): Promise<Reply<Wire>> => replyOf(await commands.create(newOf(request))),

    /** A create that accepts an Idempotency-Key. */
    createOnce: async (request: Create & Parameters<typeof idempotently>[1]): Promise<Reply<never>> =>
      idempotently(database, request, async (key) =>
        responseOf(await commands.create({ ...newOf(request), outcome: key && { key, responseOf } })),
      ),

    update: async (request: One & { expectedRevision: number; body: Body }): Promise<Reply<Wire>> => {
      const { expectedRevision, body } = request;
      const command = await commandOf(request);
      return replyOf(await commands.update({ ...command, expectedRevision, properties: properties(body) }));
    },

    archive: async (request: One): Promise<Reply<Wire>> => replyOf(await commands.archive(await commandOf(request))),

    restore: async (request: One): Promise<Reply<Wire>> => replyOf(await commands.restore(await commandOf(request))),
  };
}

/** The query parameters of a list of resources. */
export const resourceListQuery = z.strictObject({
  ...pageQuery,
  include_archived: z
    .boolean()
    .optional()
    .meta({ description: 'Whether the list contains archived ones, too; default: false', default: false }),
  external_id: boundedText(MAX_FILTER_TEXT)
    .min(1)
    .optional()
    .meta({ description: 'Only the one with exactly this external ID; default: any' }),
  slug: boundedText(MAX_FILTER_TEXT)
    .min(1)
    .optional()
    .meta({ description: 'Only the one with exactly this slug; default: any' }),
  name: boundedText(MAX_FILTER_TEXT)
    .min(1)
    .optional()
    .meta({ description: 'Only those with exactly this name; default: any' }),
});

/**
 * Reads the query of a list of resources.
 * @param options.positions of the cursors of the list, whose path is `path`
 * @param options.filters that the list has besides
 * @returns what the store lists, `limit`, and the `scope` of the next cursor
 * @throws DomainError `invalid_request` for a cursor of another list
 */
export function readListQuery<Position>(
  query: z.infer<typeof resourceListQuery>,
  options: {
    workspaceId: number;
    path: string;
    positions: { decode(cursor: string, scope: CursorScope): Position };
    filters?: object;
  },
) {
  const { limit = DEFAULT_LIMIT, cursor, include_archived: includeArchived = false, slug, name } = query;
  const { workspaceId, path, positions, filters } = options;
  const commonFilters = { includeArchived, externalId: query.external_id, slug, name };
  const scope: CursorScope = { workspaceId, path, filters: { ...commonFilters, ...filters } };
  return {
    limit,
    scope,
    listed: { limit: limit + 1, ...commonFilters },
    after: cursor === undefined ? undefined : positions.decode(cursor, scope),
  };
}

/**
 * The properties of a create: those of a PATCH, whose descriptions also have the values that absent properties get. Texts
 * and truth values are said in words, too.
 */
export function withDefaults<Shape extends Readonly<Record<string, z.ZodType>>>(
  properties: Shape,
  defaults: { readonly [Name in keyof Shape]?: unknown },
): Shape {
  const described = entriesOf(properties).map(([name, schema]) => {
    if (!Object.hasOwn(defaults, name)) return [name, schema] as const;
    const value = defaults[name];
    const { description = '' } = schema.meta() ?? {};
    const words = typeof value === 'string' ? `; default: \`${value}\`` : `; default: ${String(value)}`;
    const isSaid = typeof value === 'string' || typeof value === 'boolean';
    return [name, schema.meta({ description: isSaid ? description + words : description, default: value })] as const;
  });
  return Object.fromEntries(described) as unknown as Shape;
}

import { buildPage, type Cursors, cursorsOf, DEFAULT_LIMIT, idempotently } from '@tocsin/http';
import type { Service } from '../domain/service.ts';
import { getTier } from '../domain/tiers.ts';
import { positionOf, serviceStore } from '../store/service-store.ts';
import { archiveService, restoreService } from '../usecases/archive-service.ts';
import type { Dependencies } from '../usecases/context.ts';
import { createService } from '../usecases/create-service.ts';
import { findUnmanagedReferences } from '../usecases/unmanaged-references.ts';
import { updateService } from '../usecases/update-service.ts';
import { type CatalogApi, contracts } from './contracts.ts';
import { serviceView } from './views.ts';

const { path } = contracts.listServices;
const reply = (service: Service) => ({ body: { service: serviceView(service) }, revision: service.revision });

/** Only the first page has unmanaged references. */
const NO_REFERENCES = { references: [], truncated: false };

export function serviceHandlers(
  dependencies: Dependencies,
  cursors: Cursors,
): Pick<
  CatalogApi,
  'listServices' | 'createService' | 'getService' | 'updateService' | 'archiveService' | 'restoreService'
> {
  const { database } = dependencies;
  const positions = cursorsOf(cursors, { name: 'tier', keys: ['integer', 'text', 'integer'] });
  return {
    listServices: async ({ principal: { workspace }, query }) => {
      const { limit = DEFAULT_LIMIT, cursor, include_archived: includeArchived = false } = query;
      const filters = {
        ownerTeamId: query.owner_team_id,
        tiers: query.tier && [...new Set(query.tier)].sort(),
        externalId: query.external_id,
        q: query.q?.trim(),
      };
      const scope = { workspaceId: workspace.id, path, filters: { includeArchived, ...filters } };
      const after = cursor === undefined ? undefined : positions.decode(cursor, scope);
      const configured = await dependencies.configurations.tiers(workspace);
      for (const key of filters.tiers ?? []) getTier(configured, key);
      const tiers = configured.map(({ key }) => key);
      const [listed, { references, truncated }] = await Promise.all([
        serviceStore(database, workspace.id).list({
          limit: limit + 1,
          includeArchived,
          tiers,
          filters,
          after: after && { rank: after[0], sortKey: after[1], id: after[2] },
        }),
        after === undefined ? findUnmanagedReferences(dependencies, workspace) : NO_REFERENCES,
      ]);
      const { rows, pagination } = await buildPage({
        listed,
        limit,
        view: serviceView,
        nextCursor: (last) => {
          const { rank, sortKey, id } = positionOf(last, tiers);
          return positions.encode([rank, sortKey, id], scope);
        },
      });
      return {
        body: {
          services: rows,
          unmanaged_references: references,
          unmanaged_references_truncated: truncated,
          pagination,
        },
      };
    },

    createService: async (request) =>
      idempotently(database, request, async (key) => ({
        status: 201,
        revision: 1,
        text: await createService(dependencies, {
          principal: request.principal,
          requestId: request.requestId,
          body: request.body,
          key,
          render: (service) => JSON.stringify(reply(service).body),
        }),
      })),

    getService: async ({ principal, params: { id } }) =>
      reply(await serviceStore(database, principal.workspace.id).get(id)),

    updateService: async ({ principal, requestId, params: { id }, expectedRevision, body }) =>
      reply(await updateService(dependencies, { principal, requestId, id, expectedRevision, body })),

    archiveService: async ({ principal, requestId, params: { id } }) =>
      reply(await archiveService(dependencies, { principal, requestId, id })),

    restoreService: async ({ principal, requestId, params: { id } }) =>
      reply(await restoreService(dependencies, { principal, requestId, id })),
  };
}

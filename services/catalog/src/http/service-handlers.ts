import { buildPage, type Cursors, cursorsOf, invalidRequest } from '@tocsin/http';
import { readListQuery, resourceHandlers } from '@tocsin/versioned-resources';
import { getTier } from '../domain/tiers.ts';
import { positionOf, serviceStore } from '../store/service-store.ts';
import type { Dependencies } from '../usecases/context.ts';
import { serviceCommands, serviceProperties, services } from '../usecases/services.ts';
import { findUnmanagedReferences } from '../usecases/unmanaged-references.ts';
import { type CatalogApi, contracts } from './contracts.ts';
import { serviceView } from './views.ts';

const { path } = contracts.listServices;

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
  const one = resourceHandlers({
    database,
    kind: services,
    commands: serviceCommands(dependencies),
    properties: serviceProperties,
    bodyOf: (service) => ({ service: serviceView(service) }),
  });
  const positions = cursorsOf(cursors, { name: 'tier_key', keys: ['text', 'text', 'integer'] });
  return {
    listServices: async ({ principal: { workspace }, query }) => {
      const filters = {
        ownerTeamId: query.owner_team_id,
        tiers: query.tier && [...new Set(query.tier)].sort(),
        q: query.q?.trim(),
      };
      const options = { workspaceId: workspace.id, path, positions, filters };
      const { limit, scope, listed, after } = readListQuery(query, options);
      const configured = await dependencies.configurations.tiers(workspace);
      for (const key of filters.tiers ?? []) getTier(configured, key);
      const tiers = configured.map(({ key }) => key);
      if (after !== undefined && !tiers.includes(after[0])) {
        throw invalidRequest('cursor', 'Is out of date: its tier has been removed; start again without a cursor');
      }
      const [rowsOfPage, { references, truncated }] = await Promise.all([
        serviceStore(database, workspace.id).list({
          ...listed,
          tiers,
          filters,
          after: after && { tier: after[0], sortKey: after[1], id: after[2] },
        }),
        after === undefined ? findUnmanagedReferences(dependencies, workspace) : NO_REFERENCES,
      ]);
      const { rows, pagination } = await buildPage({
        listed: rowsOfPage,
        limit,
        view: serviceView,
        nextCursor: (last) => {
          const { tier, sortKey, id } = positionOf(last);
          return positions.encode([tier, sortKey, id], scope);
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

    getService: one.get,
    createService: one.createOnce,
    updateService: one.update,
    archiveService: one.archive,
    restoreService: one.restore,
  };
}

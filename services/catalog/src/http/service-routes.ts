import { type Cursors, DEFAULT_LIMIT, idempotently, pageQuery, paginate, pathId, route } from '@tocsin/http';
import { z } from 'zod';
import type { Service } from '../domain/service.ts';
import { positionOf, serviceStore } from '../store/service-store.ts';
import { archiveService } from '../usecases/archive-service.ts';
import type { Tools } from '../usecases/context.ts';
import { createService } from '../usecases/create-service.ts';
import { restoreService } from '../usecases/restore-service.ts';
import { findUnmanagedReferences } from '../usecases/unmanaged-references.ts';
import { updateService } from '../usecases/update-service.ts';
import { serviceView } from './views.ts';
import { newService, servicePage, servicePatch, serviceReply } from './wire.ts';

const tag = 'Services';
const path = '/api/v1/services';
const params = z.strictObject({ id: pathId });
const read = { tag, scope: 'services:read' } as const;
const write = { tag, scope: 'services:write', needs: ['active_responder', 'manage_settings'] } as const;
const one = { status: 200, body: serviceReply, versioned: true } as const;

const answer = (service: Service) => ({ body: { service: serviceView(service) }, revision: service.revision });

/** Later pages tell of no references. */
const NO_REFERENCES = { references: [], truncated: false };

export function serviceRoutes({ tools, cursors }: { tools: Tools; cursors: Cursors }) {
  const { database } = tools;
  return [
    route({
      ...read,
      id: 'listServices',
      method: 'get',
      path,
      summary: 'Services by tier, then name; the first page also tells what incidents name without its being a service',
      query: z.strictObject({ ...pageQuery, include_archived: z.boolean().optional() }),
      reply: { status: 200, body: servicePage },
      handle: async ({ principal: { workspace }, query }) => {
        const { limit = DEFAULT_LIMIT, cursor, include_archived: includeArchived = false } = query;
        const scope = { workspaceId: workspace.id, path, filters: { includeArchived } };
        const after = cursor === undefined ? undefined : (cursors.decode(cursor, scope) as [number, string, number]);
        const tiers = (await tools.configurations.tiers(workspace)).map(({ key }) => key);
        const [rows, { references, truncated }] = await Promise.all([
          serviceStore(database, workspace.id).list({
            limit: limit + 1,
            includeArchived,
            tiers,
            after: after && { rank: after[0], sortName: after[1], id: after[2] },
          }),
          after === undefined ? findUnmanagedReferences(tools, workspace) : NO_REFERENCES,
        ]);
        const { page, pagination } = paginate({
          rows,
          limit,
          nextCursor: (last) => {
            const { rank, sortName, id } = positionOf(last, tiers);
            return cursors.encode([rank, sortName, id], scope);
          },
        });
        return {
          body: {
            services: page.map(serviceView),
            unmanaged_references: references,
            unmanaged_references_truncated: truncated,
            pagination,
          },
        };
      },
    }),
    route({
      ...write,
      id: 'createService',
      method: 'post',
      path,
      summary: 'Add a service to the catalog',
      idempotent: true,
      body: newService,
      reply: { ...one, status: 201 },
      handle: async (request) =>
        idempotently(database, request, async (claim) => ({
          status: 201,
          revision: 1,
          text: await createService(tools, {
            principal: request.principal,
            requestId: request.requestId,
            body: request.body,
            claim,
            render: (service) => JSON.stringify(answer(service).body),
          }),
        })),
    }),
    route({
      ...read,
      id: 'getService',
      method: 'get',
      path: `${path}/{id}`,
      summary: 'One service, archived or not',
      params,
      reply: one,
      handle: async ({ principal, params: { id } }) =>
        answer(await serviceStore(database, principal.workspace.id).get(id)),
    }),
    route({
      ...write,
      id: 'updateService',
      method: 'patch',
      path: `${path}/{id}`,
      summary: 'Change some properties of an active service',
      params,
      precondition: true,
      body: servicePatch,
      reply: one,
      handle: async ({ principal, requestId, params: { id }, expectedRevision, body }) =>
        answer(await updateService(tools, { principal, requestId, id, expectedRevision, body })),
    }),
    route({
      ...write,
      id: 'archiveService',
      method: 'delete',
      path: `${path}/{id}`,
      summary: 'Archive a service; it stays readable, and its slug taken',
      params,
      reply: one,
      handle: async ({ principal, requestId, params: { id } }) =>
        answer(await archiveService(tools, { principal, requestId, id })),
    }),
    route({
      ...write,
      id: 'restoreService',
      method: 'post',
      path: `${path}/{id}/restore`,
      summary: 'Restore an archived service whose owner, if it has one, is active',
      params,
      reply: one,
      handle: async ({ principal, requestId, params: { id } }) =>
        answer(await restoreService(tools, { principal, requestId, id })),
    }),
  ];
}

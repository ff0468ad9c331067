import { type Cursors, DEFAULT_LIMIT, pageQuery, paginate, pathId, route } from '@tocsin/http';
import type { Instant } from '@tocsin/runtime';
import { z } from 'zod';
import type { Field } from '../domain/field.ts';
import { fieldStore } from '../store/field-store.ts';
import { archiveField, restoreField } from '../usecases/archive-field.ts';
import type { Tools } from '../usecases/context.ts';
import { defineField } from '../usecases/define-field.ts';
import { updateField } from '../usecases/update-field.ts';
import { fieldView } from './views.ts';
import { fieldPage, fieldPatch, fieldReply, newField } from './wire.ts';

const COLLECTION = '/api/v1/custom-fields';
const ONE = `${COLLECTION}/{id}`;

const read = { tag: 'Custom fields', scope: 'custom_fields:read' } as const;
const write = { tag: 'Custom fields', scope: 'custom_fields:write', needs: ['manage_settings'] } as const;
const params = z.strictObject({ id: pathId });
const one = { status: 200, body: fieldReply, versioned: true } as const;
const answer = (field: Field) => ({ body: { field: fieldView(field) }, revision: field.revision });

export function fieldRoutes({ tools, cursors }: { tools: Tools; cursors: Cursors }) {
  return [
    route({
      ...read,
      id: 'listCustomFields',
      method: 'get',
      path: COLLECTION,
      summary: 'Definitions of custom fields, in their display order',
      query: z.strictObject({ ...pageQuery, include_archived: z.boolean().optional() }),
      reply: { status: 200, body: fieldPage },
      handle: async ({ principal: { workspace }, query }) => {
        const { limit = DEFAULT_LIMIT, cursor, include_archived: includeArchived = false } = query;
        const scope = { workspaceId: workspace.id, path: COLLECTION, filters: { includeArchived } };
        const [sortOrder, createdAt, id] =
          cursor === undefined ? [] : (cursors.decode(cursor, scope) as [number, Instant, number]);
        const rows = await fieldStore(tools.database, workspace.id).list({
          limit: limit + 1,
          includeArchived,
          after:
            sortOrder === undefined || createdAt === undefined || id === undefined
              ? undefined
              : { sortOrder, createdAt, id },
        });
        const { page, pagination } = paginate({
          rows,
          limit,
          nextCursor: (last) => cursors.encode([last.sortOrder, last.createdAt, last.id], scope),
        });
        return { body: { fields: page.map(fieldView), pagination } };
      },
    }),
    route({
      ...write,
      id: 'createCustomField',
      method: 'post',
      path: COLLECTION,
      summary: 'Define a custom field',
      body: newField,
      reply: { ...one, status: 201 },
      handle: async ({ principal, requestId, body }) =>
        answer(await defineField(tools, { principal, requestId, body })),
    }),
    route({
      ...read,
      id: 'getCustomField',
      method: 'get',
      path: ONE,
      summary: 'One definition, archived or not',
      params,
      reply: one,
      handle: async ({ principal, params: { id } }) =>
        answer(await fieldStore(tools.database, principal.workspace.id).get(id)),
    }),
    route({
      ...write,
      id: 'updateCustomField',
      method: 'patch',
      path: ONE,
      summary: 'Change some properties of an active definition',
      params,
      precondition: true,
      body: fieldPatch,
      reply: one,
      handle: async ({ principal, requestId, params: { id }, expectedRevision, body }) =>
        answer(await updateField(tools, { principal, requestId, id, expectedRevision, body })),
    }),
    route({
      ...write,
      id: 'archiveCustomField',
      method: 'delete',
      path: ONE,
      summary: 'Archive a definition; incidents keep their values of it',
      params,
      reply: one,
      handle: async ({ principal, requestId, params: { id } }) =>
        answer(await archiveField(tools, { principal, requestId, id })),
    }),
    route({
      ...write,
      id: 'restoreCustomField',
      method: 'post',
      path: `${ONE}/restore`,
      summary: 'Restore an archived definition',
      params,
      reply: one,
      handle: async ({ principal, requestId, params: { id } }) =>
        answer(await restoreField(tools, { principal, requestId, id })),
    }),
  ];
}

import { buildPage, type Cursors, cursorsOf, DEFAULT_LIMIT } from '@tocsin/http';
import type { Knex } from '@tocsin/postgres';
import { type Access, listAccesses } from '../../visibility/store/access-store.ts';
import { incidentStore } from '../store/incident-store.ts';
import { type AccessApi, accessContracts } from './contracts.ts';
import type { AccessWire } from './wire.ts';

export function accessHandlers({ database, cursors }: { database: Knex; cursors: Cursors }): AccessApi {
  const positions = cursorsOf(cursors, { name: 'id', keys: ['integer'] });
  return {
    listIncidentAccesses: async ({ principal, params: { id }, query: { limit = DEFAULT_LIMIT, cursor } }) => {
      const workspaceId = principal.workspace.id;
      const path = accessContracts.listIncidentAccesses.path.replace('{id}', String(id));
      const scope = { workspaceId, path };
      const [before] = cursor === undefined ? [] : positions.decode(cursor, scope);
      await incidentStore(database, workspaceId).getVersion(id);
      const { rows, pagination } = await buildPage({
        listed: await listAccesses(database, { workspaceId, incidentId: id, limit: limit + 1, before }),
        limit,
        view: accessView,
        nextCursor: (last) => positions.encode([last.id], scope),
      });
      return { body: { accesses: rows, pagination } };
    },
  };
}

const accessView = ({ userId, keyName, keyPrefix, firstAt, lastAt, count }: Access): AccessWire => ({
  user_id: userId,
  api_key: keyName === null || keyPrefix === null ? null : { name: keyName, prefix: keyPrefix },
  first_at: firstAt,
  last_at: lastAt,
  count,
});

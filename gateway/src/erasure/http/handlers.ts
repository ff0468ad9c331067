import { type Cursors, cursorsOf, serviceUnavailable } from '@tocsin/http';
import type { DataPosition } from '@tocsin/schemas';
import { existing } from '../../accounts/lookups.ts';
import { type Dependencies, runCommand } from '../../accounts/run-command.ts';
import { type Erasure, erasureStore } from '../../accounts/store/erasure-store.ts';
import { userStore } from '../../accounts/store/user-store.ts';
import { eraseUser, namesOf } from '../erase-user.ts';
import { APPS_WITH_DATA, type AppWithData, type PersonalData } from '../personal-data.ts';
import { type ErasureApi, erasureContracts, type ErasureWire } from './contracts.ts';

/** Rows of a page at most. */
const LIMIT = 25;

export function erasureHandlers({
  dependencies,
  cursors,
  data,
}: {
  dependencies: Dependencies;
  cursors: Cursors;
  data: PersonalData;
}): ErasureApi {
  const { database } = dependencies;
  const positions = cursorsOf(cursors, { name: 'position', keys: ['text'] });
  const getUser = async (workspaceId: number, id: number) =>
    existing(userStore(database).find(workspaceId, id), 'The user');
  return {
    exportUserData: async ({ principal: { workspace }, params: { id }, query: { cursor }, log }) => {
      const scope = { workspaceId: workspace.id, path: erasureContracts.exportUserData.path, filters: { id } };
      const [text] = cursor === undefined ? [] : positions.decode(cursor, scope);
      const start = text === undefined ? { app: APPS_WITH_DATA[0], position: null } : readPlace(text);
      const user = await getUser(workspace.id, id);
      const { names, emails } = await namesOf(database, user);
      const { rows, next } = await data
        .read(start.app, {
          workspace: { id: workspace.id, slug: workspace.slug, is_demo: workspace.is_demo },
          ...{ user_id: id, names: [...names], emails: [...emails], version: 0, position: start.position },
        })
        .catch((error: unknown) => {
          log.info({ err: error, service: start.app }, 'a service did not answer');
          throw serviceUnavailable(`The ${start.app} service cannot be asked now; try again`);
        });
      const app =
        next === null ? APPS_WITH_DATA[APPS_WITH_DATA.findIndex((each) => each === start.app) + 1] : start.app;
      const place = app === undefined ? undefined : JSON.stringify([app, next?.table, ...(next?.after ?? [])]);
      return {
        body: {
          rows: rows.map((row) => ({ service: start.app, ...row })),
          pagination: {
            ...{ limit: LIMIT, has_more: place !== undefined },
            ...(place !== undefined && { next_cursor: positions.encode([place], scope) }),
          },
        },
      };
    },

    eraseUser: async (request) => {
      const { params, body } = request;
      const erasure = await runCommand(dependencies, request, [eraseUser, { ...params, ...body }]);
      return { body: { erasure: erasureView(erasure) } };
    },

    getUserErasure: async ({ principal: { workspace }, params: { id } }) => {
      await getUser(workspace.id, id);
      const erasure = await erasureStore(database).find(workspace.id, id);
      return { body: { erasure: erasure === undefined ? noErasure(id) : erasureView(erasure) } };
    },
  };
}

/** What a cursor of this process or another one has: it is signed. */
function readPlace(text: string): { app: AppWithData; position: DataPosition | null } {
  const [app, table, ...after] = JSON.parse(text) as [AppWithData, string | null, ...string[]];
  return { app, position: typeof table === 'string' ? { table, after } : null };
}

const noErasure = (userId: number): ErasureWire => ({
  ...{ user_id: userId, requested_at: null, completed_at: null, remaining: [], places: [], has_more_places: false },
});

const erasureView = (erasure: Erasure): ErasureWire => ({
  user_id: erasure.userId,
  requested_at: erasure.requestedAt,
  completed_at: erasure.completedAt,
  remaining: [...erasure.remaining],
  places: [...erasure.places],
  has_more_places: erasure.hasMorePlaces,
});

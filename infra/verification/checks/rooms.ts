import type { IModule } from 'dependency-cruiser';

export const ROOM_ORDER = 'room-order';

/**
 * The rooms of the apps and packages that have them, and of the console, by rows from the bottom to the top. A room
 * imports only rooms of the rows before its own, so that rooms form no cycle. `http` describes and routes the whole API.
 */
const ROOMS: Readonly<Record<string, readonly (readonly string[])[]>> = {
  gateway: [
    ['routes', 'identity', 'audit'],
    ['upstreams'],
    ['requests', 'idempotency-keys'],
    ['limits'],
    ['accounts'],
    ['sign-in'],
    ['pages'],
    ['edge'],
    ['http'],
  ],
  console: [
    ['ui'],
    ['api'],
    ['resources', 'sign-in'],
    ['incidents'],
    ['follow-ups'],
    ['incident'],
    ['catalog', 'settings'],
    ['shell'],
  ],
  http: [['errors'], ['json', 'server'], ['streams', 'calls'], ['contracts'], ['idempotency', 'pages'], ['api']],
  incident: [
    ['shared'],
    ['configuration', 'replicas', 'storage'],
    ['incidents'],
    ['timeline', 'values', 'chat', 'relations', 'follow-ups'],
    ['source-imports', 'lifecycle', 'list', 'configuration-changes'],
    ['creation', 'transfer', 'bulk', 'postmortem'],
    ['alerts'],
    ['http'],
  ],
  webhook: [['shared'], ['queue', 'feed'], ['requests'], ['subscriptions'], ['deliveries'], ['http']],
};

const FILE_IN_ROOM = /^(?:(?:services|shared|gateway(?=\/console\/))\/)?([^/]+)\/src\/([^/]+)\//;

/** Finds files in no room, and imports of a room above or beside. */
export function checkRooms(modules: readonly IModule[]): { rule: string; where: string }[] {
  return modules.flatMap(({ source, dependencies }) => {
    const [, owner = '', room = ''] = FILE_IN_ROOM.exec(source) ?? [];
    const rows = ROOMS[owner];
    if (rows === undefined) return [];
    const rowOf = (name: string) => rows.findIndex((row) => row.includes(name));
    if (rowOf(room) === -1) return [{ rule: ROOM_ORDER, where: `${source} is in no room` }];
    return dependencies
      .filter(({ resolved }) => {
        const [, otherOwner, other = ''] = FILE_IN_ROOM.exec(resolved) ?? [];
        return otherOwner === owner && other !== room && rowOf(other) >= rowOf(room);
      })
      .map(({ resolved }) => ({ rule: ROOM_ORDER, where: `${source} → ${resolved}` }));
  });
}

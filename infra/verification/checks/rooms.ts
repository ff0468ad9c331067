import type { IModule } from 'dependency-cruiser';

export const ROOM_ORDER = 'room-order';

/**
 * The rooms of infra, of the console, and of the apps and packages that have them, by rows from the bottom to the top. A
 * room imports only rooms of the rows before its own, so that rooms form no cycle. `http` of an app describes and routes
 * its whole API.
 */
const ROOMS: Readonly<Record<string, readonly (readonly string[])[]>> = {
  gateway: [
    ['routes', 'identity', 'audit'],
    ['upstreams'],
    ['requests', 'idempotency-keys'],
    ['limits'],
    ['accounts'],
    ['sign-in', 'erasure'],
    ['oauth'],
    ['pages', 'scim'],
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
    ['guides'],
    ['shell'],
  ],
  http: [['errors'], ['json', 'server'], ['streams', 'calls'], ['contracts'], ['idempotency', 'pages'], ['api']],
  incident: [
    ['shared'],
    ['configuration', 'replicas', 'storage', 'visibility'],
    ['incidents'],
    ['pictures'],
    ['timeline', 'values', 'chat', 'relations', 'follow-ups'],
    [
      'source-imports',
      'lifecycle',
      'list',
      'configuration-changes',
      'erasure',
      'deletion',
      'chat-commands',
      'postmortem',
    ],
    ['creation', 'transfer', 'bulk', 'retention', 'trackers'],
    ['alerts'],
    ['http'],
  ],
  infra: [
    ['installation', 'cli'],
    ['compose', 'console', 'kubernetes', 'migrate'],
    ['demo'],
    ['embedded'],
    ['admin', 'backup', 'processes'],
    ['generate'],
    ['verification'],
    ['release'],
  ],
  webhook: [
    ['shared'],
    ['queue', 'feed', 'erasure'],
    ['requests'],
    ['subscriptions'],
    ['deliveries', 'destinations'],
    ['http'],
  ],
};

const IN_SOURCE = /^(?:(?:services|shared|gateway(?=\/console\/))\/)?([^/]+)\/src\/([^/]+)\//;
/** Every file of infra, except tests, is in a room. */
const IN_INFRA = /^(infra)\/(?!node_modules\/|[^/]+\/test\/)(?:([^/]+)\/)?/;
const IN_SERVICE = /^services\/([^/]+)\/src\//;

/** The owner of a file, and its room. */
const placeOf = (file: string): { owner: string; room: string } => {
  const [, owner = '', room = ''] = IN_SOURCE.exec(file) ?? IN_INFRA.exec(file) ?? [];
  return { owner, room };
};

/** The room of a file, as `gateway/edge`. A service without rooms is one room. */
export function roomOf(file: string): string | undefined {
  const { owner, room } = placeOf(file);
  if (ROOMS[owner]?.some((row) => row.includes(room)) === true) return `${owner}/${room}`;
  const [, service = ''] = IN_SERVICE.exec(file) ?? [];
  return service === '' || ROOMS[service] !== undefined ? undefined : service;
}

/** Finds files in no room, and imports of a room above or beside. */
export function checkRooms(modules: readonly IModule[]): { rule: string; where: string }[] {
  return modules.flatMap(({ source, dependencies }) => {
    const { owner, room } = placeOf(source);
    const rows = ROOMS[owner];
    if (rows === undefined) return [];
    const rowOf = (name: string) => rows.findIndex((row) => row.includes(name));
    if (rowOf(room) === -1) return [{ rule: ROOM_ORDER, where: `${source} is in no room` }];
    return dependencies
      .filter(({ resolved }) => {
        const other = placeOf(resolved);
        return other.owner === owner && other.room !== room && rowOf(other.room) >= rowOf(room);
      })
      .map(({ resolved }) => ({ rule: ROOM_ORDER, where: `${source} → ${resolved}` }));
  });
}

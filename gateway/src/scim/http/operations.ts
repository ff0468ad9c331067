import { type Operation, OWN_SERVICE } from '../../routes/domain/route-table.ts';

/** Below it, everything is in the form of RFC 7644. */
export const SCIM_PATH = '/scim/v2';
export const SCIM_SCOPE = 'users:manage';
/** Of writes. */
export const SCIM_NEEDS = ['manage_settings'] as const;

export const isScim = (path: string): boolean => path === SCIM_PATH || path.startsWith(`${SCIM_PATH}/`);

/** Milliseconds. A change of a large group gives many users another role. */
const DEADLINE = 30_000;

const PATHS: Readonly<Record<string, readonly string[]>> = {
  '/ServiceProviderConfig': ['GET'],
  '/ResourceTypes': ['GET'],
  '/ResourceTypes/{id}': ['GET'],
  '/Schemas': ['GET'],
  '/Schemas/{id}': ['GET'],
  '/Users': ['GET', 'POST'],
  '/Users/{id}': ['GET', 'PUT', 'PATCH', 'DELETE'],
  '/Groups': ['GET', 'POST'],
  '/Groups/{id}': ['GET', 'PUT', 'PATCH', 'DELETE'],
};

/** What the public server serves by SCIM, which the description of the API does not have. */
export const scimOperations: readonly Operation[] = Object.entries(PATHS).flatMap(([path, methods]) =>
  methods.map((method) => ({
    id: `scim ${method} ${path}`,
    method,
    path: `${SCIM_PATH}${path}`,
    service: OWN_SERVICE,
    scope: SCIM_SCOPE,
    needs: method === 'GET' ? [] : SCIM_NEEDS,
    deadline: DEADLINE,
    // A list counts all that it has.
    cost: { base: method === 'GET' ? 5 : 2 },
  })),
);

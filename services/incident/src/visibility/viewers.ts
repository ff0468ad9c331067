/**
 * `visibility` decides who may see a restricted incident (contract: Restricted incidents) (ADR 118). The row of an
 * incident has the names of those who may, as a generated column: the IDs of users as text, `team:` and the ID of a
 * team, and `*`; null: everybody. A request has the names of its caller (`viewersOf`), and every statement that finds
 * incidents for a request has the one condition that compares the two (`store/visible.ts`); a test reads all statements
 * for it. Work of no request sees all. What a request has read of restricted incidents is recorded before the response
 * is sent (`store/access-store.ts`).
 */
import { type Principal, VIEW_RESTRICTED } from '@tocsin/schemas';
import { boundedCache, currentRequest, ENTRY_BYTES, type Logger, type RequestWork, withTimeout } from '@tocsin/runtime';

/** The name that every restricted incident has. */
export const EVERY_RESTRICTED: readonly string[] = ['*'];
/** For callers who see no restricted incident. */
const NO_NAMES: readonly string[] = [];

/** The names by which the current request sees restricted incidents. */
export const currentViewer = (): readonly string[] => currentRequest()?.viewer ?? EVERY_RESTRICTED;

/** The restricted incidents that requests have read. */
const reads = new WeakMap<RequestWork, Set<number>>();

/** Notes which of these incidents are restricted, so that the log of accesses has them (`withAccessLog`). */
export function noteRead(incidents: readonly { id: number; restricted: boolean }[]): void {
  if (!incidents.some(({ restricted }) => restricted)) return;
  const request = currentRequest();
  if (request === undefined) return;
  const noted = reads.get(request) ?? new Set();
  reads.set(request, noted);
  for (const { id, restricted } of incidents) if (restricted) noted.add(id);
}

/** Returns what was noted in the current request, and forgets it. */
export function takeReads(): number[] {
  const request = currentRequest();
  const noted = request && reads.get(request);
  if (request === undefined || noted === undefined) return [];
  reads.delete(request);
  return [...noted];
}

/** Milliseconds: whoever leaves a team sees its restricted incidents for so long. */
const TTL = 500;
/** Milliseconds that a request waits for the teams. */
const MAX_WAIT = 800;
const CACHE_BYTES = 4 * 1_048_576;

/**
 * Returns the names of callers. Without the catalog nobody sees an incident as a member of a team.
 * @param findTeams returns the IDs of the teams that a user is a member of
 */
export function viewersOf(
  findTeams: (workspaceId: number, userId: number) => Promise<readonly number[]>,
  log: Logger,
): (principal: Principal) => readonly string[] | Promise<readonly string[]> {
  const cache = boundedCache<string, readonly string[]>({
    ...{ bytes: CACHE_BYTES, ttl: TTL },
    sizeOf: (names, key) => ENTRY_BYTES + 2 * key.length + 64 * names.length,
  });
  const namesOf = async ({ workspace, user_id: userId }: Principal) => {
    const start = performance.now();
    try {
      const teams = await withTimeout(findTeams(workspace.id, userId), MAX_WAIT, () => {
        throw new Error(`the catalog has not answered within ${MAX_WAIT} ms`);
      });
      const names = [String(userId), ...teams.map((id) => `team:${id}`)];
      cache.set(`${workspace.id}/${userId}`, names, { start });
      return names;
    } catch (error) {
      log.warn({ err: error, workspace_id: workspace.id }, 'the teams of a user cannot be read');
      return [String(userId)];
    }
  };
  return (principal) => {
    if (!principal.scopes.includes(VIEW_RESTRICTED.scope)) return NO_NAMES;
    if (principal.permissions.includes(VIEW_RESTRICTED.permission)) return EVERY_RESTRICTED;
    return cache.get(`${principal.workspace.id}/${principal.user_id}`) ?? namesOf(principal);
  };
}

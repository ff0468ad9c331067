/**
 * `visibility` decides who may see a restricted incident (contract: Restricted incidents) (ADR 118). The row of an
 * incident has the names of those who may, as a generated column: the IDs of users as text, `team:` and the ID of a
 * team, and `*`; null: everybody. A request has the names of its caller (`viewersOf`), and every statement that finds
 * incidents for a request has the one condition that compares the two (`store/visible.ts`); a test reads all statements
 * for it. Work of no request sees all. What a request has read of restricted incidents is recorded before the response
 * is sent (`store/access-store.ts`).
 */
import { type Principal, VIEW_RESTRICTED } from '@tocsin/schemas';
import { boundedCache, ENTRY_BYTES, type Logger, withTimeout } from '@tocsin/runtime';
import { EVERY_RESTRICTED } from './store/viewer.ts';

/** For callers who see no restricted incident. */
const NO_NAMES: readonly string[] = [];

/** Milliseconds: whoever leaves a team sees its restricted incidents for so long. */
const TTL = 500;
/** Milliseconds that a request waits for the teams. */
const MAX_WAIT = 800;
const CACHE_BYTES = 4 * 1_048_576;

/**
 * Returns the names of callers. Without the catalog nobody sees an incident as a member of a team.
 * @param options.findTeams returns the IDs of the teams that a user is a member of
 * @param options.isAnyRestricted whether the workspace has restricted incidents
 */
export function viewersOf({
  findTeams,
  isAnyRestricted,
  log,
}: {
  findTeams: (workspaceId: number, userId: number) => Promise<readonly number[]>;
  isAnyRestricted: (workspaceId: number) => boolean | Promise<boolean>;
  log: Logger;
}): (principal: Principal) => readonly string[] | Promise<readonly string[]> {
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
    const { workspace, user_id: userId } = principal;
    const inWorkspace = (isAny: boolean) =>
      isAny ? (cache.get(`${workspace.id}/${userId}`) ?? namesOf(principal)) : [String(userId)];
    // No request of a workspace without one should ask the catalog.
    const isAny = isAnyRestricted(workspace.id);
    return typeof isAny === 'boolean' ? inWorkspace(isAny) : isAny.then(inWorkspace);
  };
}

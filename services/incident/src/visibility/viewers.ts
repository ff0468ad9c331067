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

/** Milliseconds: for so long, teams do not see the first restricted incident of their workspace. */
const NONE_TTL = 2_000;

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
  isAnyRestricted: (workspaceId: number) => Promise<boolean>;
  log: Logger;
}): (principal: Principal) => readonly string[] | Promise<readonly string[]> {
  // Most workspaces have no restricted incident, and no request of theirs should ask the catalog.
  const withRestricted = boundedCache<number, number>({ bytes: CACHE_BYTES });
  const withoutRestricted = boundedCache<number, number>({ bytes: CACHE_BYTES, ttl: NONE_TTL });
  const lookForRestricted = async (workspaceId: number): Promise<boolean> => {
    const start = performance.now();
    const isAny = await isAnyRestricted(workspaceId);
    if (isAny) withRestricted.set(workspaceId, 1);
    else withoutRestricted.set(workspaceId, 1, { start });
    return isAny;
  };
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
    if (withoutRestricted.get(workspace.id) !== undefined) return [String(userId)];
    const names = cache.get(`${workspace.id}/${userId}`);
    if (names !== undefined || withRestricted.get(workspace.id) !== undefined) return names ?? namesOf(principal);
    return lookForRestricted(workspace.id).then((isAny) => (isAny ? namesOf(principal) : [String(userId)]));
  };
}

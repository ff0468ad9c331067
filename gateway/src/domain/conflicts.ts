import { API_ROOT, type Operation, OWN_SERVICE } from './route-table.ts';

/**
 * Returns the operations of a service of which several versions count: the union, in which the first version that has a
 * method and path describes it.
 */
export function unionOf(versions: readonly { operations: readonly Operation[] }[]): Operation[] {
  const operations = new Map<string, Operation>();
  for (const operation of versions.flatMap((version) => version.operations)) {
    const key = `${operation.method} ${operation.path.replaceAll(/\{\w+\}/g, '{}')}`;
    if (!operations.has(key)) operations.set(key, operation);
  }
  return [...operations.values()];
}

/** An operation that is not routed, because another service owns its path, or its ID. */
export interface Conflict {
  operation: Operation;
  owner: string;
}

/** What the gateway serves itself, below the root of the API, besides its operations. */
const OWN_PREFIX = 'openapi.json/';

/**
 * Decides which operations are routed. The prefix of a path is its segments before the first parameter. A service owns
 * the prefixes of its operations: nobody else gets one that is equal, begins with it, or is its beginning. So no request
 * for one service can match a path of another, not even through a literal in the place of a parameter.
 *
 * The first owner of a prefix keeps it as long as it describes a path there; another one gets it after that.
 * @param described the operations that the services describe; of two new owners the first one gets a prefix
 * @param routed the operations that were routed before
 */
export function resolveConflicts(
  described: readonly Operation[],
  routed: readonly Operation[] = [],
): { operations: Operation[]; conflicts: Conflict[] } {
  const previous = new Map(routed.map((operation) => [prefixOf(operation), operation.service]));
  const isOwned = (operation: Operation) =>
    [...previous].some(([prefix, owner]) => owner === operation.service && prefixOf(operation).startsWith(prefix));
  const { true: owned = [], false: others = [] } = Object.groupBy(described, (one) =>
    isOwned(one) ? 'true' : 'false',
  );

  const owners = new Map([[OWN_PREFIX, OWN_SERVICE]]);
  const ids = new Map<string, string>();
  const operations: Operation[] = [];
  const conflicts: Conflict[] = [];
  for (const operation of [...owned, ...others]) {
    const { id, service } = operation;
    const prefix = prefixOf(operation);
    const overlapping =
      owners.get(prefix) ?? [...owners].find(([own, owner]) => owner !== service && overlap(own, prefix))?.[1];
    const owner = [ids.get(id), overlapping].find((name) => name !== undefined && name !== service);
    if (owner === undefined) {
      owners.set(prefix, service);
      ids.set(id, service);
      operations.push(operation);
    } else conflicts.push({ operation, owner });
  }
  return { operations, conflicts };
}

/** The segments of a path below the root of the API, up to the first parameter, each with a slash at its end. */
function prefixOf({ path }: Operation): string {
  const [literal = ''] = path.slice(API_ROOT.length).split('{', 1);
  return literal === '' || literal.endsWith('/') ? literal : `${literal}/`;
}

const overlap = (one: string, other: string) => one.startsWith(other) || other.startsWith(one);

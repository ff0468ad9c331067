/**
 * `routes` is what the gateway knows of the API. The contracts of each service are generated into a description, which
 * the gateway's image has; `bundled-api.ts` reads all of them before the gateway starts, and a missing one ends the
 * start. This file finds the operation of a path, with its service, scope, needs, cost and deadline, by the same
 * `PathTree` as the services do: so what is checked is what is executed. A path below the prefix of a service that the
 * table lacks is up to that service, which may be newer (ADR 84). `public-openapi.ts` merges the descriptions into the
 * public one, which names no service (contract: Versioning). Nothing of this changes while the gateway runs.
 */
import type { Prerequisite } from '@tocsin/schemas';
import { type Contract, type Cost, type Deprecation, PathTree, segmentsOf } from '@tocsin/http';

/** The gateway itself, as the service of its own operations. */
export const OWN_SERVICE = 'gateway';

/** An operation of the API: the service that handles it, and what it requires of the caller. */
export interface Operation {
  id: string;
  /** Upper case. */
  method: string;
  /** With `{parameters}`. */
  path: string;
  service: string;
  /** Undefined: the gateway does not know the operation, and its service decides. */
  scope: Contract['scope'] | undefined;
  needs: readonly Prerequisite[];
  /** Whether the token may be a password of HTTP Basic authentication. */
  basic?: boolean | undefined;
  /** The property of the body that may have the token. */
  tokenProperty?: string | undefined;
  /** Bytes of its body at most, if not those of all others. */
  bodyBytes?: number | undefined;
  /** Milliseconds that the service has to begin its response. */
  deadline: number;
  /** Seconds that a request may wait for an event; the response may be a stream of events, too. */
  wait?: number | undefined;
  cost?: Cost | undefined;
  deprecation?: Deprecation | undefined;
}

/** The operations of one path; `allow` lists its methods. */
export interface Resource {
  allow: readonly string[];
  operation(method: string): Operation | undefined;
}

export interface RouteTable {
  /** Returns `undefined` for a path of no service. */
  find(path: string): Resource | undefined;
}

/** What the operations of a newer service may have. */
const FORWARDED = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE']);
/** Milliseconds; the default of operations that change something. */
const DEADLINE = 10_000;

interface OperationsOfPath extends Resource {
  readonly operations: Map<string, Operation>;
}

/**
 * Matches paths exactly as they were sent (see `PathTree`); an empty segment or a dot segment matches nothing. The prefix
 * of a path is its segments before the first parameter.
 * @throws Error when two operations have the same method and path, or two services overlapping prefixes
 */
export function routeTable(operations: readonly Operation[]): RouteTable {
  const tree = new PathTree<OperationsOfPath>();
  const owners = new Map<string, string>();
  for (const operation of operations) {
    add(
      tree.at(operation.path, () => newResource(operation.service, prefixOf(operation.path))),
      operation,
    );
    claim(owners, operation);
  }
  const byLength = [...owners]
    .filter(([, service]) => service !== OWN_SERVICE)
    .toSorted(([one], [other]) => other.length - one.length);
  const unknown = new Map(byLength.map(([prefix, service]) => [prefix, newResource(service, prefix)]));
  return {
    find: (path) => {
      if (segmentsOf(path).some(isEmptyOrDots)) return undefined;
      const resource = tree.find(path);
      if (resource !== undefined) return resource;
      const [prefix = ''] = byLength.find(([each]) => `${path}/`.startsWith(each)) ?? [];
      return unknown.get(prefix);
    },
  };
}

function newResource(service: string, prefix: string): OperationsOfPath {
  const operations = new Map<string, Operation>();
  const unknown = {
    id: `unknown_${service}`,
    path: `${prefix}*`,
    service,
    scope: undefined,
    needs: [],
    deadline: DEADLINE,
  };
  return {
    operations,
    get allow() {
      return [...operations.keys(), ...(operations.has('GET') ? ['HEAD'] : [])].sort();
    },
    operation: (method) =>
      operations.get(method === 'HEAD' ? 'GET' : method) ??
      (service !== OWN_SERVICE && FORWARDED.has(method) ? { ...unknown, method } : undefined),
  };
}

/** With a slash at its end. */
function prefixOf(path: string): string {
  const [literal = ''] = path.split('{', 1);
  return literal.endsWith('/') ? literal : `${literal}/`;
}

function claim(owners: Map<string, string>, { id, path, service }: Operation): void {
  const prefix = prefixOf(path);
  for (const [other, owner] of owners)
    if (owner !== service && (other.startsWith(prefix) || prefix.startsWith(other)))
      throw new Error(`${id} of the ${service} service is below ${other}, which the ${owner} service has`);
  owners.set(prefix, service);
}

function add({ operations }: OperationsOfPath, operation: Operation): void {
  const other = operations.get(operation.method);
  if (other !== undefined)
    throw new Error(`${operation.id} and ${other.id} claim ${operation.method} ${operation.path}`);
  operations.set(operation.method, operation);
}

/** A proxy between the gateway and a service might resolve a dot segment, encoded or not. */
const isEmptyOrDots = (segment: string) => segment === '' || /^(?:\.|%2e){1,2}$/i.test(segment);

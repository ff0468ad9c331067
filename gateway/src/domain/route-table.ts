import type { Prerequisite } from '@tocsin/contracts';
import { type Contract, type Cost, type Deprecation, PathTree, segmentsOf } from '@tocsin/http';

/** Every path of the API begins with it. */
export const API_ROOT = '/api/v1/';

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
  scope: Contract['scope'];
  needs: readonly Prerequisite[];
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
  /** Returns `undefined` for an unknown path. */
  find(path: string): Resource | undefined;
}

interface OperationsOfPath extends Resource {
  readonly operations: Map<string, Operation>;
}

/**
 * Matches paths exactly as they were sent (see `PathTree`); an empty segment or a dot segment matches nothing.
 * @throws Error when two operations have the same method and path
 */
export function routeTable(operations: readonly Operation[]): RouteTable {
  const tree = new PathTree<OperationsOfPath>();
  for (const operation of operations) add(tree.at(operation.path, newResource), operation);
  return { find: (path) => (segmentsOf(path).some(isEmptyOrDots) ? undefined : tree.find(path)) };
}

function newResource(): OperationsOfPath {
  const operations = new Map<string, Operation>();
  return {
    operations,
    get allow() {
      return [...operations.keys(), ...(operations.has('GET') ? ['HEAD'] : [])].sort();
    },
    operation: (method) => operations.get(method === 'HEAD' ? 'GET' : method),
  };
}

function add({ operations }: OperationsOfPath, operation: Operation): void {
  const other = operations.get(operation.method);
  if (other !== undefined)
    throw new Error(`${operation.id} and ${other.id} claim ${operation.method} ${operation.path}`);
  operations.set(operation.method, operation);
}

/** A proxy between the gateway and a service might resolve a dot segment, encoded or not. */
const isEmptyOrDots = (segment: string) => segment === '' || /^(?:\.|%2e){1,2}$/i.test(segment);

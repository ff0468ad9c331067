import type { Contract, Cost, Deprecation, Prerequisite } from '@tocsin/http';

/** Every path of the API begins with it. */
export const API_ROOT = '/api/v1/';

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

interface Node {
  literals: Map<string, Node>;
  parameter: Node | undefined;
  operations: Map<string, Operation>;
  resource: Resource | undefined;
}

/**
 * Matches paths segment by segment, exactly as they were sent: they are case-sensitive and not decoded, and an empty
 * segment or a dot segment matches nothing. The services' routers match in the same way, so the operation that is
 * checked here is the one that runs there. A literal segment takes precedence over a parameter.
 * @throws Error when two operations have the same method and path
 */
export function routeTable(operations: readonly Operation[]): RouteTable {
  const root = emptyNode();
  for (const operation of operations) insert(root, operation);
  return {
    find: (path) => {
      const segments = path.split('/').slice(1);
      return segments.some(isEmptyOrDots) ? undefined : descend(root, segments, 0)?.resource;
    },
  };
}

const emptyNode = (): Node => ({
  literals: new Map(),
  parameter: undefined,
  operations: new Map(),
  resource: undefined,
});

function insert(root: Node, operation: Operation): void {
  let node = root;
  for (const segment of operation.path.split('/').slice(1)) {
    let next = segment.startsWith('{') ? node.parameter : node.literals.get(segment);
    if (next === undefined) {
      next = emptyNode();
      if (segment.startsWith('{')) node.parameter = next;
      else node.literals.set(segment, next);
    }
    node = next;
  }
  const { operations } = node;
  const other = operations.get(operation.method);
  if (other !== undefined)
    throw new Error(`${operation.id} and ${other.id} claim ${operation.method} ${operation.path}`);
  operations.set(operation.method, operation);
  node.resource = {
    allow: [...operations.keys(), ...(operations.has('GET') ? ['HEAD'] : [])].sort(),
    operation: (method) => operations.get(method === 'HEAD' ? 'GET' : method),
  };
}

/** Returns the node with operations at the end of the path; tries the parameter when the literal leads to none. */
function descend(node: Node, segments: readonly string[], depth: number): Node | undefined {
  const segment = segments[depth];
  if (segment === undefined) return node.resource === undefined ? undefined : node;
  const literal = node.literals.get(segment);
  const match = literal === undefined ? undefined : descend(literal, segments, depth + 1);
  if (match !== undefined || node.parameter === undefined) return match;
  return descend(node.parameter, segments, depth + 1);
}

/** Returns the values of an operation's `{parameters}` in a path. */
export function parametersIn(path: string, operation: Pick<Operation, 'path'>): Record<string, string> {
  const segments = path.split('/');
  return Object.fromEntries(
    operation.path.split('/').flatMap((segment, index) => {
      const name = /^\{(\w+)\}$/.exec(segment)?.[1];
      return name === undefined ? [] : [[name, segments[index] ?? '']];
    }),
  );
}

/** A proxy between the gateway and a service might resolve a dot segment, encoded or not. */
const isEmptyOrDots = (segment: string) => segment === '' || /^(?:\.|%2e){1,2}$/i.test(segment);

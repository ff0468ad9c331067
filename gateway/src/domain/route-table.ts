import type { Deprecation, Prerequisite, Scope } from '@tocsin/http';

/** An operation of the API: who serves it, and what it asks of the caller. */
export interface Operation {
  id: string;
  /** Upper case. */
  method: string;
  /** With `{parameters}`. */
  path: string;
  service: string;
  scope: Scope;
  needs: readonly Prerequisite[];
  deprecation?: Deprecation | undefined;
}

/** What stands at a path; `allow` lists the methods that it takes. */
export interface Resource {
  allow: readonly string[];
  operation(method: string): Operation | undefined;
}

export interface RouteTable {
  /** `undefined` where nothing is. */
  find(path: string): Resource | undefined;
}

interface Node {
  literals: Map<string, Node>;
  parameter: Node | undefined;
  operations: Map<string, Operation>;
  resource: Resource | undefined;
}

/**
 * Reads paths segment by segment, exactly as they were sent: case counts, nothing is decoded, and an empty or a dot
 * segment names nothing. The services' routers read the same path the same way, so what is checked here is what runs
 * there. A literal segment wins over a parameter.
 * @throws Error when two operations claim one method of one path
 */
export function routeTable(operations: readonly Operation[]): RouteTable {
  const root = emptyNode();
  for (const operation of operations) insert(root, operation);
  return {
    find: (path) => {
      const segments = path.split('/').slice(1);
      return segments.some(namesNothing) ? undefined : descend(root, segments, 0)?.resource;
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

/** The node at the end of the path that has operations; a literal that leads nowhere gives way to the parameter. */
function descend(node: Node, segments: readonly string[], depth: number): Node | undefined {
  const segment = segments[depth];
  if (segment === undefined) return node.resource === undefined ? undefined : node;
  const literal = node.literals.get(segment);
  const found = literal === undefined ? undefined : descend(literal, segments, depth + 1);
  if (found !== undefined || node.parameter === undefined) return found;
  return descend(node.parameter, segments, depth + 1);
}

/** What stands in a path at the places of an operation's `{parameters}`. */
export function parametersIn(path: string, operation: Pick<Operation, 'path'>): Record<string, string> {
  const segments = path.split('/');
  return Object.fromEntries(
    operation.path.split('/').flatMap((segment, index) => {
      const name = /^\{(\w+)\}$/.exec(segment)?.[1];
      return name === undefined ? [] : [[name, segments[index] ?? '']];
    }),
  );
}

/** Something between us and a service might resolve a dot segment, in whatever spelling. */
const namesNothing = (segment: string) => segment === '' || /^(?:\.|%2e){1,2}$/i.test(segment);

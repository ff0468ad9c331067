interface Node<Value> {
  literals: Map<string, Node<Value>>;
  parameter: Node<Value> | undefined;
  value: Value | undefined;
}

/**
 * Values by path patterns with `{parameters}`, matched segment by segment, exactly as a path was sent: case-sensitive and
 * not decoded. A parameter matches any segment that is not empty; a literal segment takes precedence over it. The
 * gateway and the services match with it, so the operation that the gateway checks is the one that the service executes.
 */
export class PathTree<Value> {
  readonly #root: Node<Value> = emptyNode();

  /** Returns the value of a pattern; `create` makes one that does not exist yet. */
  at(pattern: string, create: () => Value): Value {
    let node = this.#root;
    for (const segment of segmentsOf(pattern)) {
      let next = segment.startsWith('{') ? node.parameter : node.literals.get(segment);
      if (next === undefined) {
        next = emptyNode<Value>();
        if (segment.startsWith('{')) node.parameter = next;
        else node.literals.set(segment, next);
      }
      node = next;
    }
    return (node.value ??= create());
  }

  /** @param path without a query string */
  find(path: string): Value | undefined {
    return descend(this.#root, segmentsOf(path), 0);
  }
}

export const segmentsOf = (path: string): string[] => path.split('/').slice(1);

const emptyNode = <Value>(): Node<Value> => ({ literals: new Map(), parameter: undefined, value: undefined });

/** Returns the value at the end of the path; tries the parameter when the literal leads to none. */
function descend<Value>(node: Node<Value>, segments: readonly string[], depth: number): Value | undefined {
  const segment = segments[depth];
  if (segment === undefined) return node.value;
  const literal = node.literals.get(segment);
  const match = literal === undefined ? undefined : descend(literal, segments, depth + 1);
  if (match !== undefined || node.parameter === undefined || segment === '') return match;
  return descend(node.parameter, segments, depth + 1);
}

/** Returns the values of a pattern's `{parameters}` in a path that it matches, as they were sent. */
export function parametersIn(path: string, pattern: string): Record<string, string> {
  if (!pattern.includes('{')) return {};
  const values = path.split('/');
  // Called twice for each request: a chain of arrays takes four times as long.
  const parameters: [string, string][] = [];
  for (const [index, segment] of pattern.split('/').entries())
    if (segment.startsWith('{')) parameters.push([segment.slice(1, -1), values[index] ?? '']);
  return Object.fromEntries(parameters);
}

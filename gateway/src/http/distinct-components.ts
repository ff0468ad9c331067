import { isDeepStrictEqual } from 'node:util';
import type { ApiDescription } from './api-description.ts';

const KINDS = ['schemas', 'responses', 'headers', 'examples'] as const;
type Kind = (typeof KINDS)[number];
/** By `kind/name`. */
type Components = Map<string, unknown>;

/**
 * Returns the descriptions, in which components of the same name are equal.
 * @param options.reserved components that no description may change
 * @param options.renames whether a component gets another name if an earlier description has a different one of its name
 * @throws Error without `renames`, naming the component
 */
export function withDistinctComponents(
  descriptions: readonly ApiDescription[],
  options: { reserved: Named; renames: boolean },
): ApiDescription[] {
  const taken = componentsOf(options.reserved);
  return descriptions.map((description) => {
    const own = componentsOf(description.components);
    const different = differentFrom(taken, own);
    const [first] = different;
    if (first !== undefined && !options.renames) {
      throw new Error(`two services describe ${first.slice(first.indexOf('/') + 1)} differently`);
    }
    const names = new Map(
      [...different].map((key) => [key, freeName(key, (other) => taken.has(other) || own.has(other))]),
    );
    const distinct = names.size === 0 ? description : renamed(description, names);
    for (const [key, component] of componentsOf(distinct.components)) taken.set(key, component);
    return distinct;
  });
}

type Named = Partial<Record<Kind, Readonly<Record<string, unknown>>>>;

function componentsOf(components: Named = {}): Components {
  return new Map(
    KINDS.flatMap((kind) =>
      Object.entries(components[kind] ?? {}).map(([name, component]): [string, unknown] => [
        `${kind}/${name}`,
        component,
      ]),
    ),
  );
}

/** Those that differ themselves, and those that refer to one of them: under its name they would mean something else. */
function differentFrom(taken: Components, own: Components): Set<string> {
  const shared = [...own].filter(([key]) => taken.has(key));
  const different = shared.flatMap(([key, component]) => (isDeepStrictEqual(component, taken.get(key)) ? [] : [key]));
  if (different.length === 0) return new Set();
  const referring = new Map<string, string[]>();
  for (const [key, component] of own) {
    for (const target of referencesIn(component)) referring.set(target, [...(referring.get(target) ?? []), key]);
  }
  const reached = new Set(different);
  // A set returns what is added while it is read.
  for (const key of reached) for (const other of referring.get(key) ?? []) reached.add(other);
  return new Set([...reached].filter((key) => taken.has(key)));
}

const ROOT = '#/components/';

function referencesIn(value: unknown, keys = new Set<string>()): Set<string> {
  if (typeof value !== 'object' || value === null) return keys;
  for (const [name, member] of Object.entries(value)) {
    if (name === '$ref' && typeof member === 'string') keys.add(member.slice(ROOT.length));
    else referencesIn(member, keys);
  }
  return keys;
}

function freeName(key: string, isTaken: (key: string) => boolean): string {
  for (let number = 2; ; number += 1) if (!isTaken(`${key}_${number}`)) return `${key}_${number}`;
}

/** A copy with other names of components, and with the references to them. */
function renamed(description: ApiDescription, names: ReadonlyMap<string, string>): ApiDescription {
  const copy = withReferences(description, names) as ApiDescription;
  const components = Object.fromEntries(
    KINDS.map((kind) => [
      kind,
      Object.fromEntries(
        Object.entries(copy.components?.[kind] ?? {}).map(([name, component]) => [
          (names.get(`${kind}/${name}`) ?? `${kind}/${name}`).slice(kind.length + 1),
          component,
        ]),
      ),
    ]),
  );
  return { ...copy, components };
}

function withReferences(value: unknown, names: ReadonlyMap<string, string>): unknown {
  if (Array.isArray(value)) return value.map((member) => withReferences(member, names));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, member]: [string, unknown]) => {
      if (name !== '$ref' || typeof member !== 'string') return [name, withReferences(member, names)];
      const target = names.get(member.slice(ROOT.length));
      return [name, target === undefined ? member : ROOT + target];
    }),
  );
}

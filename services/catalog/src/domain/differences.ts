import { isDeepStrictEqual } from 'node:util';

/** The properties of `said` whose values are not the resource's already; `undefined` when there is none. */
export function differences<Properties extends object>(
  resource: Properties,
  said: Partial<Properties>,
): Partial<Properties> | undefined {
  const changed = Object.entries(said).filter(
    ([property, value]) => !isDeepStrictEqual(value, resource[property as keyof Properties]),
  );
  return changed.length === 0 ? undefined : (Object.fromEntries(changed) as Partial<Properties>);
}

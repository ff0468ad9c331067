import { jsonEqual } from '@tocsin/http';
import { entriesOf } from '@tocsin/runtime';

/** Drops the properties that are `undefined`, that is, those that a request does not contain. */
export function definedProperties<Properties>(all: {
  [Name in keyof Properties]: Properties[Name] | undefined;
}): Partial<Properties> {
  return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined)) as Partial<Properties>;
}

/**
 * Returns the requested properties whose values differ from the current ones, or `undefined` if none does. Values are
 * compared as JSON: the order of an object's keys does not matter.
 */
export function changedProperties<Properties extends object>(
  current: Properties,
  requested: Partial<Properties>,
): Partial<Properties> | undefined {
  const changed = entriesOf(requested).filter(([property, value]) => !jsonEqual(value, current[property]));
  return changed.length === 0 ? undefined : (Object.fromEntries(changed) as Partial<Properties>);
}

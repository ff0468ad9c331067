import { ownProperty } from '@tocsin/runtime';

/** Whether two JSON values are equal. The order of an object's members does not matter. */
export function jsonEqual(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false;
  if (Array.isArray(a) || Array.isArray(b)) {
    return (
      Array.isArray(a) &&
      Array.isArray(b) &&
      a.length === b.length &&
      a.every((item, index) => jsonEqual(item, b[index]))
    );
  }
  const names = Object.keys(a);
  return (
    names.length === Object.keys(b).length &&
    names.every((name) => Object.hasOwn(b, name) && jsonEqual(memberOf(a, name), memberOf(b, name)))
  );
}

const memberOf = (object: object, name: string) => ownProperty(object as Readonly<Record<string, unknown>>, name);

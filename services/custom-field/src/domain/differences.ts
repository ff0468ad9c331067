import { canonicalJson } from '@tocsin/http';
import type { Field, FieldProperties } from './field.ts';

/** The properties of `said` whose values are not the definition's already; `undefined` when there is none. */
export function differences(field: Field, said: Partial<FieldProperties>): Partial<FieldProperties> | undefined {
  const changed = Object.entries(said).filter(
    // As JSON, which is what they are on the wire and in the database.
    ([property, value]) => canonicalJson(value) !== canonicalJson(field[property as keyof FieldProperties]),
  );
  return changed.length === 0 ? undefined : Object.fromEntries(changed);
}

import { type Caller, eventOrigin } from '@tocsin/resources';
import type { Field } from '../domain/field.ts';
import { definitionSnapshot } from '../domain/snapshot.ts';

/** The event of a definition that the caller's command has written with a version. */
export const fieldChanged = (caller: Caller, field: Field, version: number) => ({
  type: 'custom-field.changed' as const,
  occurredAt: field.updatedAt,
  ...eventOrigin(caller),
  data: { version, field: definitionSnapshot(field) },
});

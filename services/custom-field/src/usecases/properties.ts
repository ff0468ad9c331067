import type { WireOf } from '@tocsin/resources';
import type { FieldProperties } from '../domain/field.ts';
import { FIELD_COLUMNS, type FIELD_TABLE } from '../store/field-store.ts';

/** The properties of a definition in a validated request, with their wire names. */
export type WireField = WireOf<FieldProperties, typeof FIELD_TABLE>;

/** Returns the properties that a request contains, in the form in which they are stored. */
export const fieldProperties = (wire: WireField): Partial<FieldProperties> =>
  FIELD_COLUMNS.toProperties({
    ...wire,
    name: wire.name?.trim(),
    external_source: wire.external_source?.trim() ?? wire.external_source,
    external_id: wire.external_id?.trim() ?? wire.external_id,
  });

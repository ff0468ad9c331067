import type { CustomFieldDefinition } from '@tocsin/schemas';
import {
  type CommandDependencies,
  resourceCommands,
  type ResourceKind,
  type WireOf,
} from '@tocsin/versioned-resources';
import { checkField } from '../domain/check-field.ts';
import {
  DEFAULT_PROPERTIES,
  definitionSnapshot,
  type Field,
  FIELD_SLUG,
  type FieldProperties,
} from '../domain/field.ts';
import { FIELD_COLUMNS, type FIELD_TABLE, fieldStore } from '../store/field-store.ts';

export const fields: ResourceKind<Field, { field: CustomFieldDefinition }> = {
  table: 'definitions',
  event: 'custom-field.changed',
  slug: FIELD_SLUG,
  store: fieldStore,
  snapshot: (field) => ({ field: definitionSnapshot(field) }),
};

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

/**
 * The commands on definitions (contract: Custom fields). Incidents keep their values of an archived one, and get no new
 * ones. Properties that contradict each other are `unknown_field` or `invalid_request`.
 */
export const fieldCommands = (dependencies: CommandDependencies) =>
  resourceCommands<Field, FieldProperties>(dependencies, fields, {
    defaults: DEFAULT_PROPERTIES,
    check: async ({ current, changed }) => {
      checkField({ ...current, ...changed } as Field, current);
      return {};
    },
    checkLocked: async ({ trx, workspaceId, current }) =>
      current === undefined ? { sortOrder: await fieldStore(trx, workspaceId).nextSortOrder() } : {},
  });

export { type Caller, eventOrigin } from './caller.ts';
export { checkListOrder } from './check-list-order.ts';
export { type Listed, listedColumns, type ListedRow, portionsOf, readWhole, WEIGHTS } from './large-columns.ts';
export { changedProperties, definedProperties } from './properties.ts';
export { archive, checkNotArchived, restore, revise, type StoredResource } from './resource.ts';
export {
  type CommandDependencies,
  exportedPage,
  readResourceChanges,
  republishResources,
  resourceCommands,
  type ResourceKind,
} from './resource-commands.ts';
export { readListQuery, resourceHandlers, resourceListQuery, withDefaults } from './resource-handlers.ts';
export { type ListOptions, resourceStore } from './resource-store.ts';
export {
  assignmentsOf,
  type Column,
  column,
  type ColumnsOf,
  insertOf,
  type RowOf,
  rowMapping,
  type SqlType,
  type WireOf,
} from './row-mapping.ts';
export { chooseSlug, isSlug, MAX_SLUG_BYTES, numberedSlug, slugFromName, type SlugRule } from './slug.ts';
export { raiseVersion, type VersionedDependencies } from './versioned-transaction.ts';

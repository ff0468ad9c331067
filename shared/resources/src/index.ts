export { type Caller, eventOrigin } from './caller.ts';
export { checkListOrder } from './check-list-order.ts';
export { type Listed, listedColumns, type ListedRow, portionsOf, readWhole, WEIGHTS } from './large-columns.ts';
export { changedProperties, definedProperties } from './properties.ts';
export { archive, checkNotArchived, type Resource, restore, revise } from './resource.ts';
export { resourceTable } from './resource-table.ts';
export {
  type Column,
  column,
  type ColumnsOf,
  insertOf,
  type RowOf,
  rowMapping,
  type SqlType,
  type WireOf,
} from './row-mapping.ts';
export {
  chooseSlug,
  isSlug,
  MAX_SLUG_BYTES,
  numberedSlug,
  type SlugChoice,
  slugFromName,
  type SlugRule,
} from './slug.ts';
export {
  raiseVersion,
  runVersionedTransaction,
  type VersionedDependencies,
  type VersionedTransaction,
} from './versioned-transaction.ts';

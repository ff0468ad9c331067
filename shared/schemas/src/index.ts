export { auditEntry, type AuditEntry } from './audit.ts';
export {
  customFieldDefinition,
  type CustomFieldDefinition,
  FIELD_TYPES,
  type FieldConfig,
  fieldConfig,
  fieldConfigInput,
  type FieldType,
} from './custom-field-definition.ts';
export {
  type Violation,
  violationField,
  findConfigViolation,
  findValueViolation,
  optionValues,
} from './custom-field-values.ts';
export { type Envelope, envelope, type EventWorkspace, eventWorkspace, instant } from './envelope.ts';
export {
  type EventData,
  eventData,
  EVENTS,
  EVENT_TYPES,
  type EventType,
  FEED_TYPES,
  type FeedType,
  type ResourceKind,
  serviceSnapshot,
  type ServiceSnapshot,
  teamSnapshot,
  type TeamSnapshot,
  type UserSnapshot,
} from './events.ts';
export {
  catalogChangePage,
  type CatalogChangePage,
  changedConfiguration,
  changePageQuery,
  committedServiceTiers,
  type CommittedServiceTiers,
  type ConfiguredTier,
  customFieldChangePage,
  type CustomFieldChangePage,
  INTERNAL_PATHS,
  lastIncidentNumber,
  type LastIncidentNumber,
  memberships,
  type Memberships,
  membershipsQuery,
  newServiceTiers,
  type NewServiceTiers,
  idempotencyKeyQuery,
  type IdempotencyKeyUse,
  idempotencyKeyUses,
  quotaUse,
  type QuotaUse,
  storedServiceTiers,
  type StoredServiceTiers,
  tiersPreparation,
  type TiersPreparation,
  unmanagedReferences,
  type UnmanagedReferences,
  userChangePage,
  type UserChangePage,
  workspaceQuery,
  type ExportedResources,
  exportedResources,
  exportedResourcesQuery,
  MAX_PEOPLE,
  type People,
  people,
  peopleQuery,
} from './internal.ts';
export { followUpSnapshot, type FollowUpSnapshot } from './follow-up-snapshot.ts';
export {
  incidentChange,
  incidentReference,
  type IncidentReference,
  incidentSnapshot,
  type IncidentSnapshot,
  publishedIncident,
  type PublishedIncident,
  timelineEventSnapshot,
  type TimelineEventSnapshot,
} from './incident-snapshots.ts';
export {
  type DataPlace,
  dataPlace,
  type DataPosition,
  type DataStep,
  dataStep,
  type ErasureStep,
  erasureStep,
  type PersonalDataRequest,
  personalDataRequest,
} from './personal-data.ts';
export { isLargeValue, largeValue, type LargeValue, MAX_VALUE_BYTES } from './large-value.ts';
export {
  ceilTimestamp,
  dateText,
  EARLIEST_INSTANT,
  isCalendarDay,
  parseTimestamp,
  timestampInput,
  timestampText,
  timestampViolation,
} from './timestamp.ts';
export {
  deadLetterQueueName,
  exchangeName,
  hasConsumer,
  type QueueDefinition,
  queueName,
  HEALTH_TYPE,
  healthQueueName,
  QUEUES,
  requeueExchangeName,
  shortQueueOf,
} from './topology.ts';
export {
  jsonBytes,
  MAX_ALTERNATIVES,
  MAX_DEFINITION_BYTES,
  MAX_FILTER_TEXT,
  MAX_KEY,
  MAX_OPERANDS,
  MAX_RAW_LIST,
  MAX_SEARCHED_TEXT,
  MAX_VALUES,
  MAX_VALUES_BYTES,
} from './limits.ts';
export {
  boundedText,
  composedText,
  EMAIL,
  externalIdText,
  isBlank,
  isEmailAddress,
  isLongerThan,
  KEY,
  keyText,
  nameText,
  shownText,
  trimmedText,
} from './text-schemas.ts';
export { type Principal, type ServicePrincipal, signedPrincipal, type WorkspaceContext } from './principal.ts';
export {
  ARCHIVED_FACTOR,
  MAX_COUNTED_USE,
  type QuotaName,
  quotaOf,
  QUOTAS,
  type Quotas,
  SMALL_WRITE,
} from './quotas.ts';
export { actorText, isSession, recordedKey, type RecordedKey } from './recorded-key.ts';
export { cutKey, fold, foldedKey } from './fold.ts';
export { type Permission, PERMISSIONS, type Prerequisite, type Scope, SCOPES, VIEW_RESTRICTED } from './scopes.ts';
export { callersOf, SERVICE_CALLS, SERVICE_NAMES, type ServiceName, SERVICES } from './service-calls.ts';

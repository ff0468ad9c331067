export { checkAccess, checkSeesRestricted, type RestrictedCaller, seesRestricted } from './api/access.ts';
export { callRoute, type RouteCall } from './api/call-route.ts';
export { BODY_LIMIT_HEADER, bodySettings, checkContentLength, MAX_BODY_BYTES, readJsonBody } from './api/body.ts';
export {
  type Contract,
  type Contracts,
  type Cost,
  COST_HEADER,
  FETCHED_BYTES_HEADER,
  DEFAULT_DEADLINE,
  endpoint,
  type Handlers,
  implement,
  internalCommand,
  internalRoute,
  type InternalRoute,
  type Reply,
  type RequestOf,
  type Route,
  type RouteRequest,
} from './contracts/contract.ts';
export {
  DomainError,
  ERROR_STATUS,
  type ErrorBody,
  errorBody,
  type ErrorCode,
  invalidRequest,
  notFound,
  invalidState,
  outcomeUnknown,
  serviceUnavailable,
  shareExceeded,
} from './errors/errors.ts';
export { drainOf } from './server/drain.ts';
export {
  type EventStream,
  type LineStream,
  messageOf,
  NDJSON,
  type ServerSentEvent,
  type StreamPart,
  UNBUFFERED_HEADER,
} from './streams/event-stream.ts';
export { visibleFrom } from './api/history.ts';
export type { HttpLimits, ViewerOf } from './api/route-handler.ts';
export {
  createIdempotencyTable,
  IDEMPOTENCY_HOURS,
  type KeyState,
  sweepIdempotencyKeys,
} from './idempotency/idempotency-keys.ts';
export { idempotencyKeyRoute, type KeyLookup, keyLookup } from './idempotency/idempotency-lookup.ts';
export {
  type IdempotencyClaim,
  type IdempotencyKey,
  idempotently,
  idempotentlyWithClaim,
  type KeyedOutcome,
  withOutcome,
} from './idempotency/idempotency.ts';
export { type InternalClient, internalClient, UnexpectedStatus } from './calls/internal-client.ts';
export { checkStorable, checkText, type DocumentLimits, parseJson, UnstorableItem } from './json/json.ts';
export { jsonEqual } from './json/json-equal.ts';
export { type Deprecation, deprecationHeaders } from './contracts/deprecation.ts';
export {
  type AnyDocumentation,
  type Documentation,
  EXTENSIONS,
  type WebhookDocumentation,
} from './contracts/documentation.ts';
export { type Json, JsonRows } from './json/json-rows.ts';
export { type DocumentSize, scanJson, sizeOfJson } from './json/scan-json.ts';
export { normaliseList } from './pages/normalise-list.ts';
export { parametersIn, PathTree, segmentsOf } from './api/path-tree.ts';
export { throttleByWorkspace } from './server/throttle-by-workspace.ts';
export { buildPage, MAX_PAGE_BYTES, type Page } from './pages/page-body.ts';
export {
  canonicalJson,
  CURSOR_PURPOSE,
  type Cursors,
  cursorsOf,
  type CursorScope,
  DEFAULT_LIMIT,
  pageQuery,
  pagination,
  signedCursors,
} from './pages/pagination.ts';
export type { Key, KeyType, SortSegment, SegmentPosition } from './pages/sort-key.ts';
export { pathId, readPath, readQuery } from './api/parameters.ts';
export {
  checkRevision,
  IDEMPOTENCY_HEADER,
  IF_VERSION_HEADER,
  readExpectedRevision,
  REPLAYED_HEADER,
  VERSION_HEADER,
} from './contracts/preconditions.ts';
export {
  openPrincipalVerifier,
  PRINCIPAL_HEADER,
  PRINCIPAL_REUSE,
  principalPurpose,
  type PrincipalVerifier,
  signPrincipal,
} from './calls/principal.ts';
export { type Refusals, refusalsOf } from './errors/refusals.ts';
export { quotaExceeded } from './errors/quota-exceeded.ts';
export { HTML, MARKDOWN, sendDraining, sendError, sendHealth, sendJson } from './api/replies.ts';
export { REQUEST_ID_HEADER, requestIdOf } from './server/request-id.ts';
export { traceRequest } from './server/request-span.ts';
export { type AddressChange, type ServiceAddresses, serviceAddresses } from './calls/service-addresses.ts';
export { type Attempt, NoResponse, sendRequest } from './calls/send-request.ts';
export { schemaReference } from './pages/schema-reference.ts';
export { isRead, pathOf } from './server/exchange.ts';
export { type HttpServer, listen } from './server/server.ts';
export { declareOwnServers } from './calls/own-servers.ts';
export { hasBody } from './server/unread-bodies.ts';
export { bind } from './server/bind.ts';
export { toDomainError } from './api/to-domain-error.ts';
export { type UnsentBytes, unsentBytes } from './streams/unsent-bytes.ts';
export { validate } from './api/validate.ts';
export { EVENT_STREAM, LAST_EVENT_ID_HEADER, type WaitingRequest } from './streams/waiting.ts';
export {
  MAX_WAITING_REQUESTS,
  leaseToWait,
  type WaitingLeases,
  waitingLeases,
  waitingSettings,
} from './streams/waiting-leases.ts';
export { errorCodesOf, errorResponseName } from './contracts/operation-errors.ts';
export { queryOf, VALIDATED_HEADER } from './contracts/validate-only.ts';

export { checkAccess } from './access.ts';
export {
  BODY_LIMIT_HEADER,
  bodySettings,
  checkContentLength,
  type JsonBody,
  MAX_BODY_BYTES,
  readJsonBody,
} from './body.ts';
export {
  type Contract,
  type Contracts,
  type Cost,
  COST_HEADER,
  DEFAULT_DEADLINE,
  endpoint,
  type Handlers,
  implement,
  internalCommand,
  internalRoute,
  type InternalRoute,
  type Method,
  type Reply,
  type RequestOf,
  type Route,
  type RouteRequest,
} from './contract.ts';
export {
  DomainError,
  ERROR_STATUS,
  type ErrorBody,
  errorBody,
  type ErrorCode,
  invalidRequest,
  notFound,
  invalidState,
  serviceUnavailable,
  shareExceeded,
} from './errors.ts';
export { drainOf } from './drain.ts';
export { type EventStream, type LineStream, NDJSON, type ServerSentEvent, type StreamPart } from './event-stream.ts';
export { visibleFrom } from './history.ts';
export { httpApp, type HttpAppOptions } from './http-app.ts';
export type { HttpLimits } from './route-handler.ts';
export {
  createIdempotencyTable,
  IDEMPOTENCY_HOURS,
  type KeyState,
  type Outcome,
  sweepIdempotencyKeys,
} from './idempotency-keys.ts';
export { idempotencyKeyRoute, type KeyLookup, keyLookup } from './idempotency-lookup.ts';
export { type IdempotencyClaim, type IdempotencyKey, idempotently, idempotentlyWithClaim } from './idempotency.ts';
export { type InternalClient, internalClient, UnexpectedStatus } from './internal-client.ts';
export { checkStorable, checkText, parseJson } from './json.ts';
export { jsonEqual } from './json-equal.ts';
export { type Deprecation, deprecationHeaders } from './deprecation.ts';
export { DESCRIPTION_PATH, entityTagOf } from './description-route.ts';
export type { AnyDocumentation, Documentation, WebhookDocumentation } from './documentation.ts';
export { EXTENSIONS, openApiDocument } from './openapi.ts';
export { type Json, JsonRows } from './json-rows.ts';
export { scanJson } from './scan-json.ts';
export { normaliseList } from './normalise-list.ts';
export { parametersIn, PathTree, segmentsOf } from './path-tree.ts';
export { throttleByWorkspace } from './throttle-by-workspace.ts';
export { buildPage, MAX_PAGE_BYTES, type Page } from './page-body.ts';
export {
  canonicalJson,
  CURSOR_PURPOSE,
  type Cursors,
  cursorsOf,
  type CursorScope,
  DEFAULT_LIMIT,
  pageQuery,
  type Pagination,
  pagination,
  signedCursors,
} from './pagination.ts';
export type { Key, KeyType, Position, SortSegment, SegmentPosition } from './sort-key.ts';
export { getOnce, type Target } from './get-once.ts';
export { pathId, readPath, readQuery } from './parameters.ts';
export {
  checkRevision,
  IDEMPOTENCY_HEADER,
  IF_VERSION_HEADER,
  readExpectedRevision,
  readIdempotencyKey,
  VERSION_HEADER,
} from './preconditions.ts';
export {
  openPrincipalVerifier,
  PRINCIPAL_HEADER,
  PRINCIPAL_REUSE,
  principalPurpose,
  type PrincipalVerifier,
  signPrincipal,
} from './principal.ts';
export { type Refusals, refusalsOf } from './refusals.ts';
export { quotaExceeded } from './quota-exceeded.ts';
export { sendDraining, sendError, sendHealth, sendJson } from './replies.ts';
export { REQUEST_ID_HEADER, requestIdOf } from './request-id.ts';
export { traceRequest } from './request-span.ts';
export {
  type AddressChange,
  type ServiceAddress,
  type ServiceAddresses,
  serviceAddresses,
} from './service-addresses.ts';
export { SUSPECT_AFTER_MS, type WatchedRequest } from './service-health.ts';
export { schemaReference } from './schema-reference.ts';
export { type HttpServer, listen } from './server.ts';
export { bind } from './bind.ts';
export { toDomainError } from './to-domain-error.ts';
export { type UnsentBytes, unsentBytes } from './unsent-bytes.ts';
export { validate } from './validate.ts';
export { EVENT_STREAM, LAST_EVENT_ID_HEADER, type WaitingRequest } from './waiting.ts';
export { MAX_WAITING_REQUESTS, type WaitingPlaces, waitingPlaces, waitingSettings } from './waiting-places.ts';

export { checkContentLength, type JsonBody, MAX_BODY_BYTES, readJsonBody } from './body.ts';
export {
  DomainError,
  ERROR_STATUS,
  type ErrorBody,
  errorBody,
  type ErrorCode,
  invalid,
  notFound,
  unavailable,
  wrongState,
} from './errors.ts';
export {
  httpApp,
  type HttpAppOptions,
  REQUEST_ID_HEADER,
  requestIdOf,
  sendError,
  sendJson,
  toDomainError,
} from './http-app.ts';
export {
  claimLost,
  createIdempotencyTable,
  type IdempotencyClaim,
  idempotently,
  type Outcome,
  sweepIdempotencyKeys,
} from './idempotency.ts';
export { type InternalClient, internalClient } from './internal-client.ts';
export { checkStorable, checkText, parseJson } from './json.ts';
export { type Deprecation, deprecationHeaders } from './deprecation.ts';
export { EXTENSIONS, openApiDocument } from './openapi.ts';
export { normaliseList } from './normalise-list.ts';
export {
  canonicalJson,
  CURSOR_PURPOSE,
  type Cursors,
  type CursorScope,
  DEFAULT_LIMIT,
  pageQuery,
  paginate,
  type Pagination,
  pagination,
  type Position,
  signedCursors,
} from './pagination.ts';
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
  type Permission,
  PERMISSIONS,
  type Prerequisite,
  PREREQUISITES,
  type Principal,
  PRINCIPAL_HEADER,
  PRINCIPAL_PURPOSE,
  type Scope,
  SCOPES,
  type ServicePrincipal,
  signPrincipal,
  verifyPrincipal,
  type WorkspaceContext,
} from './principal.ts';
export {
  internalRoute,
  type InternalRoute,
  type Method,
  type Reply,
  route,
  type Route,
  type RouteRequest,
  type RouteSpec,
} from './route.ts';
export { type HttpServer, listen } from './server.ts';
export { validate } from './validate.ts';

export type { FailureReason, PreparedRequest, SafeResponse, SafeRequest } from './messages.ts';
export {
  canonicalAddress,
  isLocalName,
  isLoopbackAddress,
  isPublicAddress,
  publicOrAllowed,
} from './public-address.ts';
export { hostAndPort, safeHttp, type SafeHttp, type SafeHttpOptions } from './safe-http.ts';
export { isNegativeAnswer, type Resolve, systemResolver } from './system-resolver.ts';

export type { FaultReason, Prepared, SafeAnswer, SafeRequest } from './messages.ts';
export { canonicalAddress, isLoopbackAddress, isPublicAddress, publicOrNamed } from './public-address.ts';
export { hostAndPort, safeHttp, type SafeHttp, type SafeHttpOptions } from './safe-http.ts';
export { isNegativeAnswer, type Resolve, systemResolver } from './system-resolver.ts';

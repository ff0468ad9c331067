export { hideDuration, isAddressFailure } from './address-failure.ts';
export { readNetworks } from './allowed-networks.ts';
export {
  afterCallFailure,
  type AfterCallFailure,
  CALLED_STATUSES,
  type CalledState,
  calledStatusOf,
  type CallFailure,
} from './called-state.ts';
export {
  type AllowedDestinations,
  DESTINATION_PROBLEMS,
  type DestinationProblem,
  findDestinationProblem,
  hostAndPort,
  HOW_TO_ALLOW,
  publicOrAllowed,
} from './destinations.ts';
export type { FailureReason, PreparedRequest, SafeResponse, SafeRequest } from './messages.ts';
export type { EgressProxy } from './proxy.ts';
export { isLocalName, isLoopbackAddress, isPublicAddress, reachedAddress } from './public-address.ts';
export { safeHttp, type SafeHttpOptions } from './safe-http.ts';
export { type Egress, egressOf, egressProblems, receiverSettings } from './settings.ts';
export { isNegativeAnswer, type Resolve, systemResolver } from './system-resolver.ts';
export { openTunnel, tunnelAgent } from './tunnel.ts';

/**
 * The services that each service calls, in addition to the gateway's calls to every service. Each pair has its own key,
 * which only the two have: a service can make these calls and no others.
 */
export const SERVICE_CALLS: Readonly<Record<string, readonly string[]>> = {
  incident: ['gateway', 'catalog', 'custom-field'],
  catalog: ['gateway', 'incident'],
  webhook: ['incident'],
};

/** The services that may call this one. */
export const callersOf = (service: string): string[] =>
  Object.keys(SERVICE_CALLS).filter((name) => SERVICE_CALLS[name]?.includes(service));

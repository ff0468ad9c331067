/**
 * The services behind the gateway, each with the setting that has its addresses and the apps that it calls, in addition
 * to the gateway's calls to every service. Each pair has its own key, which only the two have: a service can make these
 * calls and no others.
 */
export const SERVICES = {
  incident: { address: 'INCIDENT_URL', calls: ['gateway', 'catalog', 'custom-field'] },
  catalog: { address: 'CATALOG_URL', calls: ['gateway', 'incident'] },
  'custom-field': { address: 'CUSTOM_FIELD_URL', calls: [] },
  webhook: { address: 'WEBHOOK_URL', calls: ['incident'] },
} as const satisfies Record<string, { address: string; calls: readonly string[] }>;

export type ServiceName = keyof typeof SERVICES;
export const SERVICE_NAMES = Object.keys(SERVICES) as ServiceName[];

/** The apps that each service calls. */
export const SERVICE_CALLS: Readonly<Record<string, readonly string[]>> = Object.fromEntries(
  SERVICE_NAMES.map((name) => [name, SERVICES[name].calls]),
);

/** The services that may call this one. */
export const callersOf = (service: string): string[] =>
  Object.entries(SERVICE_CALLS).flatMap(([name, calls]) => (calls.includes(service) ? name : []));

/** A victim: a workspace with one incident and API key, and the requests that it makes. */
export interface Victim {
  readonly host: string;
  readonly token: string;
  readonly incidentId: number;
}

/** A request of a victim; the body is sent as JSON. */
export interface VictimRequest {
  method?: 'POST';
  path: string;
  body?: object;
}

export type Route = 'list' | 'get' | 'create' | 'services' | 'teams' | 'fields' | 'webhooks';

/** The requests that victims make. */
export const ROUTES: Readonly<Record<Route, (victim: Victim) => VictimRequest>> = {
  list: () => ({ path: '/api/v1/incidents' }),
  get: ({ incidentId }) => ({ path: `/api/v1/incidents/${incidentId}` }),
  create: () => ({ method: 'POST', path: '/api/v1/incidents', body: { title: 'Checkout is slow' } }),
  services: () => ({ path: '/api/v1/services' }),
  teams: () => ({ path: '/api/v1/teams' }),
  fields: () => ({ path: '/api/v1/custom-fields' }),
  webhooks: () => ({ path: '/api/v1/settings/webhooks' }),
};

export const INCIDENT_ROUTES: readonly Route[] = ['list', 'get', 'create'];

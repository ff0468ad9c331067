import { randomUUID } from 'node:crypto';
import { TIMELINE_EVENT } from '../feed.ts';
import type { TestService } from '../service.ts';

export const DESTINATIONS = '/api/v1/settings/destinations';
const SESSION = { name: 'Session', prefix: 'tcn_8sQ2' };
const API_KEY = { name: 'Monitor', prefix: 'tck_8sQ2' };

type Properties = Record<string, unknown>;

/** An incident whose changes are published as its service publishes them. */
export function publishedIncident(service: TestService, first: Properties = {}) {
  let incident: Properties = {
    ...{ id: 4, reference: 'INC-4', revision: 1, title: 'Checkout is down', service: 'checkout', regions: [] },
    ...{ severity: 'sev1', status: 'open', issue_type: 'incident', impact_summary: '', team_id: null, roles: {} },
    ...{ created_at: '2026-11-20T09:30:00.000Z', created_by: '42', archived_at: null, ...first },
  };
  const publish = async (type: string, data: Properties, options: Properties = {}) => {
    const message = {
      ...{ id: randomUUID(), type, schema_version: 1, occurred_at: service.clock.now() },
      workspace: { id: 1, slug: 'acme', is_demo: false },
      ...{ request_id: 'request-1', data, ...options },
    };
    const [outcome] = await service.broker.publish([{ id: message.id, type, body: JSON.stringify(message) }]);
    if (outcome !== 'confirmed') throw new Error('an event was not consumed');
    return message.id;
  };
  return {
    publish,
    declare: async (options: Properties = {}) =>
      publish('incident.created', { incident, actor: '42', api_key: API_KEY }, options),
    /** By Ana, in her browser. */
    change: async (properties: Properties) => {
      const changes = Object.entries(properties).map(([field, to]) => ({ field, from: incident[field], to }));
      incident = { ...incident, ...properties, revision: Number(incident['revision']) + 1 };
      return publish('incident.updated', { incident, changes, actor: '42', api_key: SESSION });
    },
    note: async (body: string) => {
      service.incidents.context = { ...service.incidents.context, incidents: [incident as { id: number }] };
      const timeline_event = { ...TIMELINE_EVENT, title: '', body };
      const reference = { id: incident['id'], reference: incident['reference'], revision: incident['revision'] };
      return publish('timeline_event.created', {
        ...{ incident: reference, timeline_event, actor: '42', api_key: SESSION },
      });
    },
  };
}

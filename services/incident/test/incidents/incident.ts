import { newIncident } from '../../src/creation/create-incident.ts';
import type { Incident } from '../../src/incidents/domain/incident.ts';

/** A new incident with some other `properties`. */
export const anIncident = (properties: Partial<Incident> = {}): Incident => ({
  ...newIncident({
    workspaceId: 1,
    properties: { title: 'Checkout is down', severity: 'sev3', severityMode: 'auto', status: 'open' },
    statusIsTerminal: false,
    customFields: {},
    creator: { createdBy: '42', createdByKey: null },
    now: '2026-11-20T09:00:00.000Z',
  }),
  id: 1,
  number: 1,
  ...properties,
});

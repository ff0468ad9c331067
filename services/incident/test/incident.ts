import { declare } from '../src/domain/declare.ts';
import type { Incident } from '../src/domain/incident.ts';

/** An incident for tests of pure rules, as it was declared but for `properties`. */
export const anIncident = (properties: Partial<Incident> = {}): Incident => ({
  ...declare({
    workspaceId: 1,
    properties: { title: 'Checkout is down', severity: 'sev3', severityMode: 'auto', status: 'open' },
    statusIsTerminal: false,
    customFields: {},
    by: '42',
    now: '2026-11-20T09:00:00.000Z',
  }),
  id: 1,
  number: 1,
  ...properties,
});

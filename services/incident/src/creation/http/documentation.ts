import type { Documentation } from '@tocsin/http';
import { incidentExample } from '../../incidents/http/examples.ts';
import type { creationContracts } from './contracts.ts';

/** contract: Incidents */
export const creationOperations: Documentation<typeof creationContracts> = {
  createIncident: {
    description:
      'Declares an incident; only `title` is required. Send an `Idempotency-Key`, so that a request that is repeated after a lost response does not create a second incident. A channel is requested with `create_slack_channel`, an import of a document into the timeline with `import_source_timeline_event`.',
    body: {
      title: 'Checkout is down in Europe',
      severity: 'sev1',
      service: 'checkout',
      regions: ['eu-west-1'],
      impact_summary: 'Customers cannot pay by card.',
      custom_field_values: [{ field_id: 2, value: 1200 }],
    },
    reply: {
      incident: {
        ...incidentExample,
        id: 4,
        human_id: 'INC-4',
        title: 'Checkout is down in Europe',
        severity: 'sev1',
        impact_summary: 'Customers cannot pay by card.',
        custom_fields: { affected_orders: 1200 },
        revision: 1,
        status: 'open',
        event_count: 0,
        last_event_at: null,
        last_event_summary: '',
      },
    },
  },
};

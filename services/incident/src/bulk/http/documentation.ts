import type { Documentation } from '@tocsin/http';
import { incidentExample } from '../../incidents/http/examples.ts';
import type { bulkContracts } from './contracts.ts';

/** contract: Bulk */
export const bulkOperations: Documentation<typeof bulkContracts> = {
  bulkIncidents: {
    description:
      'Changes up to 50 incidents in the order of the items, each in a transaction of its own: `status` and `incident` or `error` of a result are what the single request would have answered. With an `Idempotency-Key`, a repetition gets the same results, and what was cut off goes on where it stopped.',
    body: {
      items: [
        { id: 2, verb: 'resolve' },
        { id: 1, revision: 3, changes: { severity: 'sev3' } },
      ],
    },
    reply: {
      results: [
        {
          index: 0,
          status: 200,
          incident: {
            ...incidentExample,
            id: 2,
            human_id: 'INC-2',
            title: 'Search results are out of date',
            service: 'search',
            status: 'resolved',
            issue_type: 'postmortem',
          },
        },
        {
          index: 1,
          status: 412,
          error: {
            code: 'precondition_failed',
            message: 'The resource is at revision 4, not 3',
            field: 'If-Service-Resource-Version',
            details: { current_revision: 4 },
            request_id: '0b0f6a5e-4a52-4b3e-9d7a-3d1c3f1c8f0e',
          },
        },
      ],
    },
  },
};

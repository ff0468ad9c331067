import type { Documentation } from '@tocsin/http';
import type { accessContracts, changelogContracts, incidentContracts } from './contracts.ts';
import { incidentExample, params } from './examples.ts';

/** contract: Incidents */
export const incidentOperations: Documentation<
  typeof incidentContracts & typeof changelogContracts & typeof accessContracts
> = {
  getIncident: {
    description:
      'Returns an incident, archived ones included: as it is now or, with `at_revision`, as it was at an earlier revision.',
    params,
    reply: { incident: incidentExample },
  },
  getIncidentByReference: {
    description: 'Returns the incident with a reference such as `INC-1`, archived ones included.',
    params: { reference: 'INC-1' },
    reply: { incident: incidentExample },
  },
  updateIncident: {
    description:
      'Changes the properties that the body contains and leaves the others as they are. `If-Service-Resource-Version` must be the current revision, so that no change overwrites one that its author has not seen. A PATCH that changes nothing returns the incident unchanged.',
    params,
    revision: 3,
    body: { status: 'active', incident_manager: '1' },
    reply: { incident: incidentExample },
  },
  listIncidentChangelog: {
    description:
      'Returns the changes of an incident: an entry for each revision that changed a property or the timeline, and for each change of a follow-up.',
    params,
    reply: {
      changelog: [
        {
          id: 305,
          incident_id: 1,
          revision: 4,
          actor: '1',
          api_key: { name: 'demo', prefix: 'tcs_7Jq2' },
          changed_at: '2026-11-20T09:32:10.000Z',
          changes: [{ field: 'status', from: 'open', to: 'active' }],
          imported: false,
        },
      ],
      pagination: { limit: 50, has_more: false },
    },
  },
  listIncidentAccesses: {
    description:
      'Returns who has read a restricted incident, by an entry for each user, key and hour. An incident that was never restricted has none.',
    params,
    reply: {
      accesses: [
        {
          user_id: 1,
          api_key: { name: 'demo', prefix: 'tcs_7Jq2' },
          first_at: '2026-11-20T09:32:10.000Z',
          last_at: '2026-11-20T09:48:51.000Z',
          count: 4,
        },
      ],
      pagination: { limit: 50, has_more: false },
    },
  },
};

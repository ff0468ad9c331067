import type { Documentation } from '@tocsin/http';
import type { contracts } from '../../http/contracts.ts';
import { CURSOR, incidentExample, params, timelineEventExample } from '../../http/examples.ts';

type Operation =
  | 'listIncidents'
  | 'listArchivedIncidents'
  | 'createIncident'
  | 'getIncident'
  | 'getIncidentByReference'
  | 'updateIncident'
  | 'resolveIncident'
  | 'closeIncident'
  | 'reopenIncident'
  | 'archiveIncident'
  | 'restoreIncident'
  | 'listIncidentChangelog';

const list: Pick<Documentation<typeof contracts>['listIncidents'], 'reply'> = {
  reply: {
    incidents: [incidentExample],
    pagination: { limit: 50, has_more: true, next_cursor: CURSOR },
    has_more: true,
    next_cursor: CURSOR,
    restricted_count: 0,
    history_limited: false,
    mrr_currency: 'USD',
    mrr_conversion_mode: 'normalized',
    mrr_projection_state: 'ready',
    supported_mrr_currencies: ['USD'],
    collection_counts: { matched: 61, all: 240, ongoing: 61, by_status: { open: 12, active: 49, resolved: 179 } },
  },
};

/** `INC-2` and `INC-3` of the sample workspace, the second one resolved. */
const monitored = { id: 2, human_id: 'INC-2', title: 'Search results are out of date', service: 'search' };
const resolved = { id: 3, human_id: 'INC-3', title: 'Nightly report is missing', service: 'reports' };

/** The documentation of incidents and their lifecycle (contract: Incidents, Lifecycle, Incident lists). */
export const incidentOperations: Pick<Documentation<typeof contracts>, Operation> = {
  listIncidents: {
    description:
      'Returns the incidents that are not archived. The values of one filter are alternatives; different filters must all match. Without `sort`, the newest incident comes first.',
    ...list,
  },
  listArchivedIncidents: {
    description:
      'Returns the archived incidents, ordered by the time of archiving. It takes the same filters as the list of incidents.',
    ...list,
    reply: {
      ...list.reply,
      incidents: [{ ...incidentExample, archived_at: '2026-11-25T10:00:00.000Z', archived_by: 1 }],
    },
  },
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
  getIncident: {
    description: 'Returns an incident, archived ones included.',
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
  resolveIncident: {
    description:
      'Sets the status `resolved` and the issue type `postmortem`. A `resolution_note` that is not blank becomes a timeline event. Resolving a resolved incident changes nothing.',
    params,
    body: { resolution_note: 'The rollback restored checkout.' },
    reply: {
      incident: { ...incidentExample, revision: 5, status: 'resolved', issue_type: 'postmortem', event_count: 3 },
      timeline_event: {
        ...timelineEventExample,
        type: 'resolution',
        title: '',
        icon: '',
        tags: [],
        body: 'The rollback restored checkout.',
      },
    },
  },
  closeIncident: {
    description:
      'Sets the status `closed` and keeps the issue type, for incidents that need no resolution. A `close_note` that is not blank becomes a timeline event.',
    params: { id: monitored.id },
    body: { close_note: 'The index is complete again.' },
    reply: { incident: { ...incidentExample, ...monitored, revision: 3, status: 'closed', event_count: 2 } },
  },
  reopenIncident: {
    description:
      'Sets the status `active` of a resolved or closed incident. The issue type of a resolved one becomes `incident`. A `reopen_note` that is not blank becomes a timeline event.',
    params: { id: resolved.id },
    body: { reopen_note: 'The report is missing again.' },
    reply: { incident: { ...incidentExample, ...resolved, revision: 3 } },
  },
  archiveIncident: {
    description:
      'Archives an incident: it can be read, lists do not contain it, and every write to it is refused until it is restored.',
    params: { id: resolved.id },
    body: {},
    reply: {
      incident: {
        ...incidentExample,
        ...resolved,
        revision: 4,
        archived_at: '2026-11-25T10:00:00.000Z',
        archived_by: 1,
      },
    },
  },
  restoreIncident: {
    description: 'Restores an archived incident with the status and the properties that it had.',
    params: { id: resolved.id },
    body: {},
    reply: { incident: { ...incidentExample, ...resolved, revision: 5 } },
  },
  listIncidentChangelog: {
    description:
      'Returns the changes of an incident, the newest first: one entry for each revision that changed a property.',
    params,
    reply: {
      changelog: [
        {
          id: 305,
          incident_id: 1,
          revision: 4,
          actor: '1',
          changed_at: '2026-11-20T09:32:10.000Z',
          changes: [{ field: 'status', from: 'open', to: 'active' }],
        },
      ],
      pagination: { limit: 50, has_more: false },
    },
  },
};

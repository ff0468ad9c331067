import type { Documentation } from '@tocsin/http';
import { incidentExample, params } from '../../incidents/http/examples.ts';
import { timelineEventExample } from '../../timeline/http/documentation.ts';
import type { lifecycleContracts } from './contracts.ts';

/** `INC-2` and `INC-3` of the sample workspace, the second one resolved. */
const monitored = { id: 2, human_id: 'INC-2', title: 'Search results are out of date', service: 'search' };
const resolved = { id: 3, human_id: 'INC-3', title: 'Nightly report is missing', service: 'reports' };

/** contract: Lifecycle */
export const lifecycleOperations: Documentation<typeof lifecycleContracts> = {
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
};

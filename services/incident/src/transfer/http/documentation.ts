import type { Documentation } from '@tocsin/http';
import type { transferContracts } from './contracts.ts';

const ana = { name: 'Ana', email: 'ana@acme.example' };

const item = {
  external: {
    source: 'dispatch',
    id: '214',
    url: 'https://dispatch.acme.example/default/incidents/dispatch-214',
  },
  title: 'Card payments fail',
  status: 'closed',
  severity: 'sev2',
  created_at: '2024-03-02T18:04:00.000Z',
  author: ana,
  status_changed_at: '2024-03-02T21:40:00.000Z',
  service: 'checkout',
  moments: { first_reported_at: '2024-03-02T18:01:00.000Z', recovered_at: '2024-03-02T20:15:00.000Z' },
  people: { manager: ana },
  timeline: [
    {
      external_id: '9120',
      type: 'note',
      body: 'Rolled back to release 411',
      started_at: '2024-03-02T18:20:00.000Z',
      author: ana,
    },
  ],
};

/** contract: Import, Export */
export const transferOperations: Documentation<typeof transferContracts> = {
  importIncidents: {
    description:
      'Creates incidents of another system with their times, authors and timelines, or changes those that were imported before: `source` and `id` of `external` decide. The same request again changes nothing. Each item succeeds or is refused by itself. Nobody is notified; the event feed has one `incident.imported` for each incident that is created or changed.',
    body: { incidents: [item] },
    reply: {
      results: [{ index: 0, outcome: 'created', incident_id: 5, human_id: 'INC-5', revision: 1 }],
    },
  },
  importPicture: {
    description:
      'Adds a picture to an event that an import brought, as the line `picture` of an export has it: the body is its `data`, decoded. The same bytes for the same event change nothing.',
    reply: { outcome: 'created', id: 2 },
  },
  exportIncidents: {
    description:
      'Streams the workspace as JSON objects, one a line: the workspace with its configuration, its teams, services and custom fields, and then all incidents in the form of an import. A line `position` has a cursor, with which an export that breaks off goes on behind it; `end` is the last line of a complete one. The key needs `users:read`, too, for the email addresses of people.',
    lines: [
      { kind: 'team', slug: 'payments', name: 'Payments', archived: false },
      { kind: 'incident', ...item },
      { kind: 'end' },
    ],
  },
};

import type { Documentation } from '@tocsin/http';
import { params } from '../../incidents/http/examples.ts';
import { BUILT_IN_TEMPLATE, sectionsOf } from '@tocsin/schemas/postmortem-template';
import { changePostmortem, newPostmortem } from '../domain/written.ts';
import type { postmortemContracts } from './contracts.ts';
import { postmortemDocument } from './document.ts';
import { htmlPage } from './page.ts';
import { formerView, sectionsView, writtenView } from './views.ts';
import type { PostmortemWire } from './wire.ts';

const ana = { id: 1, name: 'Ana', api_key: null };
const monitor = { ...ana, api_key: { name: 'Alertmanager', prefix: 'tcs_4fD9' } };

const example: PostmortemWire = {
  incident_id: 1,
  human_id: 'INC-1',
  revision: 4,
  generated_at: '2026-11-20T09:39:00.000Z',
  time_zone: 'UTC',
  title: 'Checkout answers slowly',
  summary: 'One order in ten takes over ten seconds',
  status: { key: 'active', label: 'Active' },
  severity: { key: 'sev2', label: 'SEV 2' },
  customer_impact_status: 'confirmed',
  regions: ['eu-west-1'],
  moments: [
    {
      ...{ name: 'impact_started_at', label: 'Impact started', at: '2026-11-20T09:25:00.000Z' },
      seconds_since_previous: null,
    },
    { name: 'created_at', label: 'Declared', at: '2026-11-20T09:30:00.000Z', seconds_since_previous: 300 },
    {
      ...{ name: 'first_responded_at', label: 'First response', at: '2026-11-20T09:31:00.000Z' },
      seconds_since_previous: 60,
    },
  ],
  response_seconds: 360,
  recovery_seconds: null,
  people: [
    { role: 'incident_manager', person: ana },
    { role: 'declared_by', person: monitor },
  ],
  team: { id: 1, name: 'Payments' },
  services: [{ slug: 'checkout', tier: 't1' }],
  custom_fields: [{ slug: 'root_cause', name: 'Root cause', text: 'Capacity' }],
  activity: [
    {
      ...{ kind: 'change', id: 305, at: '2026-11-20T09:32:10.000Z', ended_at: null, type: 'change', is_key: false },
      ...{ author: ana, title: '', body: '', tags: [] },
      changes: [{ field: 'status', label: 'Status', from: 'Open', to: 'Active' }],
    },
    {
      ...{ kind: 'timeline_event', id: 5, at: '2026-11-20T09:34:00.000Z', ended_at: null, type: 'mitigation' },
      ...{
        is_key: true,
        author: ana,
        title: 'Rollback',
        body: 'Rolled back the release',
        tags: ['deploy'],
        changes: [],
      },
    },
  ],
  relations: [
    {
      ...{ type: 'caused_by', incident_id: 2, human_id: 'INC-2', title: 'Search results are out of date' },
      status: { key: 'monitoring', label: 'Monitoring' },
    },
  ],
  follow_ups: [
    { id: 1, title: 'Alert on the pool', status: 'open', owner: ana, due_on: '2026-12-01', external_url: '' },
  ],
  links: [{ label: 'logs', url: 'https://logs.acme.example/q/7', summary: 'Errors by minute', timeline_event_id: 5 }],
  attachments: [{ id: 1, timeline_event_id: 5, filename: 'latency.png', size_bytes: 48_212 }],
  left_out: null,
};

const begun = newPostmortem(
  { incidentId: 1, sections: sectionsOf(BUILT_IN_TEMPLATE), template: '' },
  { now: '2026-11-20T12:00:00.000Z', actor: '1', key: { name: 'Firefox on Linux', prefix: 'tcn_8sKq' } },
);
const at = { now: '2026-11-23T09:00:00.000Z', actor: '1', key: begun.createdByKey };
const published = changePostmortem(begun, { state: 'published' }, at);
const markdown = await postmortemDocument(example, { template: '', written: begun });

/** contract: Post-mortems */
export const postmortemOperations: Documentation<typeof postmortemContracts> = {
  getIncidentPostmortem: {
    description:
      'Returns what is known of the incident now, with timeline and changes in one table, and the `document` that people have written. With `Accept: text/markdown` or `text/html` it is that document with its live parts, or the one that the template makes if nobody has begun.',
    params,
    reply: { postmortem: example, document: writtenView(begun) },
    markdown,
    html: await htmlPage(`${example.human_id}: ${example.title}`, markdown),
  },
  createIncidentPostmortem: {
    description:
      "Begins the document as a draft: with the sections of the workspace's template, or those of the request. Its live parts are placeholders, which Markdown and HTML fill. Send an `Idempotency-Key`, so that a repeated request is not refused. The revision of the incident stays.",
    params,
    body: {},
    reply: { document: writtenView(begun) },
  },
  updateIncidentPostmortem: {
    description:
      'Changes `sections`, as a whole list, and `state`. `If-Service-Resource-Version` must be the current revision of the document. What it was is kept as a former revision.',
    params,
    revision: 1,
    body: { state: 'published' },
    reply: { document: writtenView(published) },
  },
  listIncidentPostmortemRevisions: {
    description: 'Returns what the document was before its changes, without the sections, the latest first.',
    params,
    reply: { former: [formerView(begun)], pagination: { limit: 50, has_more: false } },
  },
  getIncidentPostmortemRevision: {
    description: 'Returns a former revision with its sections.',
    params: { ...params, revision: 1 },
    reply: { former: { ...formerView(begun), sections: sectionsView(begun.sections) } },
  },
};

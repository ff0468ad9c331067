import { expect } from '@jest/globals';
import type { Knex } from '@tocsin/postgres';
import type { Client } from '@tocsin/testing';
import fc from '@tocsin/testing/fuzz';
import type { TimelineEventWire } from '../../src/timeline/http/wire.ts';
import { recordAnything } from '../timeline.ts';
import { aTeam, aUser } from '../snapshots.ts';

export const INCIDENTS = '/api/v1/incidents';
/** More than events contain. */
export const LARGE = 'Ä'.repeat(3_000);
const TEXTS = ['', 'Rollback', LARGE, '"quoted"', 'данные'];
const MOMENTS = [null, '2026-11-20T09:00:00.000Z', '2026-11-21T10:30:00.000Z'];
const text = fc.constantFrom(...TEXTS);
const moment = fc.constantFrom(...MOMENTS);
/** What the owners of replicated data have. */
export const USERS = [aUser(42), aUser(43)];
export const TEAM = aTeam(5);
/** The fields that incidents may have values of. */
export const FIELDS = [
  { id: 1, slug: 'zone', field_type: 'string' },
  { id: 2, slug: 'note', field_type: 'json' },
  { id: 3, slug: 'constructor', field_type: 'number' },
] as const;

const properties = fc.record(
  {
    title: fc.constantFrom('Down', 'Slow', 'Ä'),
    service: fc.constantFrom('', 'checkout'),
    regions: fc.constantFrom([], ['eu'], ['eu', 'us']),
    severity: fc.constantFrom('sev1', 'sev2', 'sev3'),
    status: fc.constantFrom('open', 'monitoring', 'on-hold'),
    issue_type: fc.constantFrom('ticket', 'incident'),
    team_id: fc.constantFrom(null, TEAM.id),
    incident_manager: fc.constantFrom('', '42'),
    incident_responders: fc.constantFrom([], ['43'], ['42', '43']),
    slack_channel_id: fc.constantFrom('', 'C1'),
    meet_url: fc.constantFrom('', `https://meet.example/${'ü'.repeat(2_020)}`),
    impact_summary: text,
    customer_impact_status: fc.constantFrom('unknown', 'none', 'confirmed'),
    impact_started_at: moment,
    first_reported_at: moment,
    first_responded_at: moment,
    recovered_at: moment,
  },
  { requiredKeys: [] },
);
const values = fc.uniqueArray(
  fc.oneof(
    fc.record({ field_id: fc.constant(1), value: fc.constantFrom('eu', 'us', LARGE) }),
    fc.record({ field_id: fc.constant(2), value: fc.constantFrom({ a: [1] }, { b: LARGE, a: null }, [], false) }),
    fc.record({ field_id: fc.constant(3), value: fc.constantFrom(0, 1.5) }),
  ),
  { maxLength: 3, selector: ({ field_id: id }) => id },
);
const eventProperties = fc.record(
  {
    title: fc.constantFrom('', 'Deployed'),
    started_at: fc.constantFrom('2026-11-20T09:00:00.000Z', '2026-11-20T09:00:01.000Z'),
    type: fc.constantFrom('note', 'deploy'),
    icon: fc.constantFrom('', '🔥'),
    tags: fc.constantFrom(
      [],
      ['db'],
      Array.from({ length: 50 }, (_, index) => `${index}${'ж'.repeat(60)}`),
    ),
    is_key: fc.boolean(),
  },
  { requiredKeys: [] },
);
const body = fc.constantFrom('Restarted', LARGE, 'x');

/** Every way in which an incident or its timeline changes. `target` and `event` choose among those that exist. */
export const action = fc.record({
  kind: fc.constantFrom(
    'create',
    'import',
    'patch',
    'patch',
    'set',
    'unset',
    'resolve',
    'close',
    'reopen',
    'archive',
    'restore',
    'restore',
    'add',
    'add',
    'add',
    'edit',
    'edit',
    'delete',
    'suggest',
  ),
  target: fc.nat(),
  event: fc.nat(),
  properties,
  values,
  eventProperties,
  body,
  note: fc.constantFrom('', 'Fixed', LARGE),
});
export type Action = typeof action extends fc.Arbitrary<infer Value> ? Value : never;

/** Where actions happen. */
export interface ActionContext {
  client: Client;
  database: Knex;
  /** The document that imports fetch. */
  documentUrl: string;
  /** The IDs of all incidents; `perform` adds new ones. */
  incidents: number[];
}

/** Refusals, such as a write to an archived incident, are part of the test: they must publish nothing. */
export async function perform(
  { client, database, documentUrl, incidents }: ActionContext,
  { kind, ...input }: Action,
): Promise<void> {
  if (kind === 'create' || kind === 'import' || incidents.length === 0) {
    const imported = kind === 'import' ? { doc_url: documentUrl, import_source_timeline_event: true } : {};
    const created = await client.post(INCIDENTS, {
      title: 'x',
      ...input.properties,
      custom_field_values: input.values,
      ...imported,
    });
    // On a slow machine the replicas may not be fresh in time.
    expect([201, 503]).toContain(created.status);
    if (created.status === 201) incidents.push(created.body.incident.id);
    return;
  }
  const id = incidents[input.target % incidents.length] as number;
  const path = `${INCIDENTS}/${id}`;
  const revisionHeader = (revision: number) => ({ 'If-Service-Resource-Version': String(revision) });
  const anEvent = async (): Promise<TimelineEventWire | undefined> => {
    const { events } = (await client.get(`${path}/timeline?limit=100`)).body;
    return events[input.event % Math.max(1, events.length)];
  };
  const { note } = input;
  switch (kind) {
    case 'patch': {
      const { revision } = (await client.get(path)).body.incident;
      await client.patch(path, input.properties, revisionHeader(revision));
      return;
    }
    case 'set':
      await client.patch(`${path}/custom-fields`, { values: input.values });
      return;
    case 'unset':
      await client.delete(`${path}/custom-fields/${1 + (input.event % FIELDS.length)}`);
      return;
    case 'resolve':
      await client.post(`${path}/resolve`, { resolution_note: note });
      return;
    case 'close':
      await client.post(`${path}/close`, { close_note: note });
      return;
    case 'reopen':
      await client.post(`${path}/reopen`, { reopen_note: note });
      return;
    case 'archive':
    case 'restore':
      await client.post(`${path}/${kind}`);
      return;
    case 'add':
      await client.post(`${path}/timeline`, { ...input.eventProperties, body: input.body });
      return;
    case 'suggest':
      await recordAnything(database, id, {
        body: input.body,
        type: 'ai_suggested',
        source: 'ai',
        aiContext: LARGE,
        evidenceLinks: [{ source: 'grafana', url: 'https://grafana.example/d/1', truncated: true }],
        sourceWindowStartedAt: '2026-11-20T08:00:00.000Z',
      });
      return;
    case 'edit': {
      const event = await anEvent();
      if (event === undefined) return;
      const changes = { ...input.eventProperties, body: input.body };
      await client.patch(`/api/v1/timeline/${event.id}`, changes, revisionHeader(event.revision));
      return;
    }
    case 'delete': {
      const event = await anEvent();
      if (event !== undefined) await client.delete(`/api/v1/timeline/${event.id}`);
    }
  }
}

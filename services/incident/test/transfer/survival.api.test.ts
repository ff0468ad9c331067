import { readFile } from 'node:fs/promises';
import { expect, test } from '@jest/globals';
import { INCIDENT_TABLE } from '../../src/incidents/store/incident-row.ts';
import { changelogPage, incident as incidentSchema } from '../../src/incidents/http/wire.ts';
import { followUpPage } from '../../src/follow-ups/http/wire.ts';
import { written } from '../../src/postmortem/http/wire.ts';
import { relationPage } from '../../src/relations/http/wire.ts';
import { timelineEvent } from '../../src/timeline/http/wire.ts';
import { configure } from '../configure.ts';
import { serviceForFile } from '../service.ts';
import { aField, aTeam } from '../snapshots.ts';
import { anEvent, anItem, transferWorkspace } from './transfer.ts';

const service = await serviceForFile();
const author = { name: 'Ana', email: 'ana@acme.example' };

const KEYS = 'with which key a follow-up, a post-mortem or a relation';

/** Of each property that a move does not keep: the words of the contract that say so. */
const OTHERWISE: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  incident: {
    ...{ id: 'Numbers, IDs', company_id: 'Numbers, IDs', human_id: 'Numbers', team_id: 'Numbers, IDs' },
    ...{ revision: 'revisions are others', imported_at: '`imported_at`', archived_by: 'who archived' },
    investigation_summary: 'investigations that other systems report',
    ...{ visible_to: '`visible_to`', next_update_at: '`next_update_at`' },
  },
  column: {
    ...{ id: 'Numbers, IDs', workspace_id: 'Numbers, IDs', number: 'Numbers', team_id: 'Numbers, IDs' },
    ...{ revision: 'revisions are others', imported_at: '`imported_at`', archived_by: 'who archived' },
    ...{ run_count: 'investigations that other', latest_run: 'investigations that other' },
    ...{ short_title: 'short title of a channel', visible_to: '`visible_to`' },
    ...{ next_update_at: '`next_update_at`', update_reminder: '`next_update_at`' },
  },
  event: {
    ...{ id: 'Numbers, IDs', incident_id: 'Numbers, IDs', group_id: 'Numbers, IDs', revision: 'revisions are others' },
    ...{ imported: '`imported`', collaboration_generation: 'revisions are others', ai_context: 'AI context' },
    ...{ comment_count: 'comments', attachments: 'attachments', evidence_links: 'evidence of timeline events' },
    ...{
      source_window_started_at: 'evidence of timeline events',
      source_window_ended_at: 'evidence of timeline events',
    },
    ...{ edited_by: 'who changed an event', edited_at: 'who changed an event', edited_api_key: 'who changed an event' },
  },
  followUp: {
    ...{ id: 'Numbers, IDs', incident_id: 'Numbers, IDs', revision: 'revisions are others' },
    created_by_key: KEYS,
    ticket: 'tickets of follow-ups',
  },
  postmortem: {
    ...{ incident_id: 'Numbers, IDs', revision: 'revisions are others', created_by_key: KEYS, updated_by_key: KEYS },
  },
  change: {
    ...{ id: 'Numbers, IDs', incident_id: 'Numbers, IDs', revision: 'revisions are others', imported: '`imported`' },
  },
  relation: {
    ...{ id: 'Numbers, IDs', incident: 'Numbers, IDs' },
    created_by_key: KEYS,
  },
};
/** The names of all properties that the API shows, and of the columns of an incident. */
const ALL: Readonly<Record<string, readonly string[]>> = {
  incident: Object.keys(incidentSchema.shape),
  column: Object.values(INCIDENT_TABLE).map(({ name }) => name),
  event: Object.keys(timelineEvent.shape),
  followUp: Object.keys(followUpPage.shape.follow_ups.element.shape),
  postmortem: Object.keys(written.shape),
  change: Object.keys(changelogPage.shape.changelog.element.shape),
  relation: Object.keys(relationPage.shape.relations.element.shape),
};

const at = (minute: number) => `2024-03-02T18:${minute}:00.000Z`;
const KEY = { name: 'Alertmanager', prefix: 'tcs_1234' };
const ITEM = {
  ...{ created_by_key: KEY, first_acted_at: at(14), restricted: true },
  ...{ status_changed_at: at(40), archived_at: at(59), unhandled_alert: true, team: 'payments', service: 'checkout' },
  external: { source: 'dispatch', id: '1', url: 'https://dispatch.acme.example/1' },
  ...{ regions: ['eu'], slack_channel_id: 'C1', meet_url: 'https://meet.example/1', doc_url: 'https://doc.example/1' },
  ...{ issue_type: 'ticket', severity_mode: 'auto', impact_summary: 'No cards', customer_impact_status: 'confirmed' },
  moments: {
    ...{ impact_started_at: at(10), first_reported_at: at(11), first_responded_at: at(12), recovered_at: at(13) },
  },
  people: { manager: author, responders: [author, { name: 'Ben' }] },
  values: { cause: 'capacity' },
  timeline: [
    {
      ...anEvent('1', { started_at: at(20), ended_at: at(21), is_key: true, title: 'Began', icon: '🔥' }),
      ...{ tags: ['deploy'], group: 'Comms', source: 'pagerduty', source_ref: 'log/1', author, created_by_key: KEY },
    },
    anEvent('2', { started_at: at(22), is_ongoing: true }),
  ],
  changelog: [
    { changed_at: at(30), actor: author, api_key: KEY, changes: [{ field: 'severity', from: 'sev3', to: 'sev2' }] },
  ],
  follow_ups: [
    {
      ...{ external_id: 'f', title: 'Later', description: 'More', owner: author, due_on: '2024-04-01', status: 'done' },
      ...{ external_url: 'https://tickets.example/1', created_at: at(50), author, completed_at: at(51) },
      updated_at: at(52),
    },
  ],
  postmortem: {
    ...{ state: 'published', created_at: at(53), author, updated_at: at(57), updated_by: { name: 'Ben' } },
    sections: [{ key: 'a', title: 'Why', body: 'It **was** {{activity}}' }],
    ...{ in_review_at: at(54), in_review_by: author, published_at: at(56), published_by: author },
  },
  relations: [
    { type: 'duplicate_of', external: { source: 'dispatch', id: '2' }, created_at: at(55), author },
    { type: 'related', external: { source: 'dispatch', id: '2' }, created_at: at(56), author: { name: 'Ben' } },
  ],
};

async function startWorkspace() {
  const workspace = await transferWorkspace(service);
  await service.owners.change(workspace.id, (data) => {
    data.teams = [aTeam(workspace.id, { slug: 'payments' })];
    data.fields = [aField(workspace.id, { slug: 'cause' })];
  });
  await configure(service.knex, workspace.id, { timeline_groups: [{ id: 2, name: 'Comms' }] });
  return workspace;
}

/** All that is known of the incident, as rows of each kind. */
async function stateOf({ client, id: workspaceId }: Awaited<ReturnType<typeof startWorkspace>>) {
  const [row] = await service.knex('incidents').where({ workspace_id: workspaceId, external_id: 'dispatch:1' });
  const read = async (path = '') => (await client.get(`/api/v1/incidents/${row.id}${path}`)).body;
  type Rows = Record<string, unknown>[];
  const state: Record<string, Rows> = {
    incident: [(await read()).incident],
    column: [row],
    event: (await read('/timeline')).events,
    followUp: (await read('/follow-ups')).follow_ups,
    postmortem: [(await read('/postmortem')).document],
    // Those of imports themselves are not exported.
    change: (await read('/changelog')).changelog.filter(({ imported }: { imported: boolean }) => imported),
    relation: (await read('/relations')).relations,
  };
  return state;
}

test('every property of an incident, and of what belongs to it, survives a move, or the contract says that it does not', async () => {
  const [from, to] = [await startWorkspace(), await startWorkspace()];
  const results = await from.results(anItem('1', ITEM), anItem('2'));
  expect(results).toMatchObject([{ outcome: 'created' }, { outcome: 'created' }]);
  expect(results.some(({ notes }) => notes !== undefined)).toBe(false);
  const lines = await from.exported();
  expect((await to.results(...lines)).map(({ outcome, notes }) => [outcome, notes])).toEqual([
    ['created', undefined],
    ['created', undefined],
  ]);
  expect(await to.exported()).toEqual(lines);
  const contract = await readFile(new URL('../../../../docs/contract/transfer.md', import.meta.url), 'utf8');
  const section = contract.slice(contract.indexOf('## Export')).replaceAll(/\s+/g, ' ');
  const [before, after] = [await stateOf(from), await stateOf(to)];
  for (const [kind, names] of Object.entries(ALL)) {
    expect([kind, after[kind]?.length]).toEqual([kind, before[kind]?.length]);
    for (const name of names) {
      const words = OTHERWISE[kind]?.[name];
      const valuesOf = (rows: Record<string, unknown>[] = []) => rows.map((each) => each[name]);
      if (words !== undefined) expect([kind, name, section]).toEqual([kind, name, expect.stringContaining(words)]);
      else {
        expect([kind, name, valuesOf(after[kind])]).toEqual([kind, name, valuesOf(before[kind])]);
        // What is empty cannot be lost.
        const isEmpty = (value: unknown) => value === null || value === '' || value === false || value === undefined;
        expect([kind, name, valuesOf(before[kind]).every(isEmpty)]).toEqual([kind, name, false]);
      }
    }
  }
});

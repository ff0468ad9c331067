import { describe, expect, test } from '@jest/globals';
import { refusal } from '@tocsin/testing';
import { MAX_ENTRIES } from '../../src/postmortem/domain/activity.ts';
import { configure } from '../configure.ts';
import { serviceForFile } from '../service.ts';
import { aField, aService, aTeam, aUser } from '../snapshots.ts';
import { recordAnything } from '../timeline/timeline.ts';

const NOW = '2026-11-20T10:00:00.000Z';
const service = await serviceForFile({ clock: { now: () => NOW } });
const version = await service.owners.change(1, (data) => {
  data.users = [aUser(42, 'Ana'), aUser(43, 'Ben')];
  data.teams = [aTeam(7, { name: 'Payments' })];
  data.services = [aService(3, { slug: 'checkout', tier: 't1', owner_team_id: 7 })];
  data.fields = [
    aField(11, {
      ...{ slug: 'cause', name: 'Root cause', field_type: 'select' },
      config: { options: [{ value: 'cap', label: 'Capacity' }, 'bug'] },
    }),
    aField(12, { slug: 'loss', name: 'Lost revenue', field_type: 'monetary' }),
    aField(13, { slug: 'areas', name: 'Areas', field_type: 'multi_select', config: { options: ['eu', 'us'] } }),
    aField(14, { slug: 'unset', name: 'Unset' }),
  ];
});
const client = service.as({ workspace: { id: 1, version } });
const MARKDOWN = { Accept: 'text/markdown' };

const declare = async (more: object = {}) => {
  const { body } = await client.post('/api/v1/incidents', { title: 'Checkout is down', ...more });
  return { id: body.incident.id as number, path: `/api/v1/incidents/${body.incident.id}` };
};
const postmortemOf = async (path: string) => (await client.get(`${path}/postmortem`)).body.postmortem;

const NOTE = `Rolled **back** the [release](https://ci.example.test/7) of @team | #12
## Next
* tell [everybody](javascript:alert)
\`\`\`sh
kubectl rollout undo <name>
\`\`\``;

async function resolved() {
  const { id, path } = await declare({
    service: 'checkout',
    severity: 'sev2',
    regions: ['eu', 'us'],
    impact_summary: 'No order\nis taken',
    impact_started_at: '2026-11-20T08:00:00Z',
    first_responded_at: '2026-11-20T08:10:30Z',
    recovered_at: '2026-11-20T09:30:00Z',
    doc_url: 'https://docs.example.test/1?a=1&b=2',
    incident_manager: '42',
    incident_responders: ['43'],
    custom_field_values: [
      { field_id: 11, value: 'cap' },
      { field_id: 12, value: { amount: 12.5, currency: 'EUR' } },
      { field_id: 13, value: ['eu', 'us'] },
    ],
  });
  const event = await recordAnything(service.knex, id, {
    ...{ body: NOTE, title: 'Rollback', type: 'mitigation', isKey: true, tags: ['deploy'] },
    ...{ startedAt: '2026-11-20T09:00:00.000Z', endedAt: '2026-11-20T09:20:00.000Z' },
    evidenceLinks: [{ source: 'logs', url: 'https://logs.example.test/1', summary: 'Errors' }],
  });
  const { workspace_id } = await service.knex('incidents').where({ id }).first('workspace_id');
  const file = {
    workspace_id,
    timeline_event_id: event,
    content_type: 'image/png',
    size_bytes: 5,
    created_at: NOW,
    created_by: '42',
  };
  await service.knex('timeline_attachments').insert({ ...file, filename: 'a.png', storage_key: '1/a.png' });
  const change = { severity: 'sev1', incident_manager: '43', incident_responders: ['42', '43'] };
  await client.patch(path, change, { 'If-Service-Resource-Version': '2' });
  await client.patch(`${path}/custom-fields`, { values: [{ slug: 'cause', value: 'bug' }] });
  await client.post(`${path}/resolve`, { resolution_note: 'Works again' });
  const work = { title: 'Alert on the pool', owner: '43', due_on: '2026-12-01' };
  await client.post(`${path}/follow-ups`, { ...work, external_url: 'https://tickets.example.test/7' });
  await client.post(`${path}/follow-ups`, { title: 'Tell the others', status: 'dropped' });
  return { id, path, event };
}

test('a post-mortem has all that is known of an incident, with names and labels', async () => {
  const { id, path, event } = await resolved();
  const { status, headers, body } = await client.get(`${path}/postmortem`);
  expect([status, headers.get('Content-Type')]).toEqual([200, 'application/json; charset=utf-8']);
  const ana = { id: 42, name: 'Ana', api_key: null };
  const ben = { id: 43, name: 'Ben', api_key: null };
  expect(body.postmortem).toMatchObject({
    ...{ incident_id: id, human_id: `INC-${id}`, revision: 5, generated_at: NOW, title: 'Checkout is down' },
    summary: 'No order\nis taken',
    status: { key: 'resolved', label: 'Resolved' },
    severity: { key: 'sev1', label: 'SEV 1' },
    regions: ['eu', 'us'],
    moments: [
      { name: 'impact_started_at', at: '2026-11-20T08:00:00.000Z', seconds_since_previous: null },
      { name: 'first_responded_at', at: '2026-11-20T08:10:30.000Z', seconds_since_previous: 630 },
      { name: 'recovered_at', at: '2026-11-20T09:30:00.000Z', seconds_since_previous: 4_770 },
      { name: 'created_at', at: NOW, seconds_since_previous: 1_800 },
      { name: 'ended_at', at: NOW, seconds_since_previous: 0 },
    ],
    ...{ response_seconds: 630, recovery_seconds: 5_400 },
    people: [
      { role: 'incident_manager', person: ben },
      { role: 'responder', person: ana },
      { role: 'responder', person: ben },
      { role: 'declared_by', person: ana },
    ],
    team: { id: 7, name: 'Payments' },
    services: [{ slug: 'checkout', tier: 't1' }],
    custom_fields: [
      { slug: 'cause', name: 'Root cause', text: 'bug' },
      { slug: 'loss', name: 'Lost revenue', text: '12.5 EUR' },
      { slug: 'areas', name: 'Areas', text: 'eu, us' },
    ],
    relations: [],
    follow_ups: [
      { title: 'Alert on the pool', status: 'open', owner: ben, due_on: '2026-12-01' },
      { title: 'Tell the others', status: 'dropped', owner: null, due_on: null, external_url: '' },
    ],
    links: [
      { label: 'Document', url: 'https://docs.example.test/1?a=1&b=2', timeline_event_id: null },
      { label: 'logs', url: 'https://logs.example.test/1', summary: 'Errors', timeline_event_id: event },
    ],
    attachments: [{ timeline_event_id: event, filename: 'a.png', size_bytes: 5 }],
    left_out: null,
  });
  const { activity } = body.postmortem;
  expect(activity.map(({ type, author }: { type: string; author: object }) => [type, author])).toEqual([
    ['mitigation', ana],
    ['change', ana],
    ['change', ana],
    ['change', ana],
    ['resolution', ana],
  ]);
  expect(activity.flatMap(({ changes }: { changes: object[] }) => changes)).toEqual([
    { field: 'severity', label: 'Severity', from: 'SEV 2', to: 'SEV 1' },
    { field: 'incident_manager', label: 'Incident manager', from: 'Ana', to: 'Ben' },
    { field: 'incident_responders', label: 'Incident responders', from: 'Ben', to: 'Ana, Ben' },
    { field: 'custom_fields.cause', label: 'Root cause', from: 'Capacity', to: 'bug' },
    { field: 'status', label: 'Status', from: 'Open', to: 'Resolved' },
    { field: 'issue_type', label: 'Issue type', from: 'incident', to: 'postmortem' },
  ]);
});

test('the same parts are a Markdown document for a client that prefers it', async () => {
  const { id, path } = await resolved();
  const { status, headers, text } = await client.get(`${path}/postmortem`, MARKDOWN);
  expect([status, headers.get('Content-Type')]).toEqual([200, 'text/markdown; charset=utf-8']);
  expect(text).toBe(`# INC-${id}: Checkout is down

- Status: Resolved
- Severity: SEV 1
- Customer impact: unknown
- Regions: eu, us
- Time to response: 10 min 30 s
- Time to recovery: 1 h 30 min

## Summary

No order\\
is taken

## Moments

| Moment | Time (UTC) | After the previous |
| --- | --- | --- |
| Impact started | 2026-11-20 08:00:00 |  |
| First response | 2026-11-20 08:10:30 | 10 min 30 s |
| Recovered | 2026-11-20 09:30:00 | 1 h 19 min 30 s |
| Declared | 2026-11-20 10:00:00 | 30 min |
| Resolved or closed | 2026-11-20 10:00:00 | 0 s |

## People

| Role | Name |
| --- | --- |
| Incident manager | Ben |
| Responder | Ana |
| Responder | Ben |
| Declared by | Ana |

## Services

- checkout (t1)
- Team: Payments

## Custom fields

| Field | Value |
| --- | --- |
| Root cause | bug |
| Lost revenue | 12.5 EUR |
| Areas | eu, us |

## Activity

Times are those of UTC.

- **2026-11-20 09:00:00 to 2026-11-20 09:20:00** Ana: mitigation, key event

  Rollback

  Rolled **back** the [release](<https://ci.example.test/7>) of \\@⁠team \\| \\#⁠12

  #### Next

  - tell \\[everybody\\]\\(javascript:alert)

  \`\`\`
  kubectl rollout undo <name>
  \`\`\`

  Tags: deploy
- **2026-11-20 10:00:00** Ana: change

  - Severity: SEV 2 → SEV 1
  - Incident manager: Ana → Ben
  - Incident responders: Ben → Ana, Ben
- **2026-11-20 10:00:00** Ana: change

  - Root cause: Capacity → bug
- **2026-11-20 10:00:00** Ana: change

  - Status: Open → Resolved
  - Issue type: incident → postmortem
- **2026-11-20 10:00:00** Ana: resolution

  Works again

## Related incidents

None.

## Follow-ups

- [Alert on the pool](<https://tickets.example.test/7>) (open, Ben, due 2026-12-01)
- Tell the others (dropped)

## Evidence

- [Document](<https://docs.example.test/1?a=1&amp;b=2>)
- [logs](<https://logs.example.test/1>): Errors
- a.png (5 bytes)

Made by Tocsin at 2026-11-20 10:00:00 UTC.
`);
});

test.each([
  [undefined, 'application/json'],
  ['*/*', 'application/json'],
  ['application/json', 'application/json'],
  ['text/html,application/xhtml+xml,*/*;q=0.8', 'text/html'],
  ['text/plain', 'application/json'],
  ['text/markdown;q=0.5, application/json', 'application/json'],
  ['text/markdown, application/json;q=0.5', 'text/markdown'],
  ['text/*', 'text/markdown'],
])('Accept: %s gets %s', async (accept, type) => {
  const { path } = await declare();
  const { status, headers } = await client.get(`${path}/postmortem`, accept === undefined ? {} : { Accept: accept });
  expect([status, headers.get('Content-Type')]).toEqual([200, `${type}; charset=utf-8`]);
});

test('an incident of which nothing is known has a post-mortem, also when it is archived', async () => {
  const { path } = await declare();
  await client.post(`${path}/archive`);
  const { status, text } = await client.get(`${path}/postmortem`, MARKDOWN);
  expect(status).toBe(200);
  expect(text).toContain('## Summary\n\nNone.\n\n');
  expect(text).toContain('## Services\n\nNone.\n\n## Custom fields\n\nNone.\n\n');
  expect(text).toMatch(/- Archived at: none → 2026-11-20 10:00:00 UTC\n {2}- Archived by: none → Ana\n/);
  expect(text).toContain('## Evidence\n\nNone.\n\n');
});

test('a related incident is named on both sides, and in the changes', async () => {
  const { id, path } = await declare();
  const other = await declare({ title: 'The first *one*' });
  await client.post(`${path}/relations`, { type: 'duplicate_of', incident_id: other.id });
  const { text } = await client.get(`${path}/postmortem`, MARKDOWN);
  expect(text).toContain(`## Related incidents\n\n- Duplicate of INC-${other.id}: The first \\*one\\* (Open)\n`);
  expect(text).toContain(`- Duplicate of: none → INC-${other.id}\n`);
  expect((await postmortemOf(other.path)).relations).toMatchObject([{ type: 'duplicated_by', incident_id: id }]);
});

test('the document follows the template of the workspace, until that is empty', async () => {
  const { path } = await declare({ title: '{{summary}} *now*', impact_summary: '$& {{title}}' });
  const markdown = async () => (await client.get(`${path}/postmortem`, MARKDOWN)).text;
  await configure(service.knex, 1, {
    postmortem_template: '{{title}} {{title}} {{status}}\n<b>ours</b>\n\n{{summary}}',
  });
  expect(await markdown()).toBe('{{summary}} \\*now\\* {{summary}} \\*now\\* Open\n<b>ours</b>\n\n\\$&amp; {{title}}');
  await configure(service.knex, 1, { postmortem_template: '' });
  expect(await markdown()).toMatch(/^# INC-\d+: \{\{summary\}\} /);
});

describe('a post-mortem is refused', () => {
  test('for an incident of another workspace, and one that does not exist', async () => {
    const { path } = await declare();
    const other = service.as({ workspace: { id: 2 } });
    expect(await other.get(`${path}/postmortem`, MARKDOWN)).toMatchObject(refusal(404, 'not_found'));
    expect(await client.get('/api/v1/incidents/999999/postmortem')).toMatchObject(refusal(404, 'not_found'));
  });

  test('without the scope', async () => {
    const { path } = await declare();
    const reader = service.as({ scopes: ['custom_fields:read', 'incidents:write'] });
    expect(await reader.get(`${path}/postmortem`)).toMatchObject(refusal(403, 'missing_scope'));
  });
});

describe('a long history', () => {
  /** Inserts events of one body, a second after another; their titles count them. */
  const insertEvents = async (id: number, { count, body }: { count: number; body: string }) => {
    const first = await recordAnything(service.knex, id, { body, title: '0', startedAt: '2026-11-20T00:00:00.000Z' });
    const columns = Object.keys((await service.knex('timeline_events').where({ id: first }).first()) ?? {})
      .filter((name) => !['id', 'started_at', 'title'].includes(name))
      .join(', ');
    await service.knex.raw(
      `insert into timeline_events (started_at, title, ${columns})
      select started_at + n * interval '1 second', n::text, ${columns} from timeline_events, generate_series(1, ?) as n
      where id = ?`,
      [count - 1, first],
    );
    await service.knex('incidents').where({ id }).update({ event_count: count });
  };

  test('is shown by its beginning and its end, and the document says what is left out', async () => {
    const { id, path } = await declare();
    await client.patch(path, { title: 'Changed' }, { 'If-Service-Resource-Version': '1' });
    await insertEvents(id, { count: 1_700, body: 'x' });
    const { activity, left_out } = await postmortemOf(path);
    expect(activity).toHaveLength(MAX_ENTRIES);
    expect(left_out).toEqual({ after: 500, timeline_events: 701, changes: 0, attachments: 0 });
    const titles = activity.map(({ title }: { title: string }) => title);
    expect([titles[0], titles[499], titles[500], titles[998], titles[999]]).toEqual(['0', '499', '1201', '1699', '']);
    const { text } = await client.get(`${path}/postmortem`, MARKDOWN);
    expect(text).toMatch(/\n {2}499\n\n {2}x\n- … 701 entries are left out here\n- .*\n\n {2}1201\n\n {2}x\n/);
    expect(text).toContain('Left out: 701 timeline events, 0 changes and 0 files. A post-mortem has at most');
  });

  test('with large texts ends at its bytes', async () => {
    const { id, path } = await declare();
    await insertEvents(id, { count: 40, body: 'Ü'.repeat(60_000) });
    const { status, text } = await client.get(`${path}/postmortem`);
    expect(status).toBe(200);
    expect(Buffer.byteLength(text)).toBeLessThan(1_200_000);
    const { postmortem } = JSON.parse(text);
    expect(postmortem.activity.map(({ title }: { title: string }) => title)).toEqual([
      ...['0', '1', '2', '3', '36', '37', '38', '39'],
    ]);
    expect(postmortem.left_out).toMatchObject({ after: 4, timeline_events: 32 });
  });
});

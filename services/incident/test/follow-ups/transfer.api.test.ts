import { expect, test } from '@jest/globals';
import { eventually } from '@tocsin/testing';
import { RecordingBroker } from '../fakes/recording-broker.ts';
import { serviceForFile } from '../service.ts';
import { anItem, transferWorkspace } from '../transfer/transfer.ts';

const broker = new RecordingBroker();
const service = await serviceForFile({ broker });

const ana = { name: 'Ana', email: 'ana@acme.example' };
const aFollowUp = (external_id: string, more: object = {}) => ({
  ...{ external_id, title: `Follow-up ${external_id}`, created_at: '2024-03-03T09:00:00.000Z', author: ana },
  ...more,
});
const followUpsOf = async ({ client }: Awaited<ReturnType<typeof transferWorkspace>>, id: number) =>
  (await client.get(`/api/v1/incidents/${id}/follow-ups`)).body.follow_ups;
const withoutTimes = (lines: readonly Record<string, unknown>[]) =>
  lines.map(({ external: _, changelog: _entries, ...line }) => line);

test('an import brings follow-ups with their times and people, once', async () => {
  const workspace = await transferWorkspace(service);
  const { results } = workspace;
  const whole = {
    ...{ description: 'Twice a year', due_on: '2024-04-01', status: 'done', external_url: 'https://tickets.example/1' },
    ...{ owner: { name: 'Di', email: 'di@old.example' }, completed_at: '2024-03-20T12:00:00+01:00' },
  };
  const item = anItem('214', { follow_ups: [aFollowUp('1', whole), aFollowUp('2', { owner: ana })] });
  const [{ incident_id: id }] = await results(item);
  expect(await followUpsOf(workspace, id)).toEqual([
    {
      ...{ ...whole, id: expect.any(Number), revision: 1, incident_id: id, title: 'Follow-up 1' },
      ...{ owner: 'Di <di@old.example>', completed_at: '2024-03-20T11:00:00.000Z', created_by: '42' },
      created_by_key: null,
      ...{ created_at: '2024-03-03T09:00:00.000Z', updated_at: expect.any(String), ticket: null },
    },
    expect.objectContaining({ title: 'Follow-up 2', owner: '42', status: 'open', due_on: null, completed_at: null }),
  ]);
  expect(await results(item)).toMatchObject([{ outcome: 'unchanged', revision: 1 }]);

  const changed = anItem('214', { follow_ups: [aFollowUp('2', { status: 'done', owner: null }), aFollowUp('3')] });
  expect(await results(changed)).toMatchObject([{ outcome: 'updated', revision: 2 }]);
  expect(await results(changed)).toMatchObject([{ outcome: 'unchanged', revision: 2 }]);
  expect(await followUpsOf(workspace, id)).toMatchObject([
    { title: 'Follow-up 1', revision: 1 },
    { title: 'Follow-up 2', revision: 2, status: 'done', owner: '', completed_at: expect.any(String) },
    { title: 'Follow-up 3', revision: 1 },
  ]);
  const of = () => broker.published.filter(({ workspace: { id: by } }) => by === workspace.id);
  await eventually(() => of().filter(({ type }) => type === 'incident.imported').length === 2);
  expect(of().filter(({ type }) => type.startsWith('follow_up.'))).toEqual([]);
});

test('an export has the follow-ups of clients and imports, and gives the same lines elsewhere', async () => {
  const source = await transferWorkspace(service);
  const [{ incident_id: id }] = await source.results(
    anItem('1', { follow_ups: [aFollowUp('a', { owner: { name: 'Di' }, status: 'done' }), aFollowUp('b')] }),
  );
  const { incident } = (await source.client.post('/api/v1/incidents', { title: 'Own' })).body;
  const path = `/api/v1/incidents/${incident.id}/follow-ups`;
  const { follow_up: own } = (await source.client.post(path, { title: 'Written here', owner: '42' })).body;
  const lines = await source.exported();
  expect(lines.map((line) => line['follow_ups'])).toMatchObject([
    [
      { external_id: 'a', owner: { name: 'Di' }, completed_at: expect.any(String) },
      { external_id: 'b', owner: null },
    ],
    [{ external_id: `tocsin:${own.id}`, title: 'Written here', author: { name: 'Ana' }, owner: { name: 'Ana' } }],
  ]);
  const target = await transferWorkspace(service);
  expect(await target.results(...lines)).toMatchObject([{ outcome: 'created' }, { outcome: 'created' }]);
  expect(withoutTimes(await target.exported())).toEqual(withoutTimes(lines));
  expect(await target.results(...lines)).toMatchObject([{ outcome: 'unchanged' }, { outcome: 'unchanged' }]);
  // In their own workspace they change nothing, and another state of one that was written there adds it.
  expect(await source.results(lines[0])).toMatchObject([{ outcome: 'unchanged' }]);
  const { follow_up: written } = (
    await source.client.post(`/api/v1/incidents/${id}/follow-ups`, { title: 'Written here, too' })
  ).body;
  const [line] = await source.exported();
  expect(await source.results(line)).toMatchObject([{ outcome: 'unchanged' }]);
  const other = (line?.['follow_ups'] as { external_id: string }[]).map((each) =>
    each.external_id === `tocsin:${written.id}` ? { ...each, title: 'Another' } : each,
  );
  for (const outcome of ['updated', 'unchanged'])
    expect(await source.results({ ...line, follow_ups: other })).toMatchObject([{ outcome }]);
  expect((await followUpsOf(source, id)).map(({ title }: { title: string }) => title).toSorted()).toEqual([
    'Another',
    'Follow-up a',
    'Follow-up b',
    'Written here, too',
  ]);
});

test('an import refuses what no follow-up may have, and the 501st', async () => {
  const { results } = await transferWorkspace(service);
  const refused = async (follow_ups: object[], field: string | undefined) =>
    expect((await results(anItem('1', { follow_ups })))[0]).toMatchObject({
      outcome: 'refused',
      ...(field && { field }),
    });
  await refused([aFollowUp('1'), aFollowUp('1 ')], 'follow_ups.1.external_id');
  await refused([aFollowUp('1', { created_at: '2999-01-01T00:00:00Z' })], 'follow_ups.0.created_at');
  await refused([aFollowUp('1', { completed_at: '2024-04-01T00:00:00Z' })], 'follow_ups.0.completed_at');
  await refused([aFollowUp('1', { due_on: '2024-02-30' })], 'follow_ups.0.due_on');
  await refused([aFollowUp('1', { owner: '42' })], 'follow_ups.0.owner');
  const many = Array.from({ length: 500 }, (_, index) => aFollowUp(String(index)));
  expect(await results(anItem('1', { follow_ups: many }))).toMatchObject([{ outcome: 'created' }]);
  await refused([aFollowUp('another')], undefined);
});

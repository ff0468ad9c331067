import { expect, test } from '@jest/globals';
import { refusal } from '@tocsin/testing';
import { aPng, plain, upload } from '../pictures/pictures.ts';
import { serviceForFile } from '../service.ts';
import { anEvent, anItem, transferWorkspace } from './transfer.ts';

const PICTURES = '/api/v1/imports/pictures';
const service = await serviceForFile();
const png = await aPng();

type Workspace = Awaited<ReturnType<typeof transferWorkspace>>;
type Line = Record<string, unknown>;

const importPicture = async ({ client }: Workspace, names: Record<string, string>, bytes: Uint8Array) =>
  client.post(`${PICTURES}?${new URLSearchParams(names).toString()}`, bytes, { 'Content-Type': 'image/png' });

/** Imports the line of a picture as a person or a script would. */
const importLine = async (workspace: Workspace, { external, event, filename, data }: Line) =>
  importPicture(
    workspace,
    { ...(external as { source: string; id: string }), event: String(event), filename: String(filename) },
    Buffer.from(String(data), 'base64'),
  );

const picturesOf = async ({ lines }: Workspace) => (await lines()).filter(({ kind }) => kind === 'picture');

test('pictures come with an export, and an import brings them once', async () => {
  const [source, target] = [await transferWorkspace(service), await transferWorkspace(service)];
  const { client } = source;
  const { id } = (await client.post('/api/v1/incidents', { title: 'With graphs' })).body.incident;
  const photo = await plain().jpeg().toBuffer();
  const ids: number[] = [];
  for (const [name, bytes] of [
    ['graph.png', png],
    ['لوحة.jpg', photo],
  ] as const) {
    const query = `?filename=${encodeURIComponent(name)}`;
    ids.push((await upload(client, id, bytes, { query })).body.picture.id);
  }
  await upload(client, id, png);
  await client.post(`/api/v1/incidents/${id}/timeline`, { body: 'See the graphs', attachments: ids });
  await client.post(`/api/v1/incidents/${id}/archive`);

  const exported = await picturesOf(source);
  expect(exported).toMatchObject([
    { filename: 'graph.png', content_type: 'image/png', event: expect.stringMatching(/^tocsin:/) },
    { filename: 'لوحة.jpg', content_type: 'image/jpeg' },
  ]);
  await target.results(...(await source.exported()));
  for (const outcome of ['created', 'unchanged'])
    for (const line of exported)
      expect(await importLine(target, line)).toMatchObject({ status: 200, body: { outcome } });

  const [incident] = (await target.client.get('/api/v1/incidents/archived')).body.incidents;
  const [event] = (await target.client.get(`/api/v1/incidents/${incident.id}/timeline`)).body.events;
  expect(event.attachments).toMatchObject([{ filename: 'graph.png' }, { filename: 'لوحة.jpg' }]);
  const { bytes } = await target.client.get(event.attachments[0].url);
  expect(bytes.equals((await client.get(`/api/v1/pictures/${ids[0]}`)).bytes)).toBe(true);
  // What was encoded again is the same picture as what it was made of, also on its way back.
  for (const line of await picturesOf(target)) expect((await importLine(target, line)).body.outcome).toBe('unchanged');
  expect((await target.client.get(`/api/v1/incidents/${incident.id}`)).body.incident.revision).toBe(3);
});

test('a picture of an import is refused without its incident or its event, and for whom they do not exist', async () => {
  const workspace = await transferWorkspace(service);
  await workspace.results(anItem('1', { timeline: [anEvent('a')] }));
  const names = { source: 'dispatch', id: '1', event: 'a', filename: 'a.png' };
  for (const [name, value] of [
    ['id', '2'],
    ['event', 'b'],
  ] as const)
    expect(await importPicture(workspace, { ...names, [name]: value }, png)).toMatchObject(
      refusal(400, 'invalid_request', { field: name }),
    );
  expect(await importPicture(await transferWorkspace(service), names, png)).toMatchObject(
    refusal(400, 'invalid_request', { field: 'id' }),
  );
  expect(await importPicture(workspace, names, Buffer.from('<svg/>'))).toMatchObject(
    refusal(400, 'invalid_request', { field: 'body' }),
  );
  expect((await importPicture(workspace, names, png)).body.outcome).toBe('created');
  const [event] = (await workspace.client.get('/api/v1/timeline/' + String(await firstEvent(workspace)))).body.event
    .attachments;
  expect(event).toMatchObject({ filename: 'a.png' });
});

const firstEvent = async ({ client }: Workspace): Promise<number> => {
  const [incident] = (await client.get('/api/v1/incidents')).body.incidents;
  return (await client.get(`/api/v1/incidents/${incident.id}/timeline`)).body.events[0].id;
};

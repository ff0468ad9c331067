import { describe, expect, test } from '@jest/globals';
import { RecordingBroker } from '../fakes/recording-broker.ts';
import { eventually } from '@tocsin/testing';
import { serviceForFile } from '../service.ts';
import { aUser } from '../snapshots.ts';
import { configure } from '../configure.ts';

const NOW = '2026-11-20T10:00:00.000Z';
const broker = new RecordingBroker();
const service = await serviceForFile({ broker, clock: { now: () => NOW } });
const version = await service.owners.change(1, (data) => void (data.users = [aUser(42, 'Ana'), aUser(43, 'Ben')]));
const as = (userId: number, more: object = {}) =>
  service.as({ user_id: userId, workspace: { id: 1, version }, ...more });
const client = as(42);
const MARKDOWN = { Accept: 'text/markdown' };
const HTML = { Accept: 'text/html,application/xhtml+xml,*/*;q=0.8' };

const at = (revision: number) => ({ 'If-Service-Resource-Version': String(revision) });
const refused = (status: number, code: string, field?: string) =>
  expect.objectContaining({ status, body: expect.objectContaining(field === undefined ? { code } : { code, field }) });
const declare = async (more: object = {}) => {
  const { incident } = (await client.post('/api/v1/incidents', { title: 'Checkout is down', ...more })).body;
  const path = `/api/v1/incidents/${incident.id}`;
  return { id: incident.id as number, path, postmortem: `${path}/postmortem` };
};
const begun = async (body: object = {}, more: object = {}) => {
  const incident = await declare(more);
  const { status, body: reply } = await client.post(incident.postmortem, body);
  expect([status, reply.message]).toEqual([201, undefined]);
  return { ...incident, document: reply.document };
};
const section = (key: string, title = key, body = key) => ({ key, title, body });
const change = async (of: { postmortem: string }, revision: number, body: object, by = client) =>
  by.patch(of.postmortem, body, at(revision));
const markdownOf = async (of: { postmortem: string }): Promise<string> =>
  (await client.get(of.postmortem, MARKDOWN)).text;

describe('a written post-mortem', () => {
  test('begins as the computed one', async () => {
    const incident = await declare();
    const { body: before } = await client.get(incident.postmortem);
    expect(before.document).toBeNull();
    const computed = await markdownOf(incident);
    const { status, headers, body } = await client.post(incident.postmortem);
    expect([status, headers.get('Service-Resource-Version')]).toEqual([201, '1']);
    expect(body.document).toMatchObject({
      ...{ incident_id: incident.id, revision: 1, state: 'draft', created_at: NOW, created_by: '42' },
      ...{ updated_at: NOW, updated_by: '42', in_review_at: null, published_at: null },
    });
    expect(body.document.sections.slice(0, 2)).toEqual([
      { key: 's1', title: '', body: '# {{reference}}: {{title}}\n\n{{overview}}' },
      { key: 's2', title: 'Summary', body: '{{summary}}' },
    ]);
    // The beginning itself is the one change since.
    expect((await markdownOf(incident)).replace(/\n- \*\*.*Postmortem state: none → draft$/ms, '')).toBe(
      computed.replace(/None\.\n\n## Related/, 'None.\n\n## Related'),
    );
    expect((await client.get(incident.postmortem)).body.document).toEqual(body.document);
    expect(await client.post(incident.postmortem)).toEqual(refused(409, 'invalid_resource_state'));
  });
});

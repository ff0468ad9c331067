import { expect, test } from '@jest/globals';
import { serviceForFile } from '../service.ts';
import { anItem, transferWorkspace } from './transfer.ts';

const service = await serviceForFile();
const author = { name: 'Ana' };
const at = (minute: number) => `2024-03-02T18:${minute}:00.000Z`;
const postmortem = {
  ...{ state: 'draft', sections: [{ key: 'a', title: 'Why', body: 'one' }] },
  ...{ created_at: at(10), author, updated_at: at(11), updated_by: { name: 'Ben' } },
};

test('a post-mortem is changed by a later import, and keeps what it was; a repetition changes nothing', async () => {
  const { client, results } = await transferWorkspace(service);
  expect(await results(anItem('1', { postmortem }))).toMatchObject([{ outcome: 'created' }]);
  expect(await results(anItem('1', { postmortem }))).toMatchObject([{ outcome: 'unchanged' }]);
  expect(await results(anItem('1'))).toMatchObject([{ outcome: 'unchanged' }]);
  const published = { ...postmortem, state: 'published', updated_at: at(12) };
  const [result] = await results(anItem('1', { postmortem: published }));
  expect(result).toMatchObject({ outcome: 'updated', revision: 2 });
  const path = `/api/v1/incidents/${result?.incident_id}`;
  expect((await client.get(`${path}/postmortem`)).body.document).toMatchObject({
    ...{ revision: 2, state: 'published', published_at: at(12), published_by: 'Ben', created_by: 'Ana' },
  });
  expect((await client.get(path)).body.incident.postmortem_state).toBe('published');
  const { former } = (await client.get(`${path}/postmortem/revisions/1`)).body;
  expect(former).toMatchObject({ state: 'draft', sections: postmortem.sections, updated_at: at(11) });
  const { changelog } = (await client.get(`${path}/changelog`)).body;
  expect(changelog[0].changes).toEqual([{ field: 'postmortem_state', from: 'draft', to: 'published' }]);
});

test.each([
  [{ published_at: at(12) }, 'postmortem.published_at'],
  [{ in_review_by: author }, 'postmortem.in_review_at'],
  [{ updated_at: '2999-01-01T00:00:00Z' }, 'postmortem.updated_at'],
  [{ sections: [postmortem.sections[0], postmortem.sections[0]] }, 'postmortem.sections'],
  [{ state: 'other' }, 'postmortem.state'],
])('an item with %j is refused', async (more, field) => {
  const { results } = await transferWorkspace(service);
  const item = anItem('1', { postmortem: { ...postmortem, ...more } });
  expect(await results(item)).toMatchObject([{ outcome: 'refused', field }]);
});

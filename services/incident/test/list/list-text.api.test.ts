import { expect, test } from '@jest/globals';
import type { Client } from '@tocsin/testing';
import { freshWorkspace } from '../fields.ts';
import { serviceForFile } from '../service.ts';

const LIST = '/api/v1/incidents';

const service = await serviceForFile();

let workspaces = 9_000;
const newWorkspace = () => service.as({ workspace: { id: (workspaces += 1) } });

/** The human IDs of the incidents that `q` finds, the oldest first. */
async function found(client: Client, q: string, more = ''): Promise<string[]> {
  const { status, body } = await client.get(`${LIST}?q=${encodeURIComponent(q)}&direction=asc${more}`);
  expect(status).toBe(200);
  return body.incidents.map(({ human_id }: { human_id: string }) => human_id);
}

/** The same text in other code points: composed and decomposed, as a ligature, in full width. */
const FORMS = [
  ['caf\u00e9', 'CAFE\u0301'],
  ['of\uFB01ce', 'OFFICE'],
  ['\uFF33\uFF30\uFF21\uFF2D', 'spam'],
  ['\u1E9E', 'ss'],
  ['\u{1D400}', 'a'],
  ['\uAC01', '\u1100\u1161\u11A8'],
] as const;
const PAIRS = FORMS.flatMap(([one, other]) => [[one, other] as const, [other, one] as const]);

test.each(PAIRS)('%s is found by %s wherever text is searched', async (written, searched) => {
  const workspace = freshWorkspace(service);
  const { client } = workspace;
  const field = await workspace.define({ slug: 'note' });
  const path = await workspace.declare({ note: `a ${written} b` });
  const at = { 'If-Service-Resource-Version': '1' };
  await client.patch(path, { title: `x ${written} y`, regions: ['eu', written], service: 'z' }, at);
  const event = { body: 'x', title: `the ${written}`, tags: [written], type: written };
  await client.post(`${path}/timeline`, event);
  const ask = encodeURIComponent(searched);
  const filter = (operator: string, value: string) =>
    `custom_filter=${encodeURIComponent(JSON.stringify({ slug: field.slug, operator, value }))}`;
  for (const query of [
    `q=${ask}`,
    `region=${ask}`,
    filter('contains', searched),
    filter('is', `A ${searched} B`),
    filter('starts_with', `a ${searched}`),
  ]) {
    const { body } = await client.get(`${LIST}?${query}`);
    expect({ query, found: body.incidents?.length }).toEqual({ query, found: 1 });
  }
  for (const query of [`q=${ask}`, `tag=${ask}`, `type_or_source=${ask}`]) {
    const { body } = await client.get(`${path}/timeline?${query}`);
    expect({ query, found: body.events?.length }).toEqual({ query, found: 1 });
  }
});

test('q finds what an earlier release wrote, which has no folded copies', async () => {
  const client = newWorkspace();
  const { incident } = (await client.post(LIST, { title: 'Checkout is down', impact_summary: 'All' })).body;
  const { knex: database } = service;
  await database('incidents').where({ id: incident.id }).update({ title_folded: null, impact_summary_folded: null });
  expect([await found(client, 'CHECKOUT'), await found(client, 'all')]).toEqual([['INC-1'], ['INC-1']]);
});

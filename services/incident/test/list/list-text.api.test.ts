import { expect, test } from '@jest/globals';
import { fold } from '@tocsin/contracts';
import { type Client, eventually } from '@tocsin/testing';
import { configure } from '../configure.ts';
import { freshWorkspace } from '../fields.ts';
import { serviceForFile } from '../service.ts';

const LIST = '/api/v1/incidents';

const service = await serviceForFile({ firstRunWithin: 1, taskInterval: 50 });

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

/** As an earlier release folded. */
const foldedBefore = (text: string) => text.toUpperCase().toLowerCase().replaceAll('ς', 'σ');

test.each(PAIRS)(
  'what an earlier release has stored of %s is folded again and found by %s',
  async (written, searched) => {
    const workspace = freshWorkspace(service);
    const { id, client } = workspace;
    const { knex: database } = service;
    await configure(database, id, { timeline_groups: [{ id: 1, name: written }] });
    const field = await workspace.define({ slug: 'note' });
    const choice = await workspace.define({ slug: 'choice', field_type: 'select', config: { options: [written] } });
    const path = await workspace.declare({ note: written, choice: written });
    const at = { 'If-Service-Resource-Version': '1' };
    await client.patch(
      path,
      { title: written, regions: ['eu', written], service: written, impact_summary: written },
      at,
    );
    await client.post(`${path}/timeline`, { body: written, tags: [written], type: written, group_id: 1 });
    const before = (await client.get(path)).body;
    const old = foldedBefore(written);
    const own = { workspace_id: id };
    await database('incidents')
      .where(own)
      .update({
        ...{
          title_folded: old,
          impact_summary_folded: null,
          service_folded: old,
          region_keys: [`${id} eu`, `${id} ${old}`],
        },
      });
    await database('incident_values')
      .where({ ...own, field_id: field.id })
      .update({ text_folded: old, text_grams: [] });
    await database('incident_values')
      .where({ ...own, field_id: choice.id })
      .update({ text_folded: old });
    await database('timeline_events')
      .where(own)
      .update({
        ...{ type_folded: old, tags_folded: [old], texts_folded: ['', old, '', old] },
      });
    await database('timeline_groups').where(own).update({ name_folded: old });

    const ask = encodeURIComponent(searched);
    const filter = (slug: string, operator: string) =>
      `custom_filter=${encodeURIComponent(JSON.stringify({ slug, operator, value: searched }))}`;
    const queries = [
      ...[`q=${ask}`, `region=${ask}`, `service=${encodeURIComponent(written)}`, filter('note', 'contains')].map(
        (query) => `${LIST}?${query}`,
      ),
      ...[`q=${ask}`, `tag=${ask}`, `type_or_source=${ask}`].map((query) => `${path}/timeline?${query}`),
    ];
    for (const query of queries) {
      await eventually(
        async () => {
          const { body } = await client.get(query);
          return (body.incidents ?? body.events).length === 1;
        },
        { what: query },
      );
    }
    const [group, { text_folded }] = [
      await eventually(async () =>
        database('timeline_groups')
          .where({ ...own, name_folded: fold(written) })
          .first('id'),
      ),
      await database('incident_values')
        .where({ ...own, field_id: choice.id })
        .first('text_folded'),
    ];
    expect([group, text_folded]).toEqual([{ id: 1 }, fold(written)]);
    // It is no change of the incident.
    const { incident } = (await client.get(path)).body;
    expect(incident).toEqual({ ...before.incident, duration_seconds: incident.duration_seconds });
  },
);

test('q finds what an earlier release wrote, which has no folded copies', async () => {
  const client = newWorkspace();
  const { incident } = (await client.post(LIST, { title: 'Checkout is down', impact_summary: 'All' })).body;
  const { knex: database } = service;
  await database('incidents').where({ id: incident.id }).update({ title_folded: null, impact_summary_folded: null });
  expect([await found(client, 'CHECKOUT'), await found(client, 'all')]).toEqual([['INC-1'], ['INC-1']]);
});

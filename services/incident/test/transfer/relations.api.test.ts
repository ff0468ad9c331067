import { expect, test } from '@jest/globals';
import fc from '@tocsin/testing/fuzz';
import { serviceForFile } from '../service.ts';
import { anItem, transferWorkspace } from './transfer.ts';

const service = await serviceForFile();
type Workspace = Awaited<ReturnType<typeof transferWorkspace>>;
type Line = Record<string, unknown> & { external: { id: string }; relations: object[] };

const COUNT = 6;
const author = { name: 'Ben' };
const related = (type: string, id: number | string) => ({
  ...{ type, external: { source: 'dispatch', id: String(id) }, created_at: '2024-03-02T19:00:00.000Z', author },
});

/** What both incidents see, without what depends on the order of their numbers. */
const sorted = (lines: readonly Record<string, unknown>[]) =>
  (lines as Line[])
    .map((line) => ({ ...line, relations: line.relations.map((each) => JSON.stringify(each)).toSorted() }))
    .toSorted((one, other) => one.external.id.localeCompare(other.external.id));
const rowsOf = async ({ id }: Workspace) =>
  Number(
    (
      await service
        .knex('incident_relations')
        .whereIn('incident_id', service.knex('incidents').where({ workspace_id: id }).select('id'))
        .count()
    )[0]?.['count'],
  );

test('relations come with either of their incidents, in any turns, and never twice', async () => {
  const relation = fc.record({
    // Of later numbers to earlier ones, so that duplicates form no circle.
    pair: fc.uniqueArray(fc.nat({ max: COUNT - 1 }), { minLength: 2, maxLength: 2 }).map((pair) => pair.toSorted()),
    type: fc.constantFrom('duplicate_of', 'caused_by', 'related'),
  });
  await fc.assert(
    fc.asyncProperty(
      fc.array(relation, { maxLength: 10 }),
      fc.shuffledSubarray(
        Array.from({ length: COUNT }, (_, index) => index),
        { minLength: COUNT },
      ),
      fc.integer({ min: 1, max: COUNT }),
      async (relations, order, turn) => {
        const [from, to] = [await transferWorkspace(service), await transferWorkspace(service)];
        const made = await from.results(...Array.from({ length: COUNT }, (_, index) => anItem(String(index))));
        for (const { pair, type } of relations) {
          const [other, own] = pair.map((index) => made[index].incident_id);
          const path = `/api/v1/incidents/${own}/relations`;
          expect([200, 201]).toContain((await from.client.post(path, { type, incident_id: other })).status);
        }
        const lines = await from.exported();
        const inTurns = async () => {
          const outcomes: string[] = [];
          for (let start = 0; start < COUNT; start += turn) {
            const results = await to.results(...order.slice(start, start + turn).map((index) => lines[index]));
            outcomes.push(...results.map(({ outcome }) => outcome));
          }
          return new Set(outcomes);
        };
        expect(await inTurns()).toEqual(new Set(['created']));
        expect(sorted(await to.exported())).toEqual(sorted(lines));
        expect(await rowsOf(to)).toBe(await rowsOf(from));
        // Not even a revision differs.
        const versions = async () =>
          service.knex('incidents').where({ workspace_id: to.id }).orderBy('id').select('revision', 'is_duplicate');
        const before = await versions();
        expect(await inTurns()).toEqual(new Set(['unchanged']));
        expect(await versions()).toEqual(before);
        expect(await rowsOf(to)).toBe(await rowsOf(from));
        expect(await from.results(...lines)).toMatchObject(lines.map(() => ({ outcome: 'unchanged' })));
      },
    ),
    { numRuns: 12 },
  );
});

test('a relation changes both incidents, and only those that imports made; others are left out with a note', async () => {
  const { client, results } = await transferWorkspace(service);
  const own = (await client.post('/api/v1/incidents', { title: 'Ours', external_id: 'dispatch:9' })).body.incident;
  const [first] = await results(anItem('1', { relations: [related('caused_by', 2), related('related', 9)] }));
  expect(first).toMatchObject({
    ...{ outcome: 'created', revision: 1 },
    notes: [
      { field: 'relations.0', message: 'There is no such incident' },
      { field: 'relations.1', message: 'No import made both incidents' },
    ],
  });
  const [second] = await results(
    anItem('2', { archived_at: '2024-04-01T00:00:00Z', relations: [related('causes', 1)] }),
  );
  expect(second).toMatchObject({ outcome: 'created', revision: 2 });
  expect(second).not.toHaveProperty('notes');
  const of = async (id: number, what: string) => (await client.get(`/api/v1/incidents/${id}/${what}`)).body[what];
  for (const [id, type, to] of [
    [first.incident_id, 'caused_by', second.human_id],
    [second.incident_id, 'causes', first.human_id],
  ]) {
    expect(await of(id, 'relations')).toMatchObject([{ type, incident: { human_id: to }, created_by: 'Ben' }]);
    expect((await of(id, 'changelog'))[0]).toMatchObject({
      ...{ revision: 2, actor: '42', imported: false, changes: [{ field: `relations.${type}`, from: null, to }] },
    });
  }
  expect((await client.get(`/api/v1/incidents/${own.id}`)).body.incident.revision).toBe(1);

  // Somebody has deleted it since: what an item has replaces what somebody has changed.
  const [{ id }] = await of(first.incident_id, 'relations');
  await client.post(`/api/v1/incidents/${second.incident_id}/restore`, {});
  expect((await client.send('DELETE', `/api/v1/incidents/${first.incident_id}/relations/${id}`)).status).toBe(204);
  const both = [anItem('1'), anItem('2', { relations: [related('causes', 1)] })];
  expect(await results(...both)).toMatchObject([{ outcome: 'unchanged' }, { outcome: 'updated' }]);
  expect(await results(...both)).toMatchObject([{ outcome: 'unchanged' }, { outcome: 'unchanged' }]);
});

test('a circle of duplicates and too many relations of a type are left out with a note; the rest is refused by its property', async () => {
  const { results } = await transferWorkspace(service);
  const circle = await results(
    anItem('1', { relations: [related('duplicate_of', 2)] }),
    anItem('2', { relations: [related('duplicate_of', 3)] }),
    anItem('3', { relations: [related('duplicate_of', 1), related('duplicated_by', 2)] }),
  );
  expect(circle.map(({ outcome, notes }) => [outcome, notes])).toEqual([
    ['created', undefined],
    ['created', undefined],
    ['created', [{ field: 'relations.0', message: expect.stringContaining('Must not be a duplicate') }]],
  ]);
  const many = Array.from({ length: 101 }, (_, index) => `m${index}`);
  for (let start = 0; start < 101; start += 50) await results(...many.slice(start, start + 50).map((id) => anItem(id)));
  const [full] = await results(anItem('4', { relations: many.map((id) => related('related', id)) }));
  expect(full.notes).toEqual([{ field: 'relations.100', message: expect.stringContaining('100 of related') }]);
  for (const [relation, field] of [
    [related('related', 5), 'relations.0.external'],
    [{ ...related('related', 1), created_at: '2999-01-01T00:00:00Z' }, 'relations.0.created_at'],
    [{ ...related('blocks', 1) }, 'relations.0.type'],
  ] as const)
    expect(await results(anItem('5', { relations: [relation] }))).toMatchObject([{ outcome: 'refused', field }]);
  const followUp = { external_id: 'f', title: 'x', created_at: '2024-03-02T19:00:00Z', author };
  const late = anItem('5', { follow_ups: [{ ...followUp, updated_at: '2999-01-01T00:00:00Z' }] });
  expect(await results(late)).toMatchObject([{ outcome: 'refused', field: 'follow_ups.0.updated_at' }]);
});

test('a request with more than 500 relations is refused as a whole', async () => {
  const { send } = await transferWorkspace(service);
  const items = ['1', '2'].map((id) =>
    anItem(id, { relations: Array.from({ length: 251 }, (_, index) => related('related', `x${index}`)) }),
  );
  expect(await send(...items)).toMatchObject({ status: 400, body: { field: 'incidents' } });
});

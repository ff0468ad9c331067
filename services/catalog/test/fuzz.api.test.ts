import { describe, expect, test } from '@jest/globals';
import type { Answer } from '@tocsin/testing';
import fc from '@tocsin/testing/fuzz';
import { at, create, newWorkspace, serviceForFile } from './service.ts';

const service = await serviceForFile();

const oddText = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 40 }),
  fc.string({ unit: 'grapheme', maxLength: 140 }),
  fc.constantFrom(
    '\0',
    '\uD800',
    'x\uDFFF',
    '\uFDFA'.repeat(128),
    '\u0130',
    'ß',
    '%',
    '_',
    "'",
    '\\',
    '\u202E',
    '__proto__',
  ),
);
const oddValue = fc.oneof(
  oddText,
  fc.constantFrom(null, true, 0, -1, 1.5, 2 ** 53, -(2 ** 63), 1e308, {}, [], [[]], [null]),
  fc.integer(),
  fc.array(oddText, { maxLength: 60 }),
  fc.jsonValue(),
);
const body = (properties: string[]) =>
  fc.oneof(
    fc.dictionary(fc.constantFrom(...properties), oddValue, { maxKeys: properties.length }),
    fc.dictionary(fc.oneof(fc.constantFrom(...properties), oddText), oddValue, { maxKeys: 4 }),
    // Close enough to valid input to pass the first checks.
    fc.record({ name: oddText }),
    fc.record({ name: oddText, slug: oddText }),
    fc.record({ name: fc.constant('n'), tags: fc.array(oddText), description: oddText }, { requiredKeys: ['name'] }),
    fc.jsonValue(),
  );
const PROPERTIES = {
  services: ['name', 'slug', 'description', 'owner_team_id', 'tier', 'tags', 'external_id', 'observability_names'],
  teams: ['name', 'slug', 'description', 'parent_team_id'],
  members: ['user_id', 'role'],
};

/** No input may cause a server error, and each error has a code and a message. */
const expectValidResponse = (answer: Answer) => {
  expect(answer.status).toBeLessThan(500);
  if (answer.status >= 400)
    expect(answer.body).toMatchObject({ code: expect.any(String), message: expect.any(String) });
};

const options = { numRuns: 150 };

describe('any input', () => {
  test.each(['services', 'teams'] as const)(
    'to %s gets a valid response, and accepted values are returned unchanged',
    async (kind) => {
      const client = service.as(newWorkspace());
      const one = kind.slice(0, -1);
      const { id } = await create(client, one as 'team', { name: 'target' });
      await fc.assert(
        fc.asyncProperty(body(PROPERTIES[kind]), async (sent) => {
          const made = await client.post(`/api/v1/${kind}`, JSON.stringify(sent));
          expectValidResponse(made);
          if (made.status === 201) {
            const read = await client.get(`/api/v1/${kind}/${made.body[one].id}`);
            expect(read.body).toStrictEqual(made.body);
          }
          const { revision } = (await client.get(`/api/v1/${kind}/${id}`)).body[one];
          const changed = await client.patch(`/api/v1/${kind}/${id}`, JSON.stringify(sent), at(revision));
          expectValidResponse(changed);
          if (changed.status === 200) {
            const again = await client.patch(
              `/api/v1/${kind}/${id}`,
              JSON.stringify(sent),
              at(changed.body[one].revision),
            );
            expect(again.body).toStrictEqual(changed.body);
          }
        }),
        options,
      );
      // The list contains each resource once, whatever its name.
      const ids = [];
      let cursor = '';
      do {
        const page = await client.get(`/api/v1/${kind}?limit=17${cursor}`);
        expect(page.status).toBe(200);
        ids.push(...page.body[kind].map((item: { id: number }) => item.id));
        cursor = page.body.pagination.has_more ? `&cursor=${page.body.pagination.next_cursor}` : '';
      } while (cursor !== '');
      const { rows } = await service.knex.raw(
        `select id from ${kind} where workspace_id = (select workspace_id from ${kind} where id = ?)`,
        [id],
      );
      expect(new Set(ids).size).toBe(ids.length);
      expect(new Set(ids)).toEqual(new Set(rows.map((row: { id: number }) => row.id)));
    },
  );

  test('to members gets a valid response', async () => {
    const client = service.as(newWorkspace());
    const { id } = await create(client, 'team', { name: 'target' });
    const path = `/api/v1/teams/${id}/members`;
    await fc.assert(
      fc.asyncProperty(body(PROPERTIES.members), async (sent) => {
        expectValidResponse(await client.post(path, JSON.stringify(sent)));
        expectValidResponse(await client.patch(`${path}/7`, JSON.stringify(sent)));
      }),
      options,
    );
  });

  test('as path, query or cursor gets a valid response', async () => {
    const client = service.as(newWorkspace());
    const { id } = await create(client, 'team', { name: 'a' });
    await create(client, 'team', { name: 'b' });
    const cursor: string = (await client.get('/api/v1/teams?limit=1')).body.pagination.next_cursor;
    const text = fc.oneof(
      oddText.map((part) => encodeURIComponent(part.toWellFormed())),
      fc.constantFrom('%', '%ff', '%00', '+', ''),
    );
    const parameter = fc.tuple(fc.oneof(fc.constantFrom('limit', 'cursor', 'include_archived'), text), text);
    const list = fc.constantFrom('teams', 'services', `teams/${id}/members`, 'configuration/service-tiers');
    await fc.assert(
      fc.asyncProperty(
        list,
        fc.array(parameter, { maxLength: 3 }),
        text,
        fc.nat(200),
        async (where, query, part, cut) => {
          const search = query.map(([name, value]) => `${name}=${value}`).join('&');
          expectValidResponse(await client.get(`/api/v1/${where}?${search}`));
          expectValidResponse(await client.get(`/api/v1/teams?cursor=${cursor.slice(0, cut)}${part}`));
          expectValidResponse(await client.get(`/api/v1/teams/${part}`));
          expectValidResponse(await client.delete(`/api/v1/teams/${id}/members/${part}`));
        },
      ),
      options,
    );
  });
});

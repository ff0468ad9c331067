import { describe, expect, test } from '@jest/globals';
import { refusal } from '@tocsin/testing';
import { at, create, newWorkspace, serviceForFile } from './service.ts';

const service = await serviceForFile();

const long = (length: number) => 'é'.repeat(length);
const many = (length: number) => Array.from({ length }, (_, index) => `n${index}`);
const NOT_TEXT = [1, true, {}, ['x']];

/** The values that a property accepts and their form in responses, and the values that it refuses and the field they name. */
interface Property {
  accepted: [given: unknown, returned: unknown][];
  refused: [given: unknown, field?: string][];
  /** Whether null clears it. */
  nullable: boolean;
}

const name: Property = {
  accepted: [
    ['x', 'x'],
    [' \t x y \n', 'x y'],
    [long(128), long(128)],
    [` ${'🙂'.repeat(127)}a `, `${'🙂'.repeat(127)}a`],
    ['<script>', '<script>'],
    ["x'; drop table services; --", "x'; drop table services; --"],
    ['x\u202Ey\u0007', 'x\u202Ey\u0007'],
  ],
  refused: [
    [''],
    ['  \n'],
    ['\uFEFF'],
    [long(129)],
    ['x\0'],
    ['x\uD800'],
    ['\uDC00x'],
    ...NOT_TEXT.map((v) => [v] as [unknown]),
  ],
  nullable: false,
};
const description: Property = {
  accepted: [
    ['x', 'x'],
    ['', ''],
    ['  ', '  '],
    [long(10_000), long(10_000)],
  ],
  refused: [[long(10_001)], ['\0'], ['\uD800'], ...NOT_TEXT.map((v) => [v] as [unknown])],
  nullable: true,
};
const names: Property = {
  accepted: [
    [['a'], ['a']],
    [[' a ', 'A', '', ' '], ['a']],
    [many(50), many(50)],
    [[...many(50), ' N1 ', ''], many(50)],
    [[` ${long(128)} `], [long(128)]],
    [['__proto__'], ['__proto__']],
  ],
  refused: [
    [many(51)],
    [['a', long(129)], '1'],
    [['a', 1], '1'],
    [['a', null], '1'],
    [['\0'], '0'],
    [['a', 'b', 'x\uDFFF'], '2'],
    ['a'],
    [{}],
    [1],
  ],
  nullable: false,
};
const reference: Property = {
  accepted: [],
  refused: [[0], [-1], [1.5], ['1'], [true], [[1]], [{}], [2 ** 53], [1e300], [999_999_999]],
  nullable: true,
};

const externalId: Property = {
  accepted: [
    [' x ', 'x'],
    [` ${long(200)}`, long(200)],
  ],
  refused: [[''], ['  '], [long(201)], ['\0'], ...NOT_TEXT.map((v) => [v] as [unknown])],
  nullable: true,
};

const SERVICE: Record<string, Property> = {
  name,
  description,
  owner_team_id: reference,
  tier: {
    accepted: ['t0', 't1', 't2', 't3'].map((tier) => [tier, tier]),
    refused: [[''], ['T0'], ['t4'], [' t0'], ['__proto__'], ['\0'], ...NOT_TEXT.map((v) => [v] as [unknown])],
    nullable: false,
  },
  tags: names,
  external_id: externalId,
  observability_names: {
    ...names,
    accepted: [...names.accepted, [[], undefined], [['', ' '], undefined]],
  },
};
const TEAM: Record<string, Property> = { name, description, parent_team_id: reference, external_id: externalId };

describe.each([
  ['service' as const, SERVICE],
  ['team' as const, TEAM],
])('the properties of a %s', (kind, properties) => {
  const path = `/api/v1/${kind}s`;

  describe.each(Object.entries(properties))('%s', (field, { accepted, refused, nullable }) => {
    test('is accepted, at creation and in a change', async () => {
      const client = service.as(newWorkspace());
      for (const [given, returned] of accepted) {
        const body = { name: 'n', slug: `s${accepted.findIndex(([value]) => value === given)}`, [field]: given };
        const made = await client.post(path, body);
        expect([given, made.status]).toEqual([given, 201]);
        expect(made.body[kind][field]).toEqual(returned);
        // In another workspace, because an external ID is unique.
        const other = service.as(newWorkspace());
        const blank = await create(other, kind, { name: 'blank' });
        const changed = await other.patch(`${path}/${blank.id}`, { [field]: given }, at(1));
        expect([given, changed.status]).toEqual([given, 200]);
        expect(changed.body[kind][field]).toEqual(returned);
        expect((await other.get(`${path}/${blank.id}`)).body).toStrictEqual(changed.body);
      }
    });

    test('is refused by name, at creation and in a change, and nothing is written', async () => {
      const client = service.as(newWorkspace());
      const { id } = await create(client, kind, { name: 'blank' });
      const wrong = [...refused, ...(nullable ? [] : [[null] as [unknown, string?]])];
      for (const [given, place] of wrong) {
        const expected = refusal(400, 'invalid_request', { field: place === undefined ? field : `${field}.${place}` });
        const made = await client.post(path, { name: 'n', [field]: given });
        expect({ given, ...made }).toMatchObject({ given, ...expected });
        const changed = await client.patch(`${path}/${id}`, { [field]: given }, at(1));
        expect({ given, ...changed }).toMatchObject({ given, ...expected });
      }
      expect((await client.get(`${path}?include_archived=true`)).body[`${kind}s`]).toHaveLength(1);
    });

    test(nullable ? 'may be null' : 'may not be null', async () => {
      const client = service.as(newWorkspace());
      const made = await client.post(path, { name: 'n', [field]: null });
      expect(made.status).toBe(nullable ? 201 : 400);
      if (nullable) expect(made.body[kind]).not.toHaveProperty(field);
    });
  });

  test('the name is required', async () => {
    const client = service.as(newWorkspace());
    expect(await client.post(path, {})).toMatchObject(refusal(400, 'invalid_request', { field: 'name' }));
  });

  test.each(['id', 'revision', 'company_id', 'created_at', 'archived_at', 'member_count', '__proto__', 'nonsense', ''])(
    'there is no property %j to write',
    async (field) => {
      const client = service.as(newWorkspace());
      const { id } = await create(client, kind, { name: 'blank' });
      const body = `{"name":1,${JSON.stringify(field)}:1}`;
      const expected = refusal(400, 'unknown_field', { field });
      expect(await client.post(path, body)).toMatchObject(expected);
      expect(await client.patch(`${path}/${id}`, body, at(1))).toMatchObject(expected);
      expect(await client.delete(`${path}/${id}?x=1`)).toMatchObject({ status: 400, body: { field: 'x' } });
      expect(await client.post(`${path}/${id}/restore`, { [field === '__proto__' ? 'x' : field]: 1 })).toMatchObject(
        refusal(400, 'unknown_field'),
      );
    },
  );

  test.each([
    ['Upper', 'slug'],
    ['', 'slug'],
    ['_a', 'slug'],
    ['a b', 'slug'],
    ['a-b', 'slug'],
    ['a'.repeat(65), 'slug'],
    ['a\0', 'slug'],
    [null, 'slug'],
    [1, 'slug'],
  ])('the slug %j is refused', async (slug, field) => {
    const client = service.as(newWorkspace());
    expect(await client.post(path, { name: 'n', slug })).toMatchObject(refusal(400, 'invalid_request', { field }));
  });

  test.each([
    ['', 400, 'invalid_json'],
    ['{', 400, 'invalid_json'],
    ['{"name":"\\ud8"}', 400, 'invalid_json'],
    [new Uint8Array([0x7b, 0xff, 0x7d]), 400, 'invalid_json'],
    ['{"name":"a"}{"name":"b"}', 400, 'multiple_json_values'],
    ['{} {}', 400, 'multiple_json_values'],
    ['[]', 400, 'invalid_request'],
    ['"x"', 400, 'invalid_request'],
    ['null', 400, 'invalid_request'],
    [`{"description":"${'x'.repeat(1_048_576)}"}`, 413, 'request_body_too_large'],
  ])('the body %.20s is refused', async (body, status, code) => {
    expect(await service.as(newWorkspace()).post(path, body)).toMatchObject({ status, body: { code } });
  });
});

describe('the properties of a member', () => {
  test.each([
    [{}, 'user_id', 'invalid_request'],
    [{ user_id: null }, 'user_id', 'invalid_request'],
    [{ user_id: '1' }, 'user_id', 'invalid_request'],
    [{ user_id: 0 }, 'user_id', 'invalid_request'],
    [{ user_id: 1.5 }, 'user_id', 'invalid_request'],
    [{ user_id: 2 ** 53 }, 'user_id', 'invalid_request'],
    [{ user_id: 1, role: 'owner' }, 'role', 'invalid_request'],
    [{ user_id: 1, role: null }, 'role', 'invalid_request'],
    [{ user_id: 1, role: '' }, 'role', 'invalid_request'],
    [{ user_id: 1, name: 'x' }, 'name', 'unknown_field'],
  ])('%j is refused', async (body, field, code) => {
    const client = service.as(newWorkspace());
    const { id } = await create(client, 'team', { name: 't' });
    expect(await client.post(`/api/v1/teams/${id}/members`, body)).toMatchObject({
      status: 400,
      body: { code, field },
    });
  });

  test.each([
    [{ role: 'owner' }, 'role', 'invalid_request'],
    [{ role: null }, 'role', 'invalid_request'],
    [{ user_id: 1 }, 'user_id', 'unknown_field'],
  ])('a change to %j is refused', async (body, field, code) => {
    const client = service.as(newWorkspace());
    const { id } = await create(client, 'team', { name: 't' });
    expect(await client.patch(`/api/v1/teams/${id}/members/1`, body)).toMatchObject({
      status: 400,
      body: { code, field },
    });
  });
});

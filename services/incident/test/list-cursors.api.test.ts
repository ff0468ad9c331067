import { describe, expect, test } from '@jest/globals';
import { CURSOR_PURPOSE, signedCursors } from '@tocsin/http';
import { openKeyring } from '@tocsin/runtime';
import { type Client, TEST_SECRET_KEYS } from '@tocsin/testing';
import { listFilters } from '../src/list/domain/list-filters.ts';
import { listSort } from '../src/list/domain/list-sort.ts';
import { serviceForFile } from './service.ts';
import { aField } from './snapshots.ts';

const service = await serviceForFile();
const client = service.as();
for (let number = 1; number <= 5; number += 1) {
  await client.post('/api/v1/incidents', { title: String(number), severity: 'sev1', service: 'a', regions: ['eu'] });
}

const LIST = '/api/v1/incidents';

async function nextCursor(query: string): Promise<string> {
  const { body } = await client.get(`${LIST}?limit=2&${query}`);
  expect(body.next_cursor).toEqual(expect.any(String));
  return body.next_cursor;
}

const numbers = (incidents: { human_id: string }[]) => incidents.map(({ human_id }) => Number(human_id.slice(4)));

async function refuse(path: string, by: Client = client) {
  const { status, body } = await by.get(path);
  expect({ status, code: body.code, field: body.field }).toEqual({
    status: 400,
    code: 'invalid_request',
    field: 'cursor',
  });
}

describe('a cursor', () => {
  test('leads to the next page with any page size, and with or without counts', async () => {
    const cursor = await nextCursor('');
    const { body } = await client.get(`${LIST}?limit=100&include_counts=true&cursor=${cursor}`);
    expect(numbers(body.incidents)).toEqual([3, 2, 1]);
    expect(body.collection_counts.matched).toBe(5);
  });

  test.each([
    [
      '',
      'sort=created_at&direction=desc&scope=all&status_scope=all&active_only=false&unassigned_team=false&mine=false',
    ],
    ['', 'mrr_basis=normalized&mrr_currency=USD'],
    ['severity=sev1&severity=sev2', 'severity=sev2&severity=sev1&severity=sev2'],
    ['region=EU', 'region=eu&region=Eu'],
    ['created_to=2100-01-01T01:00:00%2B01:00', 'created_to=2100-01-01T00:00:00.0009Z'],
    ['sort=service', 'direction=desc&sort=service'],
  ])('for %s is accepted with another spelling of the same: %s', async (query, other) => {
    const cursor = await nextCursor(query);
    const { status, body } = await client.get(`${LIST}?cursor=${cursor}&${other}`);
    expect({ status, left: body.incidents.length }).toEqual({ status: 200, left: 3 });
  });

  test.each([
    ['', 'severity=sev1'],
    ['severity=sev1', ''],
    ['severity=sev1', 'severity=sev1&severity=sev2'],
    ['service=a', 'service=A'],
    ['', 'direction=asc'],
    ['sort=service', 'sort=owner'],
    ['sort=service', 'sort=service&direction=asc'],
    ['', 'created_to=2100-01-01T00:00:00Z'],
  ])('for %s is refused with %s', async (query, other) => {
    await refuse(`${LIST}?cursor=${await nextCursor(query)}&${other}`);
  });

  test('of one list is refused by the other list, and in another workspace', async () => {
    const cursor = await nextCursor('');
    await refuse(`${LIST}/archived?cursor=${cursor}`);
    await refuse(`${LIST}?cursor=${cursor}`, service.as({ workspace: { id: 2 } }));
  });

  test.each(['x', 'ey', 'é', '%20', 'AAAA', 'null', Buffer.from('[0,1,"x"]').toString('base64url')])(
    'that was not issued is refused: %s',
    async (cursor) => refuse(`${LIST}?cursor=${cursor}`),
  );

  test('with one changed bit is refused', async () => {
    const bytes = Buffer.from(await nextCursor('sort=service'), 'base64url');
    for (const at of [0, 31, 32, bytes.length - 1]) {
      const changed = Buffer.from(bytes);
      changed[at]! ^= 1;
      await refuse(`${LIST}?sort=service&cursor=${changed.toString('base64url')}`);
    }
  });
});

describe('a cursor of another release', () => {
  const cursors = signedCursors(openKeyring(TEST_SECRET_KEYS, CURSOR_PURPOSE));
  const sortedBy = (sort: Parameters<typeof listSort>[0], segment: unknown, ...position: (string | number)[]) =>
    cursors.encode(
      { segment: segment as string, position },
      { workspaceId: 1, path: LIST, filters: { filters: listFilters({}, 'USD'), custom: [], sort: listSort(sort) } },
    );
  const bySeverity = (segment: unknown, ...position: (string | number)[]) =>
    `${LIST}?sort=severity&cursor=${sortedBy({ sort: 'severity' }, segment, ...position)}`;

  test('is accepted if it names a segment of the sort', async () => {
    const { status, body } = await client.get(bySeverity('severity', 3, 'sev1'));
    expect({ status, numbers: numbers(body.incidents) }).toEqual({ status: 200, numbers: [2, 1] });
  });

  test.each<[string, unknown, ...(string | number)[]]>([
    ['has the number of its segment instead of the name', 0, 3, 'sev1'],
    ['names a segment of another sort', 'status', 3, 'sev1'],
    ['has a key of another type', 'severity', 3, 1],
    ['has no ID', 'severity', 'sev1', 3],
    ['lacks a key', 'severity', 3],
    ['has an extra key', 'severity:removed', 3, 'sev1'],
  ])('is refused if it %s', async (_what, segment, ...position) => refuse(bySeverity(segment, ...position)));

  test('is refused if its key is not a timestamp', async () =>
    refuse(`${LIST}?cursor=${sortedBy({}, 'created_at', 3, 'sev1')}`));
});

describe('a cursor of the old form', () => {
  const legacy = (text: string) => Buffer.from(text).toString('base64url');
  const place = async () => {
    const { body } = await client.get(`${LIST}?limit=2`);
    const { created_at, id } = body.incidents[1];
    return `${created_at}|${id}`;
  };

  test.each([
    '',
    'sort=created_at&direction=desc',
    'scope=all',
    'status=open',
    'severity=sev1',
    'service=a',
    'created_from=2020-01-01T00:00:00Z',
    'created_to=2100-01-01T00:00:00Z',
    'active_only=false&unassigned_team=false&status_scope=all&mrr_basis=normalized',
    'include_counts=true',
  ])('is accepted with %s', async (query) => {
    const { status, body } = await client.get(`${LIST}?cursor=${legacy(await place())}&${query}`);
    expect({ status, numbers: numbers(body.incidents ?? []) }).toEqual({ status: 200, numbers: [3, 2, 1] });
    expect(body.pagination.has_more).toBe(false);
  });

  test('is accepted with team_id, and leads to cursors of the new form', async () => {
    expect((await client.get(`${LIST}?cursor=${legacy(await place())}&team_id=1`)).status).toBe(200);
    const { body } = await client.get(`${LIST}?limit=1&cursor=${legacy(await place())}`);
    expect(numbers(body.incidents)).toEqual([3]);
    const next = await client.get(`${LIST}?cursor=${body.next_cursor}`);
    expect(numbers(next.body.incidents)).toEqual([2, 1]);
  });

  test('may have any offset and precision', async () => {
    const [at, id] = (await place()).split('|');
    const shifted = new Date(Date.parse(at!) + 3_600_000).toISOString().replace('Z', '999+01:00');
    const { body } = await client.get(`${LIST}?cursor=${legacy(`${shifted}|${id}`)}`);
    expect(numbers(body.incidents)).toEqual([3, 2, 1]);
  });

  test.each([
    'direction=asc',
    'sort=case',
    'created_before=2100-01-01T00:00:00Z',
    'region=eu',
    'lifecycle=incident',
    'service_tier=t0',
    'effective_team_id=1',
    'unassigned_team=true',
    'active_only=true',
    'status_scope=nonterminal',
    'diagnosis=not_run',
    'impact_status=unknown',
    'affected_customers_op=%3E&affected_customers_value=1',
    'mrr_op=%3E&mrr_value=1',
  ])('is refused with %s', async (query) => refuse(`${LIST}?cursor=${legacy(await place())}&${query}`));

  test('is refused with custom filters, and by the list of archived incidents', async () => {
    await service.owners.change(1, (data) => void data.fields.push(aField(1, { slug: 'x' })));
    const filter = encodeURIComponent(JSON.stringify({ slug: 'x', operator: 'is_not', value: 'y' }));
    await refuse(`${LIST}?cursor=${legacy(await place())}&custom_filter=${filter}`);
    await refuse(`${LIST}/archived?cursor=${legacy(await place())}`);
  });

  test.each([
    '2026-11-20T09:00:00Z',
    '|1',
    '2026-11-20T09:00:00Z|',
    '2026-11-20T09:00:00Z|0',
    '2026-11-20T09:00:00Z|1|2',
  ])('is refused if it is malformed: %s', async (text) => refuse(`${LIST}?cursor=${legacy(text)}`));
});

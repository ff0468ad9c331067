import { describe, expect, test } from '@jest/globals';
import { CURSOR_PURPOSE, signedCursors } from '@tocsin/http';
import { openKeyring } from '@tocsin/runtime';
import { type Client, TEST_SECRET_KEYS } from '@tocsin/testing';
import { listFilters } from '../../src/list/domain/list-filters.ts';
import { listSort } from '../../src/list/domain/list-sort.ts';
import { serviceForFile } from '../service.ts';

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
    ['created_from=2020-01-01T00:00:00.001Z', 'created_from=2020-01-01T01:00:00.0004%2B01:00'],
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

import { describe, expect, test } from '@jest/globals';
import { CURSOR_PURPOSE, signedCursors } from '@tocsin/http';
import { openKeyring } from '@tocsin/runtime';
import { type Client, TEST_SECRET_KEYS } from '@tocsin/testing';
import { listFilters } from '../../src/list/domain/list-filters.ts';
import { listSort } from '../../src/list/domain/list-sort.ts';
import { serviceForFile } from '../service.ts';
import { setClock } from './population.ts';
import { aField } from '../snapshots.ts';

const clock = setClock('2026-11-20T12:00:00.000Z');
const service = await serviceForFile({ clock });
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

describe('a legacy cursor', () => {
  const legacy = (text: string) => Buffer.from(text).toString('base64url');
  /** Of the incident before the third last. */
  const position = async () => {
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
    'active_only=false&unassigned_team=false&status_scope=all&mrr_basis=normalized&mrr_currency=USD',
    'include_counts=true',
  ])('is accepted with %s', async (query) => {
    const { status, body } = await client.get(`${LIST}?cursor=${legacy(await position())}&${query}`);
    expect({ status, numbers: numbers(body.incidents ?? []) }).toEqual({ status: 200, numbers: [3, 2, 1] });
    expect(body.pagination.has_more).toBe(false);
  });

  test('is accepted with team_id and scope=postmortem, and leads to signed cursors', async () => {
    expect((await client.get(`${LIST}?cursor=${legacy(await position())}&team_id=1&scope=postmortem`)).status).toBe(
      200,
    );
    const { body } = await client.get(`${LIST}?limit=1&cursor=${legacy(await position())}`);
    expect(numbers(body.incidents)).toEqual([3]);
    const next = await client.get(`${LIST}?cursor=${body.next_cursor}`);
    expect(numbers(next.body.incidents)).toEqual([2, 1]);
  });

  test('may have any offset and precision, and padding', async () => {
    const [at, id] = (await position()).split('|');
    const shifted = new Date(Date.parse(at!) + 3_600_000).toISOString().replace('Z', '999+01:00');
    for (const cursor of [legacy(`${shifted}|${id}`), `${legacy(`${shifted}|${id}`)}==`]) {
      const { body } = await client.get(`${LIST}?cursor=${cursor}`);
      expect(numbers(body.incidents)).toEqual([3, 2, 1]);
    }
  });

  test.each([
    'direction=asc',
    'sort=case',
    'created_before=2100-01-01T00:00:00Z',
    'impact_started_from=2020-01-01T00:00:00Z',
    'region=eu',
    'lifecycle=incident',
    'service_tier=t0',
    'effective_team_id=1',
    'unassigned_team=true',
    'active_only=true',
    'duplicate=false',
    'postmortem=none',
    'external_id=x',
    'q=x',
    'status_scope=nonterminal',
    'diagnosis=not_run',
    'impact_status=unknown',
    'affected_customers_op=%3E&affected_customers_value=1',
    'mrr_op=%3E&mrr_value=1',
  ])('is refused with %s', async (query) => refuse(`${LIST}?cursor=${legacy(await position())}&${query}`));

  test('is refused with custom filters, and by the list of archived incidents', async () => {
    await service.owners.change(1, (data) => void data.fields.push(aField(1, { slug: 'x' })));
    const filter = encodeURIComponent(JSON.stringify({ slug: 'x', operator: 'is_not', value: 'y' }));
    await refuse(`${LIST}?cursor=${legacy(await position())}&custom_filter=${filter}`);
    await refuse(`${LIST}?cursor=${legacy(await position())}&sort=custom&sort_custom_field=x`);
    await refuse(`${LIST}/archived?cursor=${legacy(await position())}`);
  });

  test('shows nothing of another workspace, and nothing that the history limit hides', async () => {
    const forged = legacy(`9999-12-31T00:00:00Z|${Number.MAX_SAFE_INTEGER}`);
    const other = service.as({ workspace: { id: 2 } });
    expect((await other.get(`${LIST}?cursor=${forged}`)).body.incidents).toEqual([]);
    expect(numbers((await client.get(`${LIST}?cursor=${forged}`)).body.incidents)).toEqual([5, 4, 3, 2, 1]);
    clock.set('2026-11-22T12:00:00.000Z');
    const limited = service.as({ workspace: { history_days: 1 } });
    const { body } = await limited.get(`${LIST}?cursor=${forged}`);
    expect([body.incidents, body.restricted_count, body.history_limited]).toEqual([[], 5, true]);
  });

  test.each([
    '2026-11-20T09:00:00Z',
    '|1',
    '2026-11-20T09:00:00Z|',
    '2026-11-20T09:00:00Z|0',
    '2026-11-20T09:00:00Z|1|2',
    '2026-11-20T09:00:00Z|9007199254740993',
    'yesterday|1',
  ])('is refused if it is malformed: %s', async (text) => refuse(`${LIST}?cursor=${legacy(text)}`));
});

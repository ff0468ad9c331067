import { beforeAll, describe, expect, test } from '@jest/globals';
import { freshWorkspace } from './fields.ts';
import { setClock } from './list/population.ts';
import { serviceForFile } from './service.ts';

const NOW = '2026-11-20T12:00:00.000Z'; // A Friday.
const PATH = '/api/v1/incidents/statistics';
const HOUR = 3_600_000;

const service = await serviceForFile({ clock: setClock(NOW) });
const { knex: database } = service;
const workspace = freshWorkspace(service);

interface Row {
  created: string;
  severity: string;
  service?: string;
  team?: number | null;
  /** Seconds after the creation; null: not known. */
  reported?: number | null;
  responded?: number | null;
  recovered?: number | null;
  ended?: number | null;
  archived?: boolean;
}

const after = (created: string, seconds: number | null | undefined) =>
  seconds === null || seconds === undefined ? null : new Date(Date.parse(created) + seconds * 1_000).toISOString();

let numbers = 0;
const store = async (rows: readonly Row[], to = workspace) =>
  database.batchInsert(
    'incidents',
    rows.map((row) => ({
      workspace_id: to.id,
      number: (numbers += 1),
      title: `Incident of ${row.service ?? 'nothing'}`,
      title_folded: `incident of ${row.service ?? 'nothing'}`,
      service: row.service ?? '',
      service_folded: row.service ?? null,
      team_id: row.team ?? null,
      severity: row.severity,
      severity_mode: 'manual',
      status: row.ended === undefined || row.ended === null ? 'open' : 'closed',
      issue_type: 'incident',
      customer_impact_status: 'unknown',
      first_reported_at: after(row.created, row.reported),
      first_responded_at: after(row.created, row.responded),
      recovered_at: after(row.created, row.recovered),
      ended_at: after(row.created, row.ended),
      archived_at: row.archived === true ? NOW : null,
      created_at: row.created,
      created_by: '42',
    })),
  );

const get = async (query: string, of = workspace) => {
  const { status, body } = await of.client.get(`${PATH}?${query}`);
  if (status !== 200) throw new Error(`${query}: ${status} ${JSON.stringify(body)}`);
  return body.statistics;
};

describe('buckets', () => {
  beforeAll(async () =>
    store([
      { created: '2026-11-15T23:59:59.999Z', severity: 'sev1' }, // A Sunday.
      { created: '2026-11-16T00:00:00.000Z', severity: 'sev1' },
      { created: '2026-11-18T12:00:00.000Z', severity: 'sev3' },
      { created: '2026-11-18T13:00:00.000Z', severity: 'sev3' },
      { created: '2026-11-18T13:00:00.000Z', severity: 'sev3', archived: true },
      { created: '2025-12-31T23:59:59.999Z', severity: 'sev2' },
    ]),
  );

  test.each([
    [
      'day',
      'created_from=2026-11-15T12:00:00Z&created_before=2026-11-19T00:00:00Z',
      [
        ['2026-11-15', { sev1: 1 }],
        ['2026-11-16', { sev1: 1 }],
        ['2026-11-17', {}],
        ['2026-11-18', { sev3: 2 }],
      ],
    ],
    [
      'day',
      'created_from=2026-11-18T12:30:00Z&created_to=2026-11-19T00:00:00Z',
      [
        ['2026-11-18', { sev3: 1 }],
        ['2026-11-19', {}],
      ],
    ],
    [
      'week',
      'created_from=2026-11-14T00:00:00Z',
      [
        ['2026-11-09', { sev1: 1 }],
        ['2026-11-16', { sev1: 1, sev3: 2 }],
      ],
    ],
    [
      'month',
      'created_from=2025-12-24T00:00:00Z&created_before=2026-02-01T00:00:00Z',
      [
        ['2025-12-01', { sev2: 1 }],
        ['2026-01-01', {}],
      ],
    ],
    ['day', 'created_from=2026-11-18T00:00:00Z&created_before=2026-11-17T00:00:00Z', []],
  ])('by %s, %s', async (bucket, span, expected) => {
    const { buckets } = await get(`bucket=${bucket}&${span}`);
    expect(buckets).toEqual(
      expected.map(([day, bySeverity]) => ({
        starts_at: `${day as string}T00:00:00.000Z`,
        incidents: Object.values(bySeverity as Record<string, number>).reduce((sum, each) => sum + each, 0),
        by_severity: bySeverity,
      })),
    );
  });

  test('are the last 30 unless the request says otherwise, and at most 400', async () => {
    for (const [bucket, first] of [
      ['day', '2026-10-22'],
      ['week', '2026-04-27'],
      ['month', '2024-06-01'],
    ]) {
      const { buckets } = await get(`bucket=${bucket}`);
      expect([buckets.length, buckets[0].starts_at]).toEqual([30, `${first}T00:00:00.000Z`]);
    }
    const from = (days: number) => new Date(Date.parse(NOW) - days * 24 * HOUR).toISOString();
    expect((await get(`created_from=${from(399)}`)).buckets).toHaveLength(400);
    const refused = await workspace.client.get(`${PATH}?created_from=${from(400)}`);
    expect([refused.status, refused.body.field]).toEqual([400, 'created_from']);
    const all = await workspace.client.get(`${PATH}?created_from=0001-01-01T00:00:00Z&created_to=9999-12-31T00:00:00Z`);
    expect(all.status).toBe(400);
  });

  test('count what the filters of the list select', async () => {
    const total = async (query: string) =>
      (await get(query)).buckets.reduce((sum: number, { incidents }: { incidents: number }) => sum + incidents, 0);
    expect(await total('')).toBe(4);
    expect(await total('severity=sev1')).toBe(2);
    expect(await total('active_only=true&severity=sev3')).toBe(2);
    expect(await total('status=closed')).toBe(0);
    expect(await total('q=incident')).toBe(4);
    expect(await total('q=nothing%25')).toBe(0);
    for (const query of ['severity=none', 'limit=1', 'sort=created_at', 'bucket=hour', 'mine=true']) {
      expect((await workspace.client.get(`${PATH}?${query}`)).status).toBe(400);
    }
  });
});

test('durations are measured by service and by team', async () => {
  const other = freshWorkspace(service);
  // A generator of numbers that is the same in each run.
  let state = 7;
  const random = () => (state = (state * 48_271) % 2_147_483_647) / 2_147_483_647;
  const maybe = (value: number) => (random() < 0.5 ? value : null);
  const rows: Row[] = Array.from({ length: 500 }, () => ({
    created: new Date(Date.parse(NOW) - random() * 20 * 24 * HOUR).toISOString(),
    severity: 'sev3',
    service: ['', 'checkout', 'search'][Math.floor(random() * 3)] ?? '',
    team: [null, 1, 2][Math.floor(random() * 3)] ?? null,
    reported: maybe(-Math.floor(random() * 600)),
    responded: maybe(Math.floor(random() ** 4 * 20_000) - 700),
    recovered: maybe(Math.floor(random() ** 4 * 1_000_000)),
    ended: maybe(Math.floor(random() * 1_000_000)),
  }));
  await store(rows, other);

  const expected = (of: readonly Row[], end: (row: Row) => number | null | undefined) => {
    const sorted = of
      .flatMap((row) => [end(row)].flatMap((at) => (at === null || at === undefined ? [] : [at - (row.reported ?? 0)])))
      .map((seconds) => Math.max(0, seconds))
      .sort((a, b) => a - b);
    const at = (share: number) => sorted[Math.ceil(share * sorted.length) - 1] ?? 0;
    return { incidents: sorted.length, median_seconds: at(0.5), p90_seconds: at(0.9) };
  };
  const check = (measured: Record<string, number>, exact: Record<string, number>) => {
    expect(measured.incidents).toBe(exact.incidents);
    for (const name of ['median_seconds', 'p90_seconds']) {
      expect(measured[name]).toBe(exact[name]);
    }
  };
  const { by_service: services, by_team: teams } = await get('', other);
  expect(services.map((each: { service: string }) => each.service).toSorted()).toEqual(['', 'checkout', 'search']);
  expect(teams).toHaveLength(3);
  for (const each of [...services, ...teams]) {
    const own = rows.filter((row) => ('service' in each ? row.service === each.service : row.team === each.team_id));
    check(
      each.time_to_response,
      expected(own, (row) => row.responded),
    );
    check(
      each.time_to_recovery,
      expected(own, (row) => row.recovered ?? row.ended),
    );
  }
});

test('a group without a known duration of a kind has null, and another workspace has nothing', async () => {
  const other = freshWorkspace(service);
  await store([{ created: NOW, severity: 'sev3', service: 'mail', responded: 0 }], other);
  const { by_service: services } = await get('', other);
  expect(services).toEqual([
    {
      service: 'mail',
      time_to_response: { incidents: 1, median_seconds: 0, p90_seconds: 0 },
      time_to_recovery: null,
    },
  ]);
  expect(await get('', freshWorkspace(service))).toMatchObject({ by_service: [], by_team: [] });
});

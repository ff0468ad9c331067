import { beforeAll, describe, expect, test } from '@jest/globals';
import { configure } from '../configure.ts';
import { freshWorkspace } from '../fields.ts';
import { setClock } from './population.ts';
import { serviceForFile } from '../service.ts';

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
    // Nothing is earlier than the year 1.
    const [earliest] = (await get('created_before=0001-01-02T00:00:00Z')).buckets;
    expect(earliest.starts_at).toBe('0001-01-01T00:00:00.000Z');
    const all = await workspace.client.get(`${PATH}?created_from=0001-01-01T00:00:00Z&created_to=9999-12-31T00:00:00Z`);
    expect(all.status).toBe(400);
  });
});

describe("buckets of the workspace's time zone", () => {
  const inZone = async (time_zone: string, created: readonly string[]) => {
    const other = freshWorkspace(service);
    await configure(database, other.id, { time_zone });
    await store(
      created.map((each) => ({ created: each, severity: 'sev1' })),
      other,
    );
    return other;
  };
  const counts = ({ buckets }: { buckets: { starts_at: string; incidents: number }[] }) =>
    buckets.map(({ starts_at, incidents }) => [starts_at.replace(':00.000Z', 'Z'), incidents]);

  test('begin at local midnight, on days of 23 and 25 hours too', async () => {
    const other = await inZone('Europe/Berlin', [
      '2026-03-28T22:59:59.999Z',
      '2026-03-28T23:00:00.000Z',
      '2026-03-29T21:59:59.999Z',
      '2026-03-29T22:00:00.000Z',
      '2026-10-24T22:00:00.000Z',
      '2026-10-25T22:59:59.999Z',
      '2026-10-25T23:00:00.000Z',
    ]);
    const spring = await get('created_from=2026-03-28T12:00:00Z&created_to=2026-03-29T22:00:00Z', other);
    expect(spring).toMatchObject({ bucket: 'day', time_zone: 'Europe/Berlin' });
    expect(counts(spring)).toEqual([
      ['2026-03-27T23:00Z', 1],
      ['2026-03-28T23:00Z', 2],
      ['2026-03-29T22:00Z', 1],
    ]);
    expect(counts(await get('created_from=2026-10-24T22:00:00Z&created_before=2026-10-26T00:00:00Z', other))).toEqual([
      ['2026-10-24T22:00Z', 2],
      ['2026-10-25T23:00Z', 1],
    ]);
    expect(
      counts(await get('bucket=week&created_from=2026-03-29T12:00:00Z&created_to=2026-03-30T12:00:00Z', other)),
    ).toEqual([
      // Monday to Sunday, of which the span has the afternoon.
      ['2026-03-22T23:00Z', 1],
      ['2026-03-29T22:00Z', 1],
    ]);
    expect(
      counts(await get('bucket=month&created_from=2026-10-31T23:00:00Z&created_to=2026-12-01T00:00:00Z', other)),
    ).toEqual([
      ['2026-10-31T23:00Z', 0],
      ['2026-11-30T23:00Z', 0],
    ]);
  });

  test.each([
    ['America/Sao_Paulo', 'day', '2018-11-03T03:00:00Z', '2018-11-05T04:00:00Z', ['03T03', '04T03', '05T02']],
    ['Pacific/Apia', 'day', '2011-12-29T10:00:00Z', '2011-12-31T10:00:00Z', ['29T10', '30T10', '31T10']],
    ['Asia/Kathmandu', 'day', '2026-11-18T20:00:00Z', '2026-11-19T20:00:00Z', ['18T18', '19T18']],
  ])('go on where a midnight is skipped: %s', async (zone, bucket, from, to, expected) => {
    const other = await inZone(zone, [from, to]);
    const { buckets } = await get(`bucket=${bucket}&created_from=${from}&created_to=${to}`, other);
    expect(buckets.map(({ starts_at }: { starts_at: string }) => starts_at.slice(8, 13))).toEqual(expected);
    expect([buckets[0].incidents, buckets.at(-1).incidents]).toEqual([1, 1]);
  });

  test('are those of UTC if the zone is not known any more', async () => {
    const other = await inZone('Asia/Tokyo', [NOW]);
    await database('configurations').where({ workspace_id: other.id }).update({ time_zone: 'Asia/Atlantis' });
    expect(await get('created_from=2026-11-20T00:00:00Z', other)).toMatchObject({
      time_zone: 'UTC',
      buckets: [{ starts_at: '2026-11-20T00:00:00.000Z', incidents: 1 }],
    });
  });
});

test.each([
  ['day', 'created_before=0001-01-01T00:00:00Z', []],
  ['week', 'created_to=0001-01-01T00:00:00Z', ['0001-01-01']],
  ['month', 'created_to=0001-03-31T00:00:00Z', ['0001-01-01', '0001-02-01', '0001-03-01']],
  ['week', 'created_from=0001-01-03T00:00:00Z&created_before=0001-01-15T00:00:00Z', ['0001-01-01', '0001-01-08']],
  ['day', 'created_from=9999-12-30T00:00:00Z&created_to=9999-12-31T23:59:59.999Z', ['9999-12-30', '9999-12-31']],
  ['week', 'created_from=9999-12-31T00:00:00Z&created_to=9999-12-31T23:59:59.999Z', ['9999-12-27']],
  ['month', 'created_from=9999-12-31T00:00:00Z', []],
])('buckets of a %s at the ends of time: %s', async (bucket, span, starts) => {
  const { buckets } = await get(`bucket=${bucket}&${span}`);
  expect(buckets.map(({ starts_at: start }: { starts_at: string }) => start.slice(0, 10))).toEqual(starts);
});

test('durations are measured by service, by team and of all', async () => {
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
    const mean = sorted.reduce((sum, seconds) => sum + seconds, 0) / sorted.length;
    return { incidents: sorted.length, median_seconds: at(0.5), p90_seconds: at(0.9), mean_seconds: Math.floor(mean) };
  };
  const check = (measured: Record<string, number>, exact: Record<string, number>) => {
    expect(measured.incidents).toBe(exact.incidents);
    for (const name of ['median_seconds', 'p90_seconds', 'mean_seconds']) {
      expect(measured[name]).toBe(exact[name]);
    }
  };
  const { by_service: services, by_team: teams, all } = await get('', other);
  expect(services.map((each: { service: string }) => each.service).toSorted()).toEqual(['', 'checkout', 'search']);
  expect(teams).toHaveLength(3);
  for (const each of [...services, ...teams, all]) {
    const own = rows.filter(
      (row) => each === all || ('service' in each ? row.service === each.service : row.team === each.team_id),
    );
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
      time_to_response: { incidents: 1, derived: 0, median_seconds: 0, p90_seconds: 0, mean_seconds: 0 },
      time_to_recovery: null,
    },
  ]);
  expect(await get('', freshWorkspace(service))).toMatchObject({
    ...{ by_service: [], by_team: [] },
    all: { time_to_response: null, time_to_recovery: null },
  });
});

test('drills are left out of lists and statistics by the same filter, and incidents without a value stay', async () => {
  const own = freshWorkspace(service);
  await own.define({ slug: 'kind', field_type: 'select', config: { options: ['drill', 'mistake', 'real'] } });
  await own.define({ slug: 'tags', field_type: 'multi_select', config: { options: ['drill', 'db'] } });
  for (const values of [
    { kind: 'drill', tags: ['db', 'drill'] },
    { kind: 'mistake' },
    { kind: 'real', tags: ['db'] },
    {},
  ])
    await own.declare(values);
  for (const [filter, count] of [
    [{ slug: 'kind', operator: 'is_not', value: ['drill', 'mistake'] }, 2],
    [{ slug: 'kind', operator: 'is', value: 'drill' }, 1],
    [{ slug: 'tags', operator: 'excludes', value: 'drill' }, 3],
    [{ slug: 'tags', operator: 'includes_any', value: 'db' }, 2],
  ] as const) {
    const query = `custom_filter=${encodeURIComponent(JSON.stringify(filter))}`;
    const { buckets } = await get(query, own);
    const counted = buckets.reduce((sum: number, { incidents }: { incidents: number }) => sum + incidents, 0);
    const { body } = await own.client.get(`/api/v1/incidents?include_counts=true&${query}`);
    expect([counted, body.incidents.length, body.collection_counts.matched]).toEqual([count, count, count]);
  }
});

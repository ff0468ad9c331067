import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { type Knex, openDatabase, query } from '@tocsin/postgres';
import type { Client } from '@tocsin/testing';
import { describeWithServers } from '@tocsin/testing/suites';
import pg from 'pg';
import { readsInVain } from '../../statements/plans.ts';
import { type Statement, recordStatements } from '../../statements/record-statements.ts';
import { startSystem, type System } from '../../systems/system.ts';

/**
 * PostgreSQL plans for rows of which it knows nothing, or something that is wrong by now, until it analyses the tables: after
 * a load that takes up to a minute. Lists must not depend on it.
 */
const INCIDENTS = 2_600;

/** What an index tells apart is read once for each key of a sort, of which the statement looks up a few at a time. */
const MOST_READ = 10 * INCIDENTS;

/** The columns of each field's values, as expressions of the incident's number `n`, and which incidents have one. */
const FIELDS = {
  text: {
    type: 'string',
    columns: { text_value: "'c' || n % 500", text_folded: "'c' || n % 500" },
    where: 'n % 3 > 0',
  },
  number: { type: 'number', columns: { number_value: 'n % 1000' }, where: 'n % 3 < 2' },
  flag: { type: 'boolean', columns: { boolean_value: 'n % 2 = 0' }, where: 'n % 5 > 0' },
  day: { type: 'date', columns: { date_value: "date '2020-01-01' + n" }, where: 'n % 4 > 0' },
  hour: {
    type: 'time',
    columns: { time_value: "case n % 3 when 1 then time '10:00' else time '11:00' end" },
    where: 'true',
  },
  moment: { type: 'datetime', columns: { moment_value: "timestamptz '2026-01-01'" }, where: 'n % 2 = 0' },
  cost: {
    type: 'monetary',
    columns: { currency: "(array['USD', 'EUR'])[1 + n % 2]", number_value: 'n % 50' },
    where: 'n % 3 > 0',
  },
  option: {
    type: 'select',
    columns: { text_value: "(array['x', 'y', 'z'])[1 + n % 3]", text_folded: "(array['x', 'y', 'z'])[1 + n % 3]" },
    where: 'n % 900 > 0',
  },
  options: {
    type: 'multi_select',
    columns: {
      text_value: "case n % 1300 when 1 then 'rare' else 'a' end",
      text_folded: "case n % 1300 when 1 then 'rare' else 'a' end",
      options: "array[case n % 1300 when 1 then 'rare' else 'a' end]",
      option_keys: "array[field_id || ' ' || case n % 1300 when 1 then 'rare' else 'a' end]",
    },
    where: 'n % 3 > 0',
  },
} as const;

type Slug = keyof typeof FIELDS;

const CONFIGS: Partial<Record<Slug, object>> = {
  option: { options: ['x', 'y', 'z'] },
  options: { options: ['a', 'b', 'rare'] },
};

const filter = (slug: Slug, operator: string, value: unknown): [string, string] => [
  'custom_filter',
  JSON.stringify({ slug, operator, value }),
];

/** Filters that many incidents meet, that few meet, and that none meets; by one field and by several. */
const FILTERS: [string, string][][] = [
  [],
  [['status', 'open']],
  [['service', 's5']],
  [['created_from', '2020-01-18T00:00:00Z']],
  [filter('number', 'eq', 7)],
  [filter('number', 'gt', 100)],
  [filter('text', 'starts_with', 'c49')],
  [filter('text', 'is', 'c1')],
  [filter('text', 'contains', '99')],
  [filter('text', 'contains', '99'), filter('flag', 'is', true)],
  [filter('flag', 'is', true)],
  [filter('flag', 'has_value', true)],
  [filter('options', 'has_value', true), filter('cost', 'has_value', false)],
  [filter('day', 'before', '0001-01-01')],
  [filter('day', 'before', '2020-05-01')],
  [filter('moment', 'after', '2025-01-01T00:00:00Z'), filter('hour', 'is', '11:00')],
  [filter('hour', 'is', '10:00'), filter('option', 'is', 'x')],
  [filter('option', 'is_not', ['x', 'y', 'z'])],
  [filter('options', 'excludes', ['a']), filter('option', 'is_not', 'x')],
  [filter('options', 'includes_any', ['rare']), filter('day', 'before', '0001-01-01')],
  [
    ['service', 's5'],
    ...[filter('options', 'excludes', ['b', 'rare']), filter('flag', 'is', false), filter('number', 'between', [0, 1])],
    ...[filter('options', 'includes_any', ['rare']), filter('cost', 'gt', { amount: -3, currency: 'USD' })],
  ],
  [['status', 'open'], filter('flag', 'is', true)],
  [['q', 't1'], filter('flag', 'is', true)],
];

const SORTS = [
  ...'created_at case events diagnosis impact_started_at service owner status severity team'
    .split(' ')
    .map((sort) => ({ sort })),
  ...Object.keys(FIELDS).map((slug) => ({ sort: 'custom', sort_custom_field: slug })),
];

describeWithServers('lists of tables that were filled since they were analysed', () => {
  let system: System;
  let client: Client;
  let administrator: pg.Client;
  let incident: Knex;
  let workspaceId: number;
  const ids = new Map<string, number>();
  /** Those that the lists send, once each; they do not depend on what PostgreSQL knows. */
  const lists = new Map<string, Statement>();

  beforeAll(async () => {
    system = await startSystem();
    administrator = new pg.Client({ connectionString: system.database.adminUrl });
    await administrator.connect();
    await administrator.query('set search_path to incident');
    for (const table of ['incidents', 'incident_values']) {
      // Itself, or its partitions.
      const stored = `select oid::regclass as name from pg_class left join pg_inherits on inhrelid = oid
        where relkind = 'r' and '${table}'::regclass in (oid, inhparent)`;
      const { rows: parts } = await administrator.query(stored);
      expect([1, 16]).toContain(parts.length);
      for (const { name } of parts) await administrator.query(`alter table ${name} set (autovacuum_enabled = false)`);
    }
    incident = openDatabase({
      ...{ url: system.database.url('incident'), schema: 'incident', application: 'test', poolSize: 1 },
    });
    client = await system.as({ role: 'owner' });
    for (const [slug, { type }] of Object.entries(FIELDS)) {
      const config = CONFIGS[slug as Slug];
      const body = { name: slug, slug, field_type: type, ...(config && { config }) };
      const { body: created } = await client.post('/api/v1/custom-fields', body);
      ids.set(slug, created.field.id);
    }
    const { rows } = await administrator.query('select workspace_id::integer as id from gateway.users');
    workspaceId = rows[0].id;
  });

  afterAll(async () => {
    await incident.destroy();
    await administrator.end();
    await system.stop();
  });

  /** A fast load, with no analysis after it. */
  async function fill(workspace: number, count: number): Promise<void> {
    await administrator.query(`
      insert into incidents (workspace_id, number, title, title_folded, severity, severity_mode, status, issue_type,
        customer_impact_status, created_at, created_by, service, service_folded)
      select ${workspace}, n, 't' || n, 't' || n, (array['sev1', 'sev2', 'sev3'])[1 + n % 3], 'manual',
        case when n % 1000 = 0 then 'open' when n % 20 = 0 then 'active' else 'resolved' end, 'incident', 'unknown',
        timestamptz '2020-01-01' + n * interval '10 minutes', '42', 's' || n % 50, 's' || n % 50
      from generate_series(1, ${count}) as n`);
    for (const [slug, { type, columns, where }] of Object.entries(FIELDS)) {
      await administrator.query(`
        insert into incident_values (workspace_id, incident_id, field_id, slug, field_type, value, updated_at, updated_by,
          ${Object.keys(columns).join(', ')})
        select workspace_id, id, field_id, '${slug}', '${type}', '"x"', now(), '42', ${Object.values(columns).join(', ')}
        from (
          select workspace_id, id, number::integer as n, ${ids.get(slug)}::bigint as field_id
          from incidents where workspace_id = ${workspace}) as i
        where ${where}`);
    }
  }

  /** Reads two pages of each list and its counts. */
  async function readLists(): Promise<void> {
    for (const filters of FILTERS) {
      for (const sort of SORTS) {
        for (const direction of ['asc', 'desc']) {
          const search = new URLSearchParams([...filters, ...Object.entries({ ...sort, direction, limit: '20' })]);
          if (direction === 'asc') search.set('include_counts', 'true');
          const first = await client.get(`/api/v1/incidents?${search.toString()}`);
          expect([search.toString(), first.status]).toEqual([search.toString(), 200]);
          if (first.body.next_cursor === undefined) continue;
          search.set('cursor', first.body.next_cursor);
          expect((await client.get(`/api/v1/incidents?${search.toString()}`)).status).toBe(200);
        }
      }
      const statistics = new URLSearchParams([
        ...filters.filter(([name]) => name !== 'created_from'),
        ['bucket', 'month'],
      ]);
      statistics.set('created_from', '2020-01-01T00:00:00Z');
      statistics.set('created_to', '2020-12-01T00:00:00Z');
      expect((await client.get(`/api/v1/incidents/statistics?${statistics.toString()}`)).status).toBe(200);
    }
  }

  test.each<[string, () => Promise<void>]>([
    ['never', async () => undefined],
    ['while they were empty', async () => void (await administrator.query('analyze incidents, incident_values'))],
    [
      'with a few rows of another workspace',
      async () => {
        await fill(workspaceId + 1, 5);
        await administrator.query('analyze incidents, incident_values');
      },
    ],
  ])('(%s) read little more than they show', async (_analysed, prepare) => {
    await administrator.query('truncate incidents restart identity cascade');
    await prepare();
    await fill(workspaceId, INCIDENTS);
    if (lists.size === 0)
      for (const statement of await recordStatements(readLists)) {
        const { text, role, values } = statement;
        if (role === 'tocsin_incident' && /^\s*(select|with)\b[^]*\bincident_values\b/.test(text))
          lists.set(JSON.stringify([text, values]), statement);
      }
    expect(lists.size).toBeGreaterThan(500);
    const violations = new Set<string>();
    for (const statement of lists.values()) {
      for (const node of await readsInVain(incident, statement, MOST_READ))
        violations.add(`${node}: ${statement.text.replaceAll(/\s+/g, ' ').trim()}`);
    }
    expect([...violations]).toEqual([]);
    // The plans were indeed made without statistics of these rows.
    const known = await query<{ rows: number }>(incident, {
      text: "select reltuples::integer as rows from pg_class where oid = 'incident_values'::regclass",
    });
    expect(known[0]?.rows).toBeLessThan(INCIDENTS);
  });
});

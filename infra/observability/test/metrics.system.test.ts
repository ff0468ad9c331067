import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { glob } from 'node:fs/promises';
import path from 'node:path';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { QUEUES, queueName } from '@tocsin/schemas';
import { eventually, startReceiver, testServers } from '@tocsin/testing';
import { describeWithProgram, describeWithServers } from '@tocsin/testing/suites';
import { connect } from 'amqplib';
import { APP_NAMES, type AppName } from '../../installation/apps.ts';
import { withClient } from '../../installation/databases.ts';
import { ROOT } from '../../installation/environment.ts';
import { addSamples, type Exported } from './exposition.ts';
import { readDashboard, readRules } from './observability.ts';
import { readExpression } from './promql.ts';
import { running, runningSystem } from '../../verification/systems/running.ts';

/** What Prometheus itself adds: to each target, and for each alarm. */
const OF_PROMETHEUS: readonly [string, Record<string, string[]>][] = [
  ['up', { job: ['tocsin'], instance: [], app: [...APP_NAMES] }],
  ['ALERTS', { alertname: readRules().alarms.map(({ alert }) => alert), alertstate: ['pending', 'firing'] }],
];
const TARGET_LABELS = ['job', 'instance'];

const expressions: (readonly [where: string, expr: string])[] = [
  ...[...readRules().recorded].map(([name, expr]) => [name, expr] as const),
  ...readRules().alarms.map(({ alert, expr }) => [alert, expr] as const),
  ...readDashboard().panels.flatMap(({ title, targets = [] }) =>
    targets.map(({ expr, refId }) => [`panel ${title}, ${refId}`, expr] as const),
  ),
];

describeWithServers('the metrics of the running apps', () => {
  const exported: Exported = new Map();
  const receiver = running(startReceiver);
  const system = runningSystem(() => ({ receivers: [receiver], firstRunWithin: 100 }));
  /** All string literals of the sources, for values of labels that only appear when something is broken. */
  let sources = '';

  async function scrapeOne(name: AppName): Promise<string> {
    const response = await fetch(`${system.internalUrl(name)}/metrics`);
    expect(response.status).toBe(200);
    return response.text();
  }

  beforeAll(async () => {
    const client = await system.as();
    const { body } = await client.post('/api/v1/settings/webhooks', { url: receiver.url() });
    await client.post(`/api/v1/settings/webhooks/${body.webhook.id}/verify`);
    const { status } = await client.post('/api/v1/incidents', { title: 'Down' });
    expect(status).toBe(201);

    const limited = await system.as({ workspace: 'limited' });
    await system.admin('workspace', 'set', '--slug', 'limited', '--rate-limit', '1');
    await eventually(async () => (await limited.get('/api/v1/incidents')).status === 429, { what: 'a refusal' });

    const scrape = async () => (await Promise.all(APP_NAMES.map(scrapeOne))).join('\n');
    // The last ones to appear: the first delivery, and the first run of each task.
    const text = await eventually(
      async () => {
        const now = await scrape();
        const isComplete =
          /^tocsin_webhook_delivery_delay_seconds_count\S* [1-9]/m.test(now) &&
          now.includes('tocsin_webhook_undecryptable_values{') &&
          now.includes('tocsin_oidc_unopened_secrets{');
        return isComplete && now;
      },
      { what: 'a delivery' },
    );
    addSamples(exported, text);

    // The metric that reports others appears with the first one that cannot be collected.
    await withClient(system.database.adminUrl, async (administrator) => {
      await administrator.query('alter table custom_field.outbox rename to away');
      addSamples(exported, await scrape());
      await administrator.query('alter table custom_field.away rename to outbox');
    });

    for await (const file of glob('{gateway,services/*,shared/*}/src/**/*.ts', { cwd: ROOT })) {
      sources += readFileSync(path.join(ROOT, file), 'utf8');
    }
  });
  /** The labels of a metric and their known values; `undefined` if nothing has this name. */
  function labelsOf(metric: string): Map<string, Set<string>> | undefined {
    const ofPrometheus = OF_PROMETHEUS.find(([name]) => name === metric)?.[1];
    if (ofPrometheus !== undefined) {
      return new Map(Object.entries(ofPrometheus).map(([label, values]) => [label, new Set(values)]));
    }
    const recorded = readRules().recorded.get(metric);
    if (recorded !== undefined) {
      const { groupingLabels } = readExpression(recorded);
      return new Map(groupingLabels.map((label) => [label, new Set<string>()]));
    }
    const own = exported.get(metric);
    return own && new Map([...own, ...TARGET_LABELS.map((label) => [label, new Set<string>()] as const)]);
  }

  /** Whether a label can have a value: it was exported, it is an HTTP status, or the sources have it as a literal. */
  function isPossible(label: string, values: ReadonlySet<string>, value: string): boolean {
    if (values.has(value) || (label === 'status' && /^[2-5]\d\d$/.test(value))) return true;
    return sources.includes(`'${value}'`);
  }

  function problemsOf(expr: string): string[] {
    const { selectors, groupingLabels } = readExpression(expr);
    const known = new Set<string>();
    const problems: string[] = [];
    for (const { metric, matchers } of selectors) {
      const labels = labelsOf(metric);
      if (labels === undefined) {
        problems.push(`no app exports ${metric}`);
        continue;
      }
      for (const label of labels.keys()) known.add(label);
      for (const { label, operator, value } of matchers) {
        const values = labels.get(label);
        if (values === undefined) problems.push(`${metric} has no label ${label}`);
        // A variable of the dashboard.
        else if (value.startsWith('$')) continue;
        else if (operator.endsWith('~') && /[.*+?[\]()\\]/.test(value)) {
          const pattern = new RegExp(`^(?:${value})$`);
          const candidates = label === 'status' ? ['200', '404', '429', '500', '503'] : [...values];
          if (!candidates.some((candidate) => pattern.test(candidate))) {
            problems.push(`${metric}: no value of ${label} matches ${value}`);
          }
        } else {
          for (const one of operator.endsWith('~') ? value.split('|') : [value]) {
            if (!isPossible(label, values, one)) problems.push(`${metric}: ${label} is never ${one}`);
          }
        }
      }
    }
    for (const label of groupingLabels) if (!known.has(label)) problems.push(`no metric has the label ${label}`);
    return problems;
  }

  test('a dead letter, and a database that refuses a process, are seen', async () => {
    const connection = await connect(testServers().amqpUrl ?? '');
    const channel = await connection.createConfirmChannel();
    channel.sendToQueue(queueName(system.namespace, QUEUES.incidentReports), Buffer.from('not an event'));
    await channel.waitForConfirms();
    await connection.close();
    const metricsOf = async (name: AppName) => (await fetch(`${system.internalUrl(name)}/metrics`)).text();
    const seen = async (name: AppName, line: RegExp) =>
      eventually(async () => line.test(await metricsOf(name)), { what: String(line) });
    await seen('incident', /^tocsin_dead_letters_waiting\{queue="incident.feeds",app="incident"\} 1$/m);
    await seen('incident', /^tocsin_messages_consumed_total\{queue="incident.feeds",outcome="malformed",\S+ 1$/m);
    await seen('catalog', /^tocsin_dependency_up\{dependency="database",app="catalog"\} 1$/m);

    // The role may not connect any more, to this database only.
    await withClient(system.database.adminUrl, async (administrator) => {
      const { rows } = await administrator.query<{ name: string }>('select current_database() as name');
      const database = rows[0]?.name ?? '';
      await administrator.query(`revoke connect on database ${database} from public, tocsin_catalog`);
      await administrator.query(`select pg_terminate_backend(pid) from pg_stat_activity
        where datname = current_database() and application_name like 'tocsin-catalog%'`);
      await seen('catalog', /^tocsin_dependency_up\{dependency="database",app="catalog"\} 0$/m);
      await seen('catalog', /^tocsin_consumer_active\{queue="catalog.replicas",app="catalog"\} 1$/m);
      await administrator.query(`grant connect on database ${database} to tocsin_catalog`);
    });
    await seen('catalog', /^tocsin_dependency_up\{dependency="database",app="catalog"\} 1$/m);
  });

  test('the check itself finds mistakes', () => {
    expect(problemsOf('sum(tocsin_database_waitin)')).toEqual(['no app exports tocsin_database_waitin']);
    expect(problemsOf('sum by (tenant) (tocsin_database_waiting)')).toEqual(['no metric has the label tenant']);
    expect(problemsOf('tocsin_database_refused_total{reason="pol"}')).toEqual([
      'tocsin_database_refused_total: reason is never pol',
    ]);
    expect(problemsOf('tocsin_dependency_up{name="x"}')).toEqual(['tocsin_dependency_up has no label name']);
    expect(() => problemsOf('sum(tocsin_database_waiting')).toThrow('not PromQL');
  });

  test.each(expressions)('%s reads metrics that exist, with labels and values that exist', (_where, expr) => {
    expect(problemsOf(expr)).toEqual([]);
  });

  describeWithProgram('promtool')('their names and labels, according to promtool', () => {
    test.each(APP_NAMES)('%s', async (name) => {
      const input = await scrapeOne(name);
      const { stdout, stderr } = spawnSync('promtool', ['check', 'metrics'], { input, encoding: 'utf8' });
      expect(`${stdout}${stderr}`).toBe('');
    });
  });

  describe('each of our own', () => {
    const base = (series: string) => series.replace(/_(?:bucket|sum|count)$/, '');
    const own = () => [...new Set([...exported.keys()].filter((name) => name.startsWith('tocsin_')).map(base))];

    test('is in the table of the guide, which has no other', () => {
      const guide = readFileSync(path.join(ROOT, 'docs/guides/operations-reference.md'), 'utf8');
      const documented = [...guide.matchAll(/^\| `(tocsin_\w+)`/gm)].map(([, name = '']) => name);
      expect(own().toSorted()).toEqual(documented.toSorted());
    });

    test("names no tenant: no label has a workspace's name or ID", () => {
      const names = new Set<string>();
      for (const [series, labels] of exported) {
        if (!series.startsWith('tocsin_')) continue;
        for (const [label, values] of labels) {
          expect([series, label]).not.toEqual([
            series,
            expect.stringMatching(/workspace(?!_class)|tenant|host|url|key/),
          ]);
          for (const value of values) names.add(value);
        }
      }
      expect(names.has('acme')).toBe(false);
    });
  });
});

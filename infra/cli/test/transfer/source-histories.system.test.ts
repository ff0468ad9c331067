import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { beforeAll, expect, test } from '@jest/globals';
import { createTestDatabase, eventually, type TestDatabase } from '@tocsin/testing';
import { describeWithServers } from '@tocsin/testing/suites';
import { createPast, MANY, PEOPLE, TEAMS } from '../../../verification/sources/data.ts';
import { fillDispatch } from '../../../verification/sources/dispatch.ts';
import type { FakeApi } from '../../../verification/sources/fake-api.ts';
import { OPSGENIE_ENV, startOpsgenie } from '../../../verification/sources/opsgenie.ts';
import { PAGERDUTY_ENV, startPagerDuty } from '../../../verification/sources/pagerduty.ts';
import { runHere } from '../run-here.ts';
import { startTocsin, type TocsinSettings } from '../tocsin-command.ts';
import { running, runningSystem, temporaryFolder } from '../../../verification/systems/running.ts';

/** Incidents of each source; with a size of one's own, what the commands print is shown. */
const { TOCSIN_TEST_HISTORY: OWN_SIZE } = process.env;
const SIZE = Number(OWN_SIZE ?? 120);
const past = createPast(SIZE);
const MINUTES = 60_000;

describeWithServers('a history that moves', () => {
  const system = runningSystem(() => ({ settings: { DEFAULT_WORKSPACE: 'acme' } }));
  const client = running(async () => system.as());
  const folder = temporaryFolder();
  beforeAll(async () => {
    // Some people are here under the address that they have there, in another case of letters.
    for (const { email, name } of PEOPLE.slice(0, 6))
      await client.post('/api/v1/settings/users', { name, email: email.replace('person', 'Person'), role: 'member' });
    await client.post('/api/v1/teams', { name: TEAMS[0] });
    const options = [0, 1, 2, 3].map((number) => `cause-${number}`);
    await client.post('/api/v1/custom-fields', { name: 'Cause', field_type: 'multi_select', config: { options } });
    const fields = {
      Urgency: 'string',
      Alerts: 'number',
      Score: 'number',
      Paged: 'boolean',
      Remark: 'string',
      Tasks: 'number',
    };
    for (const [name, field_type] of Object.entries({ ...fields, Owner: 'string', Costs: 'number' }))
      await client.post('/api/v1/custom-fields', { name, field_type });
    // A label that is the key of another one.
    const { configuration } = (await client.get('/api/v1/settings/configuration')).body;
    for (const status of configuration.workflow_statuses) {
      if (status.key === 'active') status.label = 'In work';
      else if (status.key === 'on-hold') status.label = 'Active';
    }
    const revision = { 'If-Service-Resource-Version': String(configuration.revision) };
    expect((await client.put('/api/v1/settings/configuration', configuration, revision)).status).toBe(200);
  });

  /** Fetches with the faults of an API; the command is killed in the middle, and starts again. */
  async function fetchInTwo(start: () => Promise<FakeApi>, source: string, env: TocsinSettings) {
    const api = await start();
    try {
      const args = [
        'import',
        source,
        'fetch',
        path.join(folder.path, source),
        '--url',
        api.url,
        '--since',
        '2020-01-01',
      ];
      const first = startTocsin(env, args);
      await eventually(() => api.counts.requests > 60);
      first.kill('SIGKILL');
      await once(first, 'close');
      const { answers, fetched } = await run(env, ...args.slice(1));
      expect(fetched).toBeLessThan(answers);
      expect(api.counts).toMatchObject({ writes: 0, cut: expect.any(Number) });
      expect(Math.min(api.counts.cut, api.counts.refused, api.counts.failed)).toBeGreaterThan(0);
      expect(await run(env, ...args.slice(1))).toMatchObject({ incidents: answersOf(source), fetched: 0 });
    } finally {
      await api.stop();
    }
  }
  // Opsgenie has deleted one meanwhile.
  const answersOf = (source: string) => (source === 'opsgenie' ? SIZE - 1 : SIZE);

  const show = (args: readonly string[], text: string) => {
    if (OWN_SIZE !== undefined)
      process.stdout.write(`$ tocsin ${args.join(' ').replaceAll(folder.path, '.')}\n${text}\n`);
  };

  async function run(env: TocsinSettings, ...args: string[]) {
    const started = Date.now();
    const { code, stdout, stderr } = await runHere(env, ['import', ...args]);
    show(['import', ...args], `${stdout.slice(0, 3_000)}${stderr}(exit ${code}, ${(Date.now() - started) / 1_000} s)`);
    expect([args, code, stderr.replaceAll(/^\d+ incidents\n|^.*waiting for.*\n/gm, '')]).toEqual([args, 0, '']);
    return JSON.parse(stdout);
  }

  /** The steps after the fetch. @param open what nothing says the meaning of */
  async function move(
    source: string,
    { severities, open }: { severities: Record<string, string>; open: readonly string[] },
  ) {
    const env = { TOCSIN_URL: system.url, TOCSIN_TOKEN: client.token, TOCSIN_CONFIG_DIR: folder.path };
    const files = path.join(folder.path, source);
    const mapping = path.join(folder.path, `${source}.json`);
    const args = ['import', source, 'plan', files, '--propose', mapping];
    const unmapped = await runHere(env, args);
    show(args, `${unmapped.stdout.slice(0, 6_000)}${unmapped.stderr}(exit ${unmapped.code})`);
    expect(unmapped).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('names are lost or have no counterpart'),
    });
    const { findings, refused } = JSON.parse(unmapped.stdout);
    const lost = findings.filter(({ decided }: { decided: boolean }) => !decided);
    const named = (lost as { kind: string; name: string }[]).map(({ kind, name }) => `${kind} ${name}`);
    expect(named).toEqual(expect.arrayContaining([...open]));
    expect(new Set(refused.map(({ field }: { field: string }) => field))).toEqual(new Set(['severity']));

    const proposed = JSON.parse(await readFile(mapping, 'utf8'));
    await writeFile(mapping, JSON.stringify({ ...proposed, severities }));
    const step = async (verb: string, ...more: string[]) =>
      run(env, source, verb, files, '--mapping', mapping, ...more);
    const count = answersOf(source);
    const nothing = { created: 0, updated: 0, unchanged: 0, refused: 0 };
    expect(await step('plan')).toMatchObject({ outcomes: { ...nothing, created: count }, refused: [] });
    expect(await step('apply')).toMatchObject({ ...nothing, created: count });
    expect(await step('apply')).toMatchObject({ ...nothing, unchanged: count });
    const counts = { expected: count, actual: count, compared: count, differences: [] };
    expect(await step('reconcile', '--sample', '10000')).toEqual(counts);
  }

  const find = async (id: string) =>
    (await client.get(`/api/v1/incidents?external_id=${encodeURIComponent(id)}`)).body.incidents[0];

  test(
    'moves from PagerDuty',
    async () => {
      await fetchInTwo(async () => startPagerDuty(past, 200), 'pagerduty', PAGERDUTY_ENV);
      const open = [
        'severity P0',
        'severity none',
        'team Search',
        'person Person K',
        'field incident_key',
        'field custom_fields.number',
      ];
      await move('pagerduty', { severities: { P0: 'sev1', P5: 'sev4', none: 'sev4' }, open });
      expect(await find('pagerduty:Q000005')).toMatchObject({ event_count: MANY + 1, status: 'resolved' });
      expect(await find('pagerduty:Q000007')).toMatchObject({ title: 'PagerDuty Q000007' });
      expect(await find('pagerduty:Q000020')).toMatchObject({ status: 'open', severity: 'sev1' });
      expect(await find('pagerduty:Q000021')).toMatchObject({
        status: 'active',
        custom_fields: { score: 0, paged: false, remark: '', owner: '{"team":"a"}', alerts: 0 },
      });
    },
    30 * MINUTES,
  );

  test(
    'moves from Opsgenie',
    async () => {
      await fetchInTwo(async () => startOpsgenie(past, 200), 'opsgenie', OPSGENIE_ENV);
      const open = [
        'severity P0',
        'severity none',
        'team Search',
        'person person-10@old.example',
        'field tags',
        'field region',
        'field extraProperties.tags',
      ];
      await move('opsgenie', { severities: { P0: 'sev1', P5: 'sev4', none: 'sev4' }, open });
      const many = await find('opsgenie:00000000-0000-4000-8000-000000000005');
      expect(many).toMatchObject({
        event_count: MANY + 1 + 4,
        status: 'closed',
        impact_started_at: past[5]?.createdAt.toISOString(),
        custom_fields: { score: 0, paged: false, remark: '', owner: '{"team":"a"}' },
      });
    },
    30 * MINUTES,
  );

  test(
    'moves from a database of Dispatch',
    async () => {
      const database: TestDatabase = await createTestDatabase();
      try {
        await fillDispatch(database.adminUrl, past);
        const env = { DISPATCH_DATABASE_URL: database.adminUrl };
        const args = ['dispatch', 'fetch', path.join(folder.path, 'dispatch'), '--organization', 'acme'];
        expect(await run(env, ...args)).toMatchObject({ incidents: SIZE });
        expect(await run(env, ...args)).toMatchObject({ incidents: SIZE, fetched: 0 });
      } finally {
        await database.drop();
      }
      const open = ['severity Undetermined', 'severity none', 'person Person K', 'field visibility', 'field tags.name'];
      const others = ['other end of an entry before its start'];
      await move('dispatch', { severities: { Undetermined: 'sev4', none: 'sev4' }, open: [...open, ...others] });
      expect(await find('dispatch:6')).toMatchObject({
        ...{ event_count: MANY + 2, status: 'closed', custom_fields: { tasks: 0, costs: 0 } },
      });
      expect(await find('dispatch:22')).toMatchObject({ status: 'monitoring' });
    },
    30 * MINUTES,
  );
});

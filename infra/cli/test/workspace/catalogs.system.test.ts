import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { beforeAll, expect, test } from '@jest/globals';
import { describeWithServers } from '@tocsin/testing/suites';
import { parse } from 'yaml';
import { ROOT } from '../../../installation/environment.ts';
import { runHere } from '../run-here.ts';
import { runningSystem, temporaryFolder } from '../../../verification/systems/running.ts';

const CATALOG = path.join(import.meta.dirname, 'backstage-catalog');

describeWithServers('the workspace from catalogs', () => {
  const system = runningSystem(() => ({ settings: { DEFAULT_WORKSPACE: 'acme' } }));
  const folder = temporaryFolder();
  let settings: Record<string, string>;
  beforeAll(async () => {
    const { token } = await system.as();
    settings = { TOCSIN_CONFIG_DIR: folder.path, TOCSIN_URL: system.url, TOCSIN_TOKEN: token };
  });
  const run = async (...args: string[]) => runHere(settings, args);
  const json = async (...args: string[]) => JSON.parse((await run(...args)).stdout);

  test('a catalog of Backstage is planned and applied, and then there is nothing to do', async () => {
    const planned = await run('plan', '--from', 'backstage', CATALOG);
    const without = expect.stringMatching(/^left out: .*\.yaml:\d+:1: API search-api: has no place in a workspace$/m);
    expect(planned).toMatchObject({ code: 2, stderr: without });
    expect(planned.stdout).toContain('track_search');
    const applied = await run('apply', '--from', 'backstage', CATALOG, '--yes');
    expect(applied).toMatchObject({ code: 0, stdout: expect.stringMatching(/^created/m) });
    const again = await run('plan', '--from', 'backstage', CATALOG);
    expect(again).toMatchObject({ code: 0, stdout: 'no differences\n' });

    const { service } = await json('services', 'get', 'track_search');
    expect(service).toMatchObject({
      ...{ name: 'Track search', owner_team_slug: 'team_search', observability_names: ['track-search', 'tracks'] },
      tags: ['java', 'data', 'type:service', 'lifecycle:production', 'system:listening'],
    });
    const { team } = await json('teams', 'get', 'infrastructure');
    expect((await json('teams', 'get', 'platform')).team.parent_team_id).toBe(team.id);
    const emails = (await json('teams', 'list-members', 'platform')).map(({ email }: { email: string }) => email);
    expect(emails.toSorted()).toEqual(['ada@radio.example', 'bo@radio.example']);
  });

  test('what cannot be read is left out and never archived, and an owner may be elsewhere', async () => {
    const file = path.join(folder.path, 'catalog.yaml');
    const entity = (name: string, spec: string) =>
      `apiVersion: backstage.io/v1alpha1\nkind: Component\nmetadata: { name: ${name} }\nspec: { ${spec} }\n---\n`;
    const plan = async (...flags: string[]) => run('plan', '--from', 'backstage', file, ...flags);
    await writeFile(file, entity('one', 'owner: nobody') + entity('two', 'type: service'));
    const applied = await run('apply', '--from', 'backstage', file, '--yes');
    expect(applied).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('created service one\n'),
      stderr: expect.stringMatching(/^left out: .*catalog\.yaml:1:1: owner_team: There is no team nobody\n$/),
    });
    expect((await plan('--prune', 'services')).stdout).not.toMatch(/archive service (?:one|two)$/m);

    await writeFile(file, entity('one', 'type: [service]') + entity('two', 'type: service'));
    expect(await plan()).toMatchObject({
      ...{ code: 0, stdout: 'no differences\n' },
      stderr: expect.stringMatching(/^left out: .*catalog\.yaml:4:15: Component one: spec\.type: .*array\n$/),
    });
    expect(await plan('--prune', 'teams,services')).toMatchObject({
      ...{ code: 1, stdout: '' },
      stderr: expect.stringContaining('error: --prune services: what is ignored or left out may have some of them'),
    });
  });

  test('thirty services of a table are made once, and what is wrong changes nothing', async () => {
    const file = path.join(folder.path, 'services.csv');
    const rows = Array.from({ length: 30 }, (_, index) => `Store ${index + 1},platform,"shop,retail",Berlin`);
    await writeFile(file, ['name,owner_team,tags,city', ...rows].join('\n'));
    const applied = await run('apply', '--from', 'csv', file, '--yes');
    expect(applied).toMatchObject({ code: 0, stderr: 'ignored: column city (1)\n' });
    const again = await run('plan', '--from', 'csv', file);
    expect(again).toMatchObject({ code: 0, stdout: 'no differences\n' });
    expect(await json('services', 'list', '--owner-team', 'platform', '--q', 'Store', '--all')).toHaveLength(30);

    await writeFile(file, 'name,owner_team,tier\nStore 1,nobody,t1\nStore 2,platform,\nStore 2,,\n');
    const twice = { code: 1, stderr: expect.stringMatching(/services\.csv:4: has the same slug store_2 as .*:3\n/) };
    expect(await run('apply', '--from', 'csv', file, '--yes')).toMatchObject(twice);
    await writeFile(file, 'name,owner_team\nStore 1,nobody\n');
    const unknown = { code: 1, stderr: expect.stringMatching(/services\.csv:2: owner_team: .*nobody/) };
    expect(await run('apply', '--from', 'csv', file, '--yes')).toMatchObject(unknown);
    expect(await run('plan', '--from', 'yaml', file)).toMatchObject({ code: 2, stdout: '' });
  });

  test('the jobs of the guide plan, apply and find drift', async () => {
    const read = async (name: string) =>
      parse(await readFile(path.join(ROOT, 'docs/guides/examples', `gitops-${name}.yaml`), 'utf8'));
    const { token } = await system.as({ role: 'viewer', seat: 'none', scopes: ['services:read', 'teams:read'] });
    const { jobs } = await read('github');
    const step = (job: { steps: { name?: string; run?: string }[] }, name: string) =>
      job.steps.find((each) => each.name === name)?.run ?? '';
    const { spec } = (await read('drift')).spec.jobTemplate.spec.template;
    const drift: string[] = spec.containers[0].command;
    const [gitlab] = (await read('gitlab')).plan.script;
    const work = path.join(folder.path, 'repository');
    const summary = path.join(work, 'summary.md');
    await mkdir(path.join(work, 'tocsin'), { recursive: true });
    const runJob = async (own: object, command: readonly string[]) => {
      const [program = '', ...args] = command;
      const PATH = `${path.join(ROOT, 'node_modules/.bin')}:${process.env['PATH']}`;
      const env = { ...settings, ...own, PATH, GITHUB_STEP_SUMMARY: summary, RUNNER_TEMP: work };
      const child = spawn(program, args, { cwd: work, env });
      const [stdout] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')]);
      return [child.exitCode, stdout];
    };
    // Those that plan have the token that reads.
    const job = async (...command: string[]) => runJob({ TOCSIN_TOKEN: token }, command);
    const github = async (script: string) => job('bash', '-e', '-c', script);
    const write = async (name: string) =>
      writeFile(path.join(work, 'tocsin/services.yaml'), `services: [{ slug: radio, name: ${name} }]\n`);

    await write('Radio');
    const planned = [0, expect.stringContaining('radio')];
    expect(await github(step(jobs.plan, 'plan'))).toEqual(planned);
    expect(await readFile(summary, 'utf8')).toContain('radio');
    expect(await job('sh', '-e', '-c', gitlab)).toEqual([2, expect.stringContaining('radio')]);
    expect(await runJob({}, ['bash', '-e', '-c', step(jobs.apply, 'apply')])).toEqual([
      0,
      expect.stringContaining('created'),
    ]);
    expect(await job(...drift)).toEqual([0, 'no differences\n']);
    await run('services', 'update', 'radio', '--name', 'Changed by hand');
    expect(await job(...drift)).toEqual([2, expect.stringContaining('Changed by hand')]);

    await rm(path.join(work, 'plan.json'));
    await writeFile(path.join(work, 'tocsin/services.yaml'), 'services: [{ slug: radio, nmae: Radio }]\n');
    expect((await github(step(jobs.plan, 'plan')))[0]).toBe(1);
    expect((await job(...drift))[0]).toBe(1);
    expect((await github(step(jobs.plan, 'plan').replace('--out', '--uot')))[0]).toBe(2);
  });
});

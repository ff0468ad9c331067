import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { beforeAll, expect, test } from '@jest/globals';
import { describeWithServers } from '@tocsin/testing/suites';
import { parse } from 'yaml';
import { ROOT } from '../environment.ts';
import { runTocsin } from './tocsin-command.ts';
import { runningSystem, temporaryFolder } from './running.ts';

const CATALOG = path.join(import.meta.dirname, 'workspace/backstage-catalog');

describeWithServers('the workspace from other sources', () => {
  const system = runningSystem(() => ({ settings: { DEFAULT_WORKSPACE: 'acme' } }));
  const folder = temporaryFolder();
  let settings: Record<string, string>;
  beforeAll(async () => {
    const { token } = await system.as();
    settings = { TOCSIN_CONFIG_DIR: folder.path, TOCSIN_URL: system.url, TOCSIN_TOKEN: token };
  });
  const run = async (...args: string[]) => runTocsin(settings, args);
  const json = async (...args: string[]) => JSON.parse((await run(...args)).stdout);

  test('a catalog of Backstage is planned and applied, and then there is nothing to do', async () => {
    const planned = await run('plan', '--from', 'backstage', CATALOG);
    expect(planned).toMatchObject({ code: 2, stderr: expect.stringContaining('ignored: API (1)\n') });
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
    const { jobs } = await read('github');
    const step = (job: { steps: { name?: string; run?: string }[] }, name: string) =>
      job.steps.find((each) => each.name === name)?.run ?? '';
    const { spec } = (await read('drift')).spec.jobTemplate.spec.template;
    const [shell, flag, drift] = spec.containers[0].command;
    const [gitlab] = (await read('gitlab')).plan.script;
    const work = path.join(folder.path, 'repository');
    const summary = path.join(work, 'summary.md');
    await mkdir(path.join(work, 'tocsin'), { recursive: true });
    const job = async (...command: string[]) => {
      const [program = '', ...args] = command;
      const PATH = `${path.join(ROOT, 'node_modules/.bin')}:${process.env['PATH']}`;
      const child = spawn(program, args, { cwd: work, env: { ...settings, PATH, GITHUB_STEP_SUMMARY: summary } });
      const [stdout] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')]);
      return [child.exitCode, stdout];
    };
    const github = async (script: string) => job('bash', '-e', '-c', script);
    const write = async (name: string) =>
      writeFile(path.join(work, 'tocsin/services.yaml'), `services: [{ slug: radio, name: ${name} }]\n`);

    await write('Radio');
    const planned = [0, expect.stringContaining('radio')];
    expect(await github(step(jobs.plan, 'plan'))).toEqual(planned);
    expect(await readFile(summary, 'utf8')).toContain('radio');
    expect(await job('sh', '-e', '-c', gitlab)).toEqual([2, expect.stringContaining('radio')]);
    expect(await github(step(jobs.apply, 'apply'))).toEqual([0, expect.stringContaining('created')]);
    expect(await job(shell, flag, drift)).toEqual([0, 'no differences\n']);
    await run('services', 'update', 'radio', '--name', 'Changed by hand');
    expect(await job(shell, flag, drift)).toEqual([2, expect.stringContaining('Changed by hand')]);

    await rm(path.join(work, 'plan.json'));
    await writeFile(path.join(work, 'tocsin/services.yaml'), 'services: [{ slug: radio, nmae: Radio }]\n');
    expect((await github(step(jobs.plan, 'plan')))[0]).toBe(1);
    expect((await job(shell, flag, drift))[0]).toBe(1);
    expect((await github(step(jobs.plan, 'plan').replace('--out', '--uot')))[0]).toBe(2);
  });
});

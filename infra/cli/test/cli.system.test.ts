import { spawn } from 'node:child_process';
import { readFile, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { once } from 'node:events';
import { text as readAll } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';
import { beforeAll, expect, test } from '@jest/globals';
import { reservePorts } from '@tocsin/testing';
import { describeWithServers } from '@tocsin/testing/suites';
import { ROOT } from '../../installation/environment.ts';
import { runHere } from './run-here.ts';
import { runTocsin, startTocsin, type TocsinSettings } from './tocsin-command.ts';
import { runningSystem, temporaryFolder } from '../../verification/systems/running.ts';

describeWithServers('the command tocsin', () => {
  const system = runningSystem(() => ({ settings: { DEFAULT_WORKSPACE: 'acme' } }));
  const folder = temporaryFolder();
  let token: string;
  let settings: TocsinSettings;
  beforeAll(async () => {
    ({ token } = await system.as());
    settings = { TOCSIN_CONFIG_DIR: folder.path, TOCSIN_URL: system.url, TOCSIN_TOKEN: token };
  });

  const run = async (...args: string[]) => runHere(settings, args);
  const done = async (...args: string[]) => {
    const finished = await run(...args);
    expect(finished).toMatchObject({ code: 0 });
    return finished;
  };
  const json = async (...args: string[]) => JSON.parse((await done(...args)).stdout);

  test('goes from the login to a resolved incident', async () => {
    const own = { TOCSIN_CONFIG_DIR: path.join(folder.path, 'own') };
    const loggedIn = await runTocsin(own, ['login', '--url', system.url], `${token}\n`);
    expect(loggedIn).toMatchObject({ code: 0, stderr: expect.stringContaining('the context is acme') });
    const file = path.join(folder.path, 'own/contexts.json');
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    expect((await stat(path.dirname(file))).mode & 0o777).toBe(0o700);
    expect(JSON.parse(await readFile(file, 'utf8'))).toEqual({
      current: 'acme',
      contexts: { acme: { url: system.url, token } },
    });
    const as = async (...args: string[]) => {
      const { code, stdout, stderr } = await runTocsin(own, args);
      expect([code, stderr]).toEqual([0, '']);
      return JSON.parse(stdout);
    };
    expect((await as('whoami')).workspace.slug).toBe('acme');
    const { incident } = await as('incidents', 'declare', '--title', '404', '--regions', 'eu', '--regions', 'us');
    expect(incident).toMatchObject({ title: '404', regions: ['eu', 'us'] });
    await as('timeline', 'add', incident.human_id, '--body', 'Looking', '--is-key', 'true');
    const changed = await as('incidents', 'update', incident.human_id, '--status', 'monitoring', '--team-id', 'null');
    expect(changed.incident).toMatchObject({ id: incident.id, status: 'monitoring', team_id: null });
    const resolved = await as('incidents', 'resolve', String(incident.id), '--resolution-note', 'Rolled back');
    expect(resolved.incident.status).toBe('resolved');
    const past = await runTocsin(own, ['incidents', 'get', incident.human_id, '--at-revision', '1']);
    expect(past.stderr).toContain('not recorded, so not as it was then: status_changed_at, ');
    expect(JSON.parse(past.stdout).incident).toMatchObject({ status: incident.status, revision: 1 });
    expect((await as('timeline', 'list', incident.human_id)).map(({ body }: { body: string }) => body)).toEqual(
      expect.arrayContaining(['Looking', 'Rolled back']),
    );
    const { stdout: document } = await runTocsin(own, ['incidents', 'postmortem', incident.human_id]);
    expect(document).toMatch(
      new RegExp(`^# ${incident.human_id}: 404\n\n- Status: Resolved\n[^]*\n  Looking\n[^]*UTC\\.\n$`),
    );
    const { postmortem } = await as('incidents', 'postmortem', incident.human_id, '--json');
    expect(postmortem).toMatchObject({ incident_id: incident.id, title: '404', left_out: null });
    await as('incidents', 'create-postmortem', incident.human_id);
    const sections = path.join(folder.path, 'sections.json');
    await writeFile(sections, JSON.stringify({ sections: [{ key: 'a', title: 'Why', body: 'It was the *pool*' }] }));
    const writing = [
      'incidents',
      'update-postmortem',
      incident.human_id,
      '--data',
      `@${sections}`,
      '--state',
      'published',
    ];
    expect((await as(...writing)).document).toMatchObject({ revision: 2, state: 'published' });
    expect(await as('incidents', 'list-postmortem-revisions', incident.human_id)).toMatchObject([{ revision: 1 }]);
    const { stdout: page } = await runTocsin(own, ['incidents', 'postmortem', incident.human_id, '--html']);
    expect(page).toMatch(/^<!doctype html>[^]*<h2>Why<\/h2>\n<p>It was the <em>pool<\/em><\/p>/);
    const elsewhere = await runTocsin({ ...own, TOCSIN_URL: 'http://127.0.0.1:1' }, ['whoami']);
    expect(elsewhere).toMatchObject({ code: 2, stderr: expect.stringContaining('TOCSIN_TOKEN is not') });
    expect(await runTocsin(own, ['logout'])).toMatchObject({ code: 0 });
    expect(await runTocsin(own, ['whoami'])).toMatchObject({ code: 2 });
  });

  test('takes an incident from its alert to its post-mortem, by the commands of the guide', async () => {
    const ofShop = ['--workspace', 'shop'];
    const ana = ['--email', 'ana@example.com', '--name', 'Ana', '--role', 'admin', '--seat', 'responder'];
    await system.admin('workspace', 'create', '--slug', 'shop', '--name', 'Shop');
    await system.admin('user', 'create', ...ofShop, ...ana);
    const key = async (name: string, ...scopes: string[]) =>
      (await system.admin('key', 'create', ...ofShop, '--user', 'ana@example.com', '--name', name, ...scopes)).token;
    const ofAna = await key('laptop', '--all-scopes');
    const ofMonitor = await key('Checkout probe', '--scope', 'alerts:write');
    const child = spawn('sh', ['-e', path.join(ROOT, 'docs/guides/examples/incident.sh')], {
      cwd: folder.path,
      env: {
        PATH: `${path.join(ROOT, 'node_modules/.bin')}:${process.env['PATH']}`,
        ...{ TOCSIN_CONFIG_DIR: folder.path, TOCSIN_TOKEN: ofAna, MONITOR_TOKEN: ofMonitor },
        TOCSIN_URL: system.url.replace('127.0.0.1', 'shop.localhost'),
      },
    });
    const [stderr] = await Promise.all([readAll(child.stderr), readAll(child.stdout), once(child, 'close')]);
    expect([child.exitCode, stderr]).toEqual([0, '']);
    // Times and durations differ.
    const comparable = (document: string) =>
      document
        .replaceAll(/\d{4}-\d\d-\d\d \d\d:\d\d(?::\d\d)?/g, 'TIME')
        .replaceAll(/\d+ (?:s|min)(?: \d+ s)?\b/g, 'SOME TIME');
    const written = await readFile(path.join(folder.path, 'INC-1.md'), 'utf8');
    const shown = await readFile(path.join(ROOT, 'docs/guides/examples/postmortem.txt'), 'utf8');
    expect(comparable(written)).toBe(comparable(shown));
  });

  test('prints as many rows as it is asked for, as one array or as IDs', async () => {
    for (let number = 1; number <= 3; number += 1) await done('teams', 'create', '--name', `Team ${number}`);
    expect((await json('teams', 'list', '--all')).map(({ name }: { name: string }) => name)).toEqual([
      'Team 1',
      'Team 2',
      'Team 3',
    ]);
    const { stdout, stderr } = await done('teams', 'list', '--limit', '2', '--quiet');
    expect(stdout).toMatch(/^\d+\n\d+\n$/);
    expect(stderr).toContain('there are more');
    expect(await json('services', 'list')).toEqual([]);
    expect(await json('webhooks', 'list')).toEqual([]);
    expect(await json('incidents', 'list', '--status', 'on-hold')).toEqual([]);
  });

  test('checks without writing, and bases a change on a revision', async () => {
    const { stderr } = await done('incidents', 'declare', '--title', 'Only checked', '--dry-run');
    expect(stderr).toContain('nothing was written');
    expect(await json('incidents', 'list', '--q', 'Only checked')).toEqual([]);
    const { incident } = await json('incidents', 'declare', '--data', '{"title":"Both"}', '--severity', 'sev4');
    expect(incident.severity).toBe('sev4');
    await done('incidents', 'update', incident.human_id, '--title', 'Checked', '--dry-run');
    const outdated = await run('incidents', 'update', incident.human_id, '--title', 'New', '--if-revision', '7');
    expect(outdated).toMatchObject({ code: 1, stdout: '' });
    expect(outdated.stderr).toMatch(/^error: .*\(precondition_failed, request [\w-]+\) \{"current_revision":1\}\n$/);
    const key = ['--idempotency-key', 'once'];
    const first = await json('incidents', 'declare', '--title', 'Once', ...key);
    expect(await json('incidents', 'declare', '--title', 'Once', ...key)).toEqual(first);
  });

  test('applies the configuration that it prints, if the workspace still has its revision', async () => {
    const file = path.join(folder.path, 'config.json');
    const document = await json('config', 'get');
    const { revision, workflow_statuses: statuses } = document.configuration;
    await writeFile(file, JSON.stringify(document));
    expect(await done('plan', file)).toMatchObject({ stdout: 'no differences\n' });
    statuses.push({ key: 'verifying', label: 'Verifying', color: statuses[0].color });
    await writeFile(file, JSON.stringify(document));
    expect(await run('plan', file)).toMatchObject({
      ...{ code: 2, stderr: '' },
      stdout: `~ change configuration: workflow_statuses with {"key":"verifying","label":"Verifying","color":"${statuses[0].color}"}\n`,
    });
    expect((await json('config', 'get')).configuration.revision).toBe(revision);
    expect((await done('apply', file, '--yes')).stdout).toMatch(/\nchanged configuration\n$/);
    expect((await json('config', 'list-workflow-statuses')).map(({ key }: { key: string }) => key)).toContain(
      'verifying',
    );
    // The apply may have been interrupted behind this.
    expect(await done('apply', file, '--yes')).toMatchObject({ stdout: 'no differences\n' });
    document.configuration.time_zone = 'Asia/Tokyo';
    await writeFile(file, JSON.stringify(document));
    for (const args of [
      ['plan', file],
      ['apply', file, '--yes'],
    ])
      expect(await run(...args)).toMatchObject({
        ...{ code: 1, stdout: '' },
        stderr: expect.stringContaining(
          `configuration.revision: Is ${revision}, and the workspace has ${revision + 1}`,
        ),
      });
    expect((await json('config', 'get')).configuration.time_zone).toBe('UTC');
  });

  test('renames groups by their IDs, and replaces what the configuration no longer has', async () => {
    const file = path.join(folder.path, 'config.yaml');
    const { incident } = await json('incidents', 'declare', '--title', 'Waits', '--status', 'on-hold');
    const { configuration } = await json('config', 'get');
    const apply = async (change: object) => {
      await writeFile(file, JSON.stringify({ configuration: change }));
      return run('apply', file, '--yes');
    };
    await apply({ timeline_groups: [{ name: 'Detection' }] });
    const [{ id }] = (await json('config', 'get')).configuration.timeline_groups;
    expect(await apply({ timeline_groups: [{ id, name: 'Response' }, { name: 'Detection' }] })).toMatchObject({
      code: 0,
    });
    const groups = [
      { id, name: 'Response' },
      { id: id + 1, name: 'Detection' },
    ];
    expect((await json('config', 'get')).configuration.timeline_groups).toEqual(groups);
    // By the names alone, this is another order.
    const exchanged = [
      { id: id + 1, name: 'Response' },
      { id, name: 'Detection' },
    ];
    expect(await apply({ timeline_groups: exchanged })).toMatchObject({ code: 0 });
    expect((await json('config', 'get')).configuration.timeline_groups).toEqual(exchanged);

    const workflow_statuses = configuration.workflow_statuses
      .filter(({ key }: { key: string }) => key !== 'on-hold')
      .map(({ order: _, ...status }: { order: number }) => status);
    expect(await apply({ workflow_statuses })).toMatchObject({
      ...{ code: 1, stdout: '' },
      stderr: expect.stringContaining('{"statuses":{"on-hold":1}}'),
    });
    const replace = { statuses: { 'on-hold': 'monitoring', 'no-key': 'monitoring' } };
    const replaced = await apply({ workflow_statuses, replace });
    expect(replaced).toMatchObject({ code: 0, stderr: '' });
    expect(replaced.stdout.split('\n')[0]).toBe(
      '~ change configuration: workflow_statuses without "on-hold"; replace null → {"statuses":{"on-hold":"monitoring"}}',
    );
    expect((await json('incidents', 'get', incident.human_id)).incident.status).toBe('monitoring');
    expect(await apply({ workflow_statuses, replace })).toMatchObject({ code: 0, stdout: 'no differences\n' });
    await writeFile(
      file,
      `configuration:\n  revision: 1\n  replace: {} # later\n  timeline_groups: [{ id: 1, name: A }]\n`,
    );
    await done('export', '--kinds', 'configuration', file);
    const written = await readFile(file, 'utf8');
    const { configuration: current } = await json('config', 'get');
    for (const text of [
      `  revision: ${current.revision}\n`,
      '  replace: {} # later\n',
      `{ id: ${id}, name: Detection }`,
    ])
      expect(written).toContain(text);
    // Other tests need it.
    await apply({ workflow_statuses: configuration.workflow_statuses });
  });

  test('sends any request, and explains every operation', async () => {
    expect(await json('api', 'get', '/incidents?status=on-hold')).toMatchObject({ incidents: [] });
    const { incident } = await json('incidents', 'declare', '--title', 'Named');
    const { human_id: reference, id } = incident;
    for (const path of [`/incidents/${reference}`, `/api/v1/incidents/${reference.toLowerCase()}?at_revision=1`])
      expect(await json('api', 'get', path)).toMatchObject({ incident: { id } });
    const note = ['--data', '{"resolution_note":"Done"}'];
    expect(await json('api', 'post', `incidents/${reference}/resolve`, ...note)).toMatchObject({ incident: { id } });
    expect(await run('api', 'get', '/incidents/INC-999999')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('<path>: there is no incident INC-999999 (by ID or reference)'),
    });
    const { stdout } = await done('describe', 'incidents', 'declare');
    for (const text of ['POST /api/v1/incidents', 'scope: incidents:write', 'title (string, required)'])
      expect(stdout).toContain(text);
    expect((await json('describe')).length).toBeGreaterThan(70);
  });

  test('reads stdin however slowly it comes, and files with a byte order mark', async () => {
    const slowly = async (text: string, ...args: string[]) => {
      const child = startTocsin(settings, args);
      const finished = Promise.all([readAll(child.stdout!), readAll(child.stderr!), once(child, 'close')]);
      // The first byte comes when the command has begun to wait for it, and each further one by itself.
      await once(child, 'spawn');
      await delay(1_500);
      for (const byte of text) {
        child.stdin?.write(byte);
        await delay(10);
      }
      child.stdin?.end();
      const [stdout, stderr] = await finished;
      expect([args, child.exitCode, stderr]).toEqual([args, 0, expect.not.stringContaining('EAGAIN')]);
      return stdout;
    };
    const body = '\ufeff{"title": "Slów"}';
    expect(JSON.parse(await slowly(body, 'incidents', 'declare', '--data', '-')).incident.title).toBe('Slów');
    expect(JSON.parse(await slowly(body, 'api', 'POST', '/incidents', '--data', '-')).incident.title).toBe('Slów');
    const own = path.join(folder.path, 'slow');
    expect(await slowly(JSON.stringify(await json('config', 'get')), 'plan', '-')).toBe('no differences\n');
    const loggedIn = runTocsin({ TOCSIN_CONFIG_DIR: own }, ['login', '--url', system.url], `\ufeff${token}\n`);
    expect(await loggedIn).toMatchObject({ code: 0 });

    const file = path.join(folder.path, 'marked.json');
    for (const bytes of [Buffer.from(body), Buffer.from(body, 'utf16le'), Buffer.from(body, 'utf16le').swap16()]) {
      await writeFile(file, bytes);
      expect((await json('incidents', 'declare', '--data', `@${file}`, '--dry-run')).incident.title).toBe('Slów');
    }
    expect((await json('incidents', 'declare', '--data', body, '--dry-run')).incident.title).toBe('Slów');
    await writeFile(file, `\ufeff${JSON.stringify(await json('config', 'get'))}`);
    await done('apply', file);
    await writeFile(file, Buffer.from('{"title": "Sl\xf3w"}', 'latin1'));
    expect(await run('incidents', 'declare', '--data', `@${file}`)).toMatchObject({ code: 2, stdout: '' });
  });

  test('warns of an address without encryption, and reaches names below localhost', async () => {
    const { port } = new URL(system.url);
    const named = { ...settings, TOCSIN_URL: `http://acme.localhost:${port}` };
    expect(await runTocsin(named, ['whoami'])).toMatchObject({ code: 0, stderr: '' });
    const elsewhere = await runTocsin({ ...settings, TOCSIN_URL: 'http://tocsin.invalid:1' }, ['whoami']);
    expect(elsewhere).toMatchObject({ code: 3, stdout: '' });
    expect(elsewhere.stderr.match(/tocsin\.invalid:1 without encryption/g)).toHaveLength(1);
  });

  test('tells what is wrong by its exit code', async () => {
    const [port = 0] = await reservePorts(1);
    const cases: [number, string, TocsinSettings, ...string[]][] = [
      [1, 'not_found', {}, 'incidents', 'get', '999999'],
      [1, 'authentication_required', { TOCSIN_TOKEN: 'tcs_wrong' }, 'whoami'],
      [2, 'unknown option', {}, 'incidents', 'list', '--stauts', 'open'],
      [2, 'unknown command', {}, 'incident'],
      [2, 'missing required argument', {}, 'incidents', 'get'],
      [2, 'is not of the type integer', {}, 'incidents', 'list', '--team-id', 'payments'],
      [2, '--data: is not JSON', {}, 'incidents', 'declare', '--data', '{'],
      [2, 'there is no operation', {}, 'describe', 'nothing'],
      [3, 'ECONNREFUSED', { TOCSIN_URL: `http://127.0.0.1:${port}` }, 'whoami'],
    ];
    for (const [code, message, more, ...args] of cases) {
      const finished = await runTocsin({ ...settings, ...more }, args);
      expect([args, finished]).toEqual([args, { code, stdout: '', stderr: expect.stringContaining(message) }]);
    }
  });
});

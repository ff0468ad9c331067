import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, test } from '@jest/globals';
import { describeWithServers } from '@tocsin/testing/suites';
import { running, runningSystem, temporaryFolder } from '../../../verification/systems/running.ts';
import { runHere } from '../run-here.ts';

const SECRETS = {
  OPS_URL: 'https://hooks.slack.com/services/secret-of-ops',
  PAGER_KEY: 'key-of-the-pager',
  JSON_URL: 'https://json.example.com/secret-of-json',
  JSON_KEY: 'key-of-json',
};
const WORKSPACE = `teams:
  - { slug: web, name: Web }
destinations:
  - name: Ops
    kind: slack
    url_env: OPS_URL # of the channel
    filters: { severities: [sev1], teams: [web], event_types: [] }
    template: "{{title}}"
  - { name: Pager, kind: pagerduty, credential_env: PAGER_KEY }
  - { name: JSON, kind: http, url_env: JSON_URL, credential_env: JSON_KEY }
`;

describeWithServers('destinations as files', () => {
  const system = runningSystem();
  const folder = temporaryFolder();
  const client = running(async () => system.as());
  const inFolder = (name: string) => path.join(folder.path, name);
  const file = () => inFolder('all.yaml');
  const run = async (more: Partial<typeof SECRETS> & { TOCSIN_TOKEN?: string }, ...args: string[]) => {
    const settings = {
      ...{ TOCSIN_CONFIG_DIR: folder.path, TOCSIN_TOKEN: client.token, ...more },
      TOCSIN_URL: system.url.replace('127.0.0.1', 'acme.localhost'),
    };
    const finished = await runHere(settings, args);
    for (const secret of ['secret-of', 'key-of']) expect(JSON.stringify(finished)).not.toContain(secret);
    return finished;
  };
  const list = async () => (await client.get('/api/v1/settings/destinations')).body.destinations;
  const unchanged = { code: 0, stdout: 'no differences\n', stderr: '' };

  test('are made with secrets of the environment, and the same command again changes nothing', async () => {
    await writeFile(file(), WORKSPACE);
    const without = await run({ ...SECRETS, OPS_URL: '', JSON_URL: 'no URL' }, 'plan', file());
    expect(without).toMatchObject({ code: 1, stdout: '' });
    expect(without.stderr.split('\n').slice(0, 2)).toEqual([
      `${file()}:6:14: destinations[0].url_env: There is no environment variable OPS_URL`,
      `${file()}:10:40: destinations[2].url_env: Must name an environment variable with a URL`,
    ]);
    const planned = await run(SECRETS, 'plan', file(), '--out', inFolder('plan.json'));
    expect(planned).toEqual({
      code: 2,
      stdout:
        '+ create team web\n+ create destination Ops (filters checked at apply)\n' +
        '+ create destination Pager\n+ create destination JSON\n',
      stderr: '',
    });
    expect(await readFile(inFolder('plan.json'), 'utf8')).not.toMatch(/secret-of|key-of/);
    const { PAGER_KEY: _, ...others } = SECRETS;
    expect(await run(others, 'apply', inFolder('plan.json'))).toMatchObject({
      ...{ code: 1, stdout: '' },
      stderr: 'error: there is no environment variable PAGER_KEY, which the plan needs\n',
    });
    expect(await run(SECRETS, 'apply', inFolder('plan.json'))).toMatchObject({ code: 0, stderr: '' });
    const { id } = (await client.get('/api/v1/teams')).body.teams[0];
    expect(await list()).toMatchObject([
      {
        ...{ name: 'Ops', kind: 'slack', url: 'https://hooks.slack.com', template: '{{title}}' },
        filters: { severities: ['sev1'], team_ids: [id], event_types: [], services: [] },
      },
      { name: 'Pager', kind: 'pagerduty', has_credential: true },
      { name: 'JSON', kind: 'http', url: 'https://json.example.com', has_credential: true },
    ]);
    for (const secrets of [SECRETS, {}])
      for (const command of ['plan', 'apply']) expect(await run(secrets, command, file())).toEqual(unchanged);
    expect(await run(SECRETS, 'apply', inFolder('plan.json'))).toEqual({
      code: 0,
      stdout:
        'team web is as planned already\ndestination Ops is as planned already\n' +
        'destination Pager is as planned already\ndestination JSON is as planned already\n',
      stderr: '',
    });
  });

  test('are changed, with the secrets only if the host is another one', async () => {
    const other = { ...SECRETS, JSON_URL: 'https://json.example.com/secret-of-another-path' };
    expect(await run(other, 'plan', file())).toEqual(unchanged);
    const moved = { ...SECRETS, JSON_URL: 'https://other.example.com/secret-of-json' };
    expect((await run({ ...moved, JSON_KEY: '' }, 'plan', file())).stderr).toContain(
      'destinations[2].credential_env: There is no environment variable JSON_KEY',
    );
    await writeFile(file(), WORKSPACE.replace('[sev1]', '[sev1, sev2]').replace('"{{title}}"', 'null'));
    expect(await run(moved, 'plan', file())).toEqual({
      code: 2,
      stdout:
        '~ change destination Ops: filters {"severities":["sev1"],"teams":["web"]} → {"severities":["sev1","sev2"],"teams":["web"]}; ' +
        'template "{{title}}" → null\n' +
        '~ change destination JSON: url "https://json.example.com" → "https://other.example.com"\n',
      stderr: '',
    });
    expect(await run(moved, 'apply', file(), '--yes')).toMatchObject({ code: 0, stderr: '' });
    expect(await list()).toMatchObject([
      { revision: 2, url: 'https://hooks.slack.com', template: null },
      { revision: 1 },
      { revision: 2, url: 'https://other.example.com', has_credential: true },
    ]);
    expect(await run(moved, 'plan', file())).toEqual(unchanged);
    await writeFile(inFolder('wrong.yaml'), 'destinations: [{ name: ops, kind: ntfy, filters: { teams: [none] } }]');
    expect((await run({}, 'plan', inFolder('wrong.yaml'))).stderr).toMatch(
      /destinations\[0\]\.kind: Cannot be changed from "slack"\n.*filters\.teams\[0\]: There is no team none\n/,
    );
  });

  test('are exported without secrets, into a file that keeps the names of their variables', async () => {
    const text = (await run({}, 'export', '--kinds', 'destinations')).stdout;
    expect(text.slice(text.indexOf('destinations:'))).toBe(`destinations:
  - name: Ops
    kind: slack
    filters:
      severities:
        - sev1
        - sev2
      teams:
        - web
  - name: Pager
    kind: pagerduty
  - name: JSON
    kind: http
`);
    await writeFile(inFolder('export.yaml'), text);
    expect(await run({}, 'plan', inFolder('export.yaml'))).toEqual(unchanged);
    await run({}, 'export', '--kinds', 'destinations', file());
    const kept = await readFile(file(), 'utf8');
    for (const part of ['url_env: OPS_URL # of the channel', 'credential_env: PAGER_KEY', 'url_env: JSON_URL'])
      expect(kept).toContain(part);
    expect(await run({}, 'plan', file())).toEqual(unchanged);
  });

  test('may have recipients that the same plan makes, and are not compared by a key that only reads', async () => {
    const mail = inFolder('mail.yaml');
    await writeFile(
      mail,
      'users: [{ email: new@example.com, name: New }]\n' +
        'destinations: [{ name: Mail, kind: email, recipients: [new@example.com] }]\n',
    );
    expect(await run({}, 'plan', mail)).toEqual({
      code: 2,
      stdout: '+ create user new@example.com\n+ create destination Mail (everything checked at apply)\n',
      stderr: '',
    });
    const reader = await system.as({ role: 'viewer', seat: 'none', scopes: ['teams:read'] });
    expect(await run({ TOCSIN_TOKEN: reader.token }, 'plan', file(), '--prune', 'destinations')).toEqual({
      code: 2,
      stdout:
        'no differences in what was compared\n' +
        'destinations are not compared: The token lacks the scope webhooks:manage\n',
      stderr: '',
    });
  });

  test('are archived only if they are pruned', async () => {
    await writeFile(file(), 'destinations: [{ name: pager }]');
    expect(await run({}, 'plan', file())).toEqual(unchanged);
    const prune = ['--prune', 'destinations'];
    expect(await run({}, 'plan', file(), ...prune, '--out', inFolder('plan.json'))).toEqual({
      ...{ code: 2, stdout: '- archive destination Ops\n- archive destination JSON\n', stderr: '' },
    });
    for (const said of ['archived destination Ops', 'destination Ops is as planned already'])
      expect((await run({}, 'apply', inFolder('plan.json'))).stdout).toContain(said);
    expect(await list()).toMatchObject([{ name: 'Pager' }]);
    expect(await run({}, 'plan', file(), ...prune)).toEqual(unchanged);
  });
});

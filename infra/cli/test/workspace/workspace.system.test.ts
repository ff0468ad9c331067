import { mkdir, readFile, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { beforeAll, expect, test } from '@jest/globals';
import { describeWithServers } from '@tocsin/testing/suites';
import { running, runningSystem, temporaryFolder } from '../../../verification/systems/running.ts';
import { runTocsin, type TocsinSettings } from '../tocsin-command.ts';
import { runHere } from '../run-here.ts';

const SERVICES = Array.from({ length: 30 }, (_, index) => ({ slug: `service_${index}`, name: `Service ${index}` }));
const TYPES = ['string', 'number', 'boolean', 'date', 'time', 'datetime', 'monetary', 'json'];

/** Of a key that plans. */
const READING = ['services:read', 'teams:read', 'custom_fields:read', 'users:read', 'configuration:read'] as const;

/** 3 teams, 30 services, 12 fields, 4 webhooks, a user and a tier. */
const WORKSPACE = JSON.stringify({
  configuration: {
    service_tiers: [
      { key: 'gold', label: 'Gold', is_default: true },
      { key: 't2', label: 'Tier 2' },
    ],
    time_zone: 'Europe/Berlin',
  },
  users: [{ email: 'Ana@example.com', name: 'Ana', role: 'manager', seat: 'responder' }],
  teams: [
    { slug: 'payments', name: ' Payments ', parent: 'platform', members: [{ email: 'ana@example.com', role: 'lead' }] },
    { slug: 'platform', name: 'Platform', description: '' },
    { slug: 'web', name: 'Web', external_id: 'w-1' },
  ],
  services: SERVICES.map((service, index) => ({
    ...service,
    ...(index % 2 === 0 && { owner_team: 'payments', tier: 'gold' }),
    ...{ tags: [' team-a ', 'team-a', 'x'].slice(0, (index % 3) + 1), external_id: `c-${index}` },
    observability_names: [`${service.slug}-api`],
  })),
  fields: [
    ...TYPES.map((field_type) => ({ slug: `f_${field_type}`, name: field_type, field_type })),
    {
      slug: 'cause',
      name: 'Cause',
      field_type: 'select',
      config: { options: ['alarm', { value: 'customer' }] },
      sort_order: 2,
    },
    { slug: 'areas', name: 'Areas', field_type: 'multi_select', config: { allow_custom: true } },
    { slug: 'cost', name: 'Cost', field_type: 'number', config: { precision: 2 }, default_value: 0.5 },
    { slug: 'extra', name: 'Extra', field_type: 'json', default_value: { a: [1, null, ''] } },
  ],
  webhooks: ['Ops', 'Data', 'Chat', 'Audit'].map((name) => ({ name, url: `https://hooks.example.com/${name}` })),
});

describeWithServers('the workspace as files', () => {
  const system = runningSystem();
  const folder = temporaryFolder();
  const client = running(async () => system.as());
  const inFolder = (name: string) => path.join(folder.path, name);
  const settings = (token = client.token): TocsinSettings => ({
    ...{
      TOCSIN_CONFIG_DIR: folder.path,
      TOCSIN_URL: system.url.replace('127.0.0.1', 'acme.localhost'),
      TOCSIN_TOKEN: token,
    },
  });
  const run = async (...args: string[]) => runHere(settings(), args);
  const plan = async (text: string, ...flags: string[]) => {
    await writeFile(inFolder('part.yaml'), text);
    return run('plan', inFolder('part.yaml'), ...flags);
  };
  const apply = async (text: string, ...flags: string[]) => {
    await writeFile(inFolder('part.yaml'), text);
    const finished = await run('apply', inFolder('part.yaml'), '--yes', ...flags);
    expect(finished).toMatchObject({ code: 0, stderr: '' });
    return finished.stdout.split('\n');
  };
  const secretsTo = () => ['--secrets-to', inFolder('secrets.ndjson')];
  const find = async (list: string, slug: string) =>
    (await client.get(`/api/v1/${list}?limit=100&include_archived=true`)).body[list.replace('custom-', '')].find(
      (one: { slug: string }) => one.slug === slug,
    );

  beforeAll(async () => {
    await writeFile(inFolder('all.yaml'), WORKSPACE);
  });

  test('is made from nothing by one command, and the same command again changes nothing', async () => {
    const without = await run('plan', inFolder('all.yaml'));
    expect(without).toMatchObject({ code: 1, stdout: '' });
    expect(without.stderr.match(/give --secrets-to FILE/g)).toHaveLength(4);
    const planned = await run('plan', inFolder('all.yaml'), ...secretsTo());
    expect(planned).toMatchObject({ code: 2, stderr: '' });
    expect(planned.stdout).toContain('+ create service service_0 (owner_team, tier checked at apply)\n');
    expect(planned.stdout).toMatch(
      /^~ change configuration: service_tiers without "t0"; .*; time_zone "UTC" → "Europe\/Berlin"$/m,
    );

    const made = await runTocsin(settings(), ['apply', inFolder('all.yaml'), '--yes', ...secretsTo()]);
    expect(made).toMatchObject({ code: 0, stderr: '' });
    expect(made.stdout.match(/^created service /gm)).toHaveLength(30);
    const lists = await Promise.all(
      ['teams', 'services', 'custom-fields', 'settings/webhooks'].map(async (list) =>
        client.get(`/api/v1/${list}?limit=100`.replace(/(webhooks).*/, '$1')),
      ),
    );
    const [teams, services, fields, webhooks] = lists.map(
      ({ body }) => Object.values(body)[0] as Record<string, unknown>[],
    );
    expect([teams, services, fields, webhooks].map((list) => list?.length)).toEqual([3, 30, 12, 4]);
    expect(services?.find(({ slug }) => slug === 'service_2')).toMatchObject({
      ...{ owner_team_slug: 'payments', tier: 'gold', tags: ['team-a', 'x'], external_id: 'c-2' },
      ...{ observability_names: ['service_2-api'], revision: 1 },
    });
    expect(fields?.find(({ slug }) => slug === 'cause')).toMatchObject({ sort_order: 2 });
    const { members } = (
      await client.get(`/api/v1/teams/${String(teams?.find(({ slug }) => slug === 'payments')?.['id'])}/members`)
    ).body;
    expect(members).toMatchObject([{ email: expect.stringMatching(/^ana@example.com$/i), role: 'lead' }]);

    for (const command of ['plan', 'apply'])
      expect(await run(command, inFolder('all.yaml'))).toEqual({ code: 0, stdout: 'no differences\n', stderr: '' });
  });

  test('keeps secrets in a file that nobody else reads, and nowhere else', async () => {
    const file = inFolder('secrets.ndjson');
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    const lines = (await readFile(file, 'utf8'))
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    const stored = lines.filter(({ secret }) => secret !== undefined);
    expect(stored.map(({ webhook }) => webhook)).toEqual(['Ops', 'Data', 'Chat', 'Audit']);
    for (const { id, secret, workspace } of stored)
      expect([id, secret, workspace]).toEqual([expect.any(String), expect.stringMatching(/^whsec_/), 'acme']);
    const hook = 'webhooks: [{ name: Fifth, url: "https://hooks.example.com/token-in-a-path" }]';
    const outputs = [
      await plan(hook, ...secretsTo(), '--out', inFolder('plan.json')),
      await run('apply', inFolder('plan.json'), ...secretsTo()),
    ];
    expect(outputs.map(({ code }) => code)).toEqual([2, 0]);
    const text = JSON.stringify(outputs);
    for (const secret of ['whsec_', 'token-in-a-path']) expect(text).not.toContain(secret);
    expect(await readFile(inFolder('plan.json'), 'utf8')).not.toContain('whsec_');
    expect((await readFile(file, 'utf8')).match(/whsec_/g)).toHaveLength(5);
    expect(await run('apply', inFolder('plan.json'))).toMatchObject({ code: 1, stdout: '' });
    expect((await run('apply', inFolder('plan.json'), ...secretsTo())).stdout).toBe(
      'webhook Fifth is as planned already\n',
    );
    const elsewhere = await plan('webhooks: [{ name: Ops, url: "https://other.example.com/" }]');
    expect(elsewhere.stderr).toContain(
      'part.yaml:1:30: webhooks[0].url: Cannot be changed from https://hooks.example.com',
    );
    expect(
      await plan('webhooks: [{ name: Sixth, url: "https://hooks.example.com/" }]', '--secrets-to', '/dev/null'),
    ).toMatchObject({ code: 2 });
    const nowhere = await run('apply', inFolder('part.yaml'), '--yes', '--secrets-to', '/dev/null');
    expect(nowhere).toMatchObject({ code: 1, stderr: expect.stringContaining('/dev/null is not a file') });
    expect((await client.get('/api/v1/settings/webhooks')).body.webhooks).toHaveLength(5);
  });

  test('what somebody has changed meanwhile ends the apply, and what follows is not touched', async () => {
    const text = `
users: [{ email: ana@example.com, role: member }]
services: [{ slug: service_1, name: One }, { slug: service_3, name: Three }, { slug: service_5, name: Five }]
`;
    expect(await plan(text, '--out', inFolder('plan.json'))).toEqual({
      code: 2,
      stdout:
        '~ change user ana@example.com: role "manager" → "member"\n' +
        '~ change service service_1: name "Service 1" → "One"\n' +
        '~ change service service_3: name "Service 3" → "Three"\n' +
        '~ change service service_5: name "Service 5" → "Five"\n',
      stderr: '',
    });
    const ben = await system.as();
    const other = await find('services', 'service_3');
    const patched = await ben.patch(
      `/api/v1/services/${other.id}`,
      { tags: [] },
      { 'If-Service-Resource-Version': '1' },
    );
    const { updated_at: changedAt } = patched.body.service;
    const refused = await run('apply', inFolder('plan.json'));
    expect(refused).toEqual({
      code: 1,
      stdout: 'changed user ana@example.com\nchanged service service_1\n',
      stderr:
        'not done: ~ change service service_3: name "Service 3" → "Three"\n' +
        'not done: ~ change service service_5: name "Service 5" → "Five"\n' +
        `error: service service_3 was changed at ${changedAt}, and has revision 2; the plan is based on revision 1: plan again\n`,
    });
    expect(await find('services', 'service_3')).toMatchObject({ name: 'Service 3', revision: 2 });
    expect(await find('services', 'service_5')).toMatchObject({ name: 'Service 5', revision: 1 });

    expect(await plan('users: [{ email: ana@example.com, name: Anna }]', '--out', inFolder('plan.json'))).toMatchObject(
      { code: 2 },
    );
    const { users } = (await client.get('/api/v1/settings/users?q=ana@example')).body;
    const headers = { 'If-Service-Resource-Version': String(users[0].revision) };
    await ben.patch(`/api/v1/settings/users/${users[0].id}`, { seat: 'none' }, headers);
    const me = (await ben.get('/api/v1/me')).body;
    expect((await run('apply', inFolder('plan.json'))).stderr).toMatch(
      new RegExp(
        `error: user ana@example.com was changed by ${me.user.name} \\(user ${me.user.id}, key ${me.api_key.prefix}\\) at 20.*Z`,
      ),
    );
    const changes = await apply(text);
    expect(changes).toContain('changed service service_3');
  });

  test('a stored plan is for one workspace', async () => {
    await plan('teams: [{ slug: fresh, name: Fresh }]', '--out', inFolder('plan.json'));
    const stranger = await system.as({ workspace: 'other' });
    const there = { ...settings(stranger.token), TOCSIN_URL: system.url.replace('127.0.0.1', 'other.localhost') };
    expect(await runHere(there, ['apply', inFolder('plan.json')])).toMatchObject({
      ...{ code: 1, stdout: '' },
      stderr: expect.stringMatching(/^error: the plan is for the workspace acme .*, and this is other /),
    });
    const stored = JSON.parse(await readFile(inFolder('plan.json'), 'utf8'));
    await writeFile(inFolder('plan.json'), JSON.stringify({ ...stored, format: 2 }));
    expect(await run('apply', inFolder('plan.json'))).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('of this version'),
    });
  });

  test('mistakes of several files are listed with their places, and nothing is changed', async () => {
    await writeFile(
      inFolder('a.yaml'),
      'teams:\n  - slug: web\n  - { slug: new, parent: nowhere }\n  - { slug: web }\n',
    );
    await writeFile(
      inFolder('b.yaml'),
      'services:\n  - slug: s\n    owner_team: gone\nteams:\n  - slug: web\n    members:\n      - email: nobody@example.com\n' +
        'fields: [{ slug: cost, field_type: string }]\n',
    );
    const [a, b] = [inFolder('a.yaml'), inFolder('b.yaml')];
    const { code, stderr } = await run('plan', a, b);
    expect([code, stderr.split('\n').slice(0, -1)]).toEqual([
      1,
      expect.arrayContaining([
        `${a}:4:5: teams[2]: Is in the files twice: first at ${a}:2:5: teams[0]`,
        `${b}:5:5: teams[0]: Is in the files twice: first at ${a}:2:5: teams[0]`,
        `${a}:3:26: teams[1].parent: There is no team nowhere`,
        `${a}:3:5: teams[1]: name: Is required for a new team`,
        `${b}:3:17: services[0].owner_team: There is no team gone`,
        `${b}:2:5: services[0]: name: Is required for a new service`,
        `${b}:8:36: fields[0].field_type: Cannot be changed from "number"`,
        'error: nothing was changed: 7 mistakes or refusals',
      ]),
    ]);
    const server = await plan(
      'services: [{ slug: service_7, tier: none }]\nteams: [{ slug: a, name: A, parent: b }, { slug: b, name: B, parent: a }]',
    );
    expect(server.stderr).toContain('teams[0].parent: Makes a cycle');
    expect((await plan('services:\n  - { slug: service_7, tier: none }')).stderr).toMatch(
      /part\.yaml:2:5: services\[0\] service service_7: tier: .*\(invalid_request, request /,
    );
    expect(await run('plan', inFolder('missing.yaml'))).toMatchObject({ code: 1 });
    expect(await run('apply', inFolder('part.yaml'))).toMatchObject({ code: 1 });
  });

  test('archives only what it is told to, of the part that it is limited to, and restores what is named again', async () => {
    const mine = { slug: 'service_0', tags: ['team-a'] };
    const text = JSON.stringify({ services: [mine], teams: [{ slug: 'web' }, { slug: 'payments', members: [] }] });
    expect((await plan(text)).stdout).toBe('no differences\n');
    const limited = await plan(text, '--prune', 'services', '--only-tag', 'team-a');
    const archived = limited.stdout.match(/^- archive service .*/gm);
    expect(archived).toHaveLength(
      (await client.get('/api/v1/services?limit=100')).body.services.filter(({ tags }: { tags: string[] }) =>
        tags.includes('team-a'),
      ).length - 1,
    );
    expect(await plan(text, '--prune', 'teams', '--only-tag', 'team-a')).toMatchObject({ code: 1 });
    const foreign = await plan('services: [{ slug: service_3, name: Mine, tags: [team-a] }]', '--only-tag', 'team-a');
    expect(foreign.stderr).toContain('services[0]: Is not of the part');
    const unmarked = await plan('services: [{ slug: new, name: New }]', '--only-tag', 'team-a');
    expect(unmarked.stderr).toContain('services[0]: Must have the tag');

    const lines = await apply(text, '--prune', 'services,teams,fields,webhooks,members');
    expect(lines.filter((line) => line.startsWith('archived service'))).toHaveLength(29);
    expect(lines.filter((line) => line.startsWith('revoked webhook'))).toHaveLength(5);
    expect(lines).toEqual(
      expect.arrayContaining([
        'archived team platform',
        expect.stringMatching(/^removed member ana@example.com of team payments$/i),
      ]),
    );
    expect(await find('services', 'service_4')).toMatchObject({ archived_at: expect.any(String) });
    expect((await plan(text, '--prune', 'services,teams,fields,webhooks,members')).stdout).toBe('no differences\n');

    const again = 'teams: [{ slug: platform, name: Again }]\nservices: [{ slug: service_4, description: Back }]';
    expect((await plan(again)).stdout).toBe(
      '^ restore team platform\n~ change team platform: name "Platform" → "Again" (everything checked at apply)\n' +
        '^ restore service service_4\n~ change service service_4: description null → "Back" (everything checked at apply)\n',
    );
    await apply(again);
    expect(await find('services', 'service_4')).toMatchObject({ description: 'Back' });
    expect((await plan(again)).stdout).toBe('no differences\n');
    const prefix = await plan('services: []', '--prune', 'services', '--only-external-id', 'c-4');
    expect(prefix.stdout).toBe('- archive service service_4\n');
  });

  test('asks before it applies, and takes only yes for yes', async () => {
    await writeFile(inFolder('part.yaml'), 'teams: [{ slug: asked, name: Asked }]');
    for (const answer of ['n\n', '\n', 'yesterday\n'])
      expect(await runHere(settings(), ['apply', inFolder('part.yaml')], { answer })).toEqual({
        code: 1,
        stdout: '+ create team asked\n',
        stderr: 'Apply it? [y/N] error: nothing was changed\n',
      });
    expect(await find('teams', 'asked')).toBeUndefined();
    expect(await runHere(settings(), ['apply', inFolder('part.yaml')], { answer: 'y\n' })).toMatchObject({ code: 0 });
    expect(await find('teams', 'asked')).toMatchObject({ name: 'Asked' });
    const json = await run('plan', inFolder('part.yaml'), '--json');
    expect(JSON.parse(json.stdout)).toMatchObject({ format: 1, workspace: { slug: 'acme' }, steps: [] });
  });

  test('a folder is one workspace, and a file may have several documents', async () => {
    const parts = inFolder('parts');
    await mkdir(path.join(parts, 'teams'), { recursive: true });
    await mkdir(path.join(parts, '.git'));
    expect(await run('plan', parts)).toMatchObject({
      ...{ code: 1, stderr: expect.stringContaining(`${parts} has no YAML or JSON files`) },
    });
    await writeFile(
      path.join(parts, 'a.json'),
      '{ "services": [{ "slug": "part_a", "name": "A", "owner_team": "parts" }] }',
    );
    await writeFile(
      path.join(parts, 'b.yml'),
      'services:\n  - { slug: part_b, name: B }\n---\nservices:\n  - { slug: part_c, name: C }\n',
    );
    await writeFile(path.join(parts, 'teams/t.yaml'), 'teams: [{ slug: parts, name: Parts }]\n');
    for (const other of ['.git/x.yaml', '.hidden.yaml', 'README.md']) await writeFile(path.join(parts, other), 'x: [');
    expect((await run('plan', parts)).stdout).toBe(
      '+ create team parts\n+ create service part_a (owner_team checked at apply)\n' +
        '+ create service part_b\n+ create service part_c\n',
    );
    expect(await run('apply', parts, '--yes')).toMatchObject({ code: 0 });
    expect(await run('plan', parts)).toEqual({ code: 0, stdout: 'no differences\n', stderr: '' });
    const pruned = await run('plan', parts, '--prune', 'services', '--prune', 'teams');
    for (const line of ['- archive service service_0', '- archive team web'])
      expect(pruned.stdout.split('\n')).toContain(line);
    expect(pruned.stdout).not.toContain('archive service part');
    await writeFile(path.join(parts, 'teams/u.yaml'), '---\n---\nteams:\n  - { slug: parts, name: Twice }\n');
    const twice = await run('plan', parts);
    expect([twice.code, twice.stderr.split('\n')[0]]).toEqual([
      1,
      `${parts}/teams/u.yaml:4:5: teams[0]: Is in the files twice: first at ${parts}/teams/t.yaml:1:9: teams[0]`,
    ]);
  });

  test('is planned by a key that only reads, which says what it cannot know and applies nothing', async () => {
    const reader = await system.as({ role: 'viewer', seat: 'none', scopes: [...READING] });
    const read = async (...args: string[]) => runHere(settings(reader.token), args);
    await writeFile(
      inFolder('part.yaml'),
      'configuration: { time_zone: Asia/Tokyo }\nusers: [{ email: new@example.com, name: New }]\n' +
        'teams: [{ slug: web, name: Other, members: [{ email: ana@example.com }] }]\n' +
        'services: [{ slug: service_0, tier: none }]\nfields: [{ slug: planned, name: Planned, field_type: string }]\n',
    );
    const later = ' (everything checked at apply)\n';
    expect(await read('plan', inFolder('part.yaml'), '--prune', 'services', '--only-tag', 'nothing')).toMatchObject({
      code: 1,
    });
    const planned = await read('plan', inFolder('part.yaml'), '--prune', 'members');
    expect(planned).toMatchObject({
      code: 2,
      stdout:
        `~ change configuration: time_zone "Europe/Berlin" → "Asia/Tokyo"${later}` +
        `+ create user new@example.com${later}~ change team web: name "Web" → "Other"${later}` +
        `+ add member ana@example.com of team web: role null → "member"${later}` +
        `~ change service service_0: tier "gold" → "none"${later}+ create field planned${later}`,
    });
    expect(planned.stderr.split('\n').toSorted()).toEqual([
      '',
      ...['configuration', 'custom_fields', 'services', 'teams', 'users'].map(
        (list) => `not checked by the server: The token lacks the scope ${list}:write`,
      ),
    ]);
    const applied = await read('apply', inFolder('part.yaml'), '--yes');
    expect(applied).toMatchObject({ code: 1, stdout: '', stderr: expect.stringContaining('lacks the scope') });
    expect(await find('services', 'service_0')).toMatchObject({ tier: 'gold' });

    await writeFile(
      inFolder('part.yaml'),
      'teams: [{ slug: web }]\nwebhooks: [{ name: W, url: https://w.example.com }]',
    );
    expect(await read('plan', inFolder('part.yaml'), '--prune', 'webhooks')).toEqual({
      code: 2,
      stdout:
        'no differences in what was compared\nwebhooks are not compared: The token lacks the scope webhooks:manage\n',
      stderr: '',
    });
    await writeFile(inFolder('part.yaml'), 'teams: [{ slug: web }]');
    expect(await read('plan', inFolder('part.yaml'))).toEqual({ code: 0, stdout: 'no differences\n', stderr: '' });
  });

  test('shows texts of the server so that a terminal does not obey them', async () => {
    await client.post('/api/v1/teams', { name: 'a\u001B[2Jb\u202E', slug: 'odd' });
    expect((await plan('teams: [{ slug: odd, name: Odd }]')).stdout).toBe(
      '~ change team odd: name "a\\u001b[2Jb\\u202e" → "Odd"\n',
    );
  });
});

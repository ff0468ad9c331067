import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { openDatabase } from '@tocsin/runtime';
import { createTestDatabase, TEST_SECRET_KEYS, type TestDatabase } from '@tocsin/testing';
import { isToken } from '../../gateway/src/domain/token.ts';
import { schema as gateway } from '../../gateway/src/schema.ts';
import { schema as catalog } from '../../services/catalog/src/schema.ts';
import { schema as incident } from '../../services/incident/src/schema.ts';
import { runAdmin } from '../admin/run-admin.ts';

const ROOT = path.resolve(import.meta.dirname, '../..');

let database: TestDatabase;
let folder: string;
let env: Record<string, string>;

beforeAll(async () => {
  database = await createTestDatabase(
    ...[gateway, incident, catalog].map(({ name, migrations }) => ({ schema: name, migrations })),
  );
  folder = await mkdtemp(path.join(os.tmpdir(), 'tocsin-admin-'));
  env = { DATABASE_URL: database.adminUrl, TOCSIN_DATA_DIR: folder, TOCSIN_SECRET_KEYS: TEST_SECRET_KEYS };
  await json('workspace', 'create', '--slug', 'acme', '--name', 'Acme');
});
afterAll(async () => {
  await database.drop();
  await rm(folder, { recursive: true });
});

/** The object that a command that succeeds prints. */
async function json(...args: string[]) {
  const { printed, fault } = await runAdmin([...args, '--json'], env);
  expect(fault).toBeUndefined();
  expect(printed).not.toContain('\n');
  return JSON.parse(printed ?? '');
}

/** The line that a command that fails prints. */
async function refusal(...args: string[]): Promise<string> {
  const { printed, fault } = await runAdmin(args, env);
  expect(printed).toBeUndefined();
  expect(fault).toMatch(/^[^\n]+$/);
  return fault ?? '';
}

/** The command as somebody at a terminal, or a script, calls it. */
async function call(args: string[], more: Record<string, string> = env) {
  const { NODE_OPTIONS: _, ...own } = process.env;
  const { promise, resolve } = Promise.withResolvers<{ code: number; stdout: string; stderr: string }>();
  execFile(
    'npm',
    ['run', '-s', 'admin', '--', ...args],
    { cwd: ROOT, env: { ...own, ...more } },
    (error, stdout, stderr) => resolve({ code: error === null ? 0 : Number(error.code), stdout, stderr }),
  );
  return promise;
}

const instant = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);

describe('workspaces', () => {
  test('are created with everything that can be set, and changed piece by piece', async () => {
    const created = await json(
      ...['workspace', 'create', '--slug', 'full', '--name', 'Full & Co', '--demo', '--history-days', '1.5'],
      ...['--reporting-currency', 'EUR', '--short-title-required', '--rate-limit', '100'],
    );
    expect(created).toEqual({
      workspace: {
        id: expect.any(Number),
        slug: 'full',
        name: 'Full & Co',
        is_demo: true,
        history_days: 1.5,
        reporting_currency: 'EUR',
        short_title_required: true,
        rate_limit: 100,
        created_at: instant,
        updated_at: instant,
      },
    });
    const undone = await json(
      ...['workspace', 'set', '--slug', 'full', '--no-demo', '--no-short-title-required'],
      ...['--history-days', 'none', '--rate-limit', 'none'],
    );
    expect(undone.workspace).toMatchObject({
      name: 'Full & Co',
      is_demo: false,
      history_days: null,
      reporting_currency: 'EUR',
      short_title_required: false,
      rate_limit: null,
    });
    expect((await json('workspace', 'set', '--slug', 'full', '--name', 'Renamed')).workspace.name).toBe('Renamed');
  });

  test('are shown to people line by line', async () => {
    const { printed } = await runAdmin(['workspace', 'create', '--slug', 'shown', '--name', 'Shown'], env);
    expect(printed).toMatch(
      /^workspace\n {2}id: \d+\n {2}slug: shown\n {2}name: Shown\n {2}is_demo: false\n {2}history_days: none\n/,
    );
  });
});

describe('users', () => {
  test('are created, changed, shut out and let in again', async () => {
    const who = ['--workspace', 'acme', '--email', 'ana@acme.example'];
    const created = await json('user', 'create', ...who, '--name', 'Ana', '--role', 'admin', '--seat', 'responder');
    expect(created).toEqual({
      user: {
        id: expect.any(Number),
        workspace_id: expect.any(Number),
        email: 'ana@acme.example',
        name: 'Ana',
        active: true,
        role: 'admin',
        seat: 'responder',
        created_at: instant,
        updated_at: instant,
      },
    });
    const { id } = created.user;
    expect(
      (await json('user', 'set', ...who, '--role', 'viewer', '--seat', 'none', '--name', 'Ana B')).user,
    ).toMatchObject({
      id,
      name: 'Ana B',
      role: 'viewer',
      seat: 'none',
    });
    expect((await json('user', 'deactivate', ...who)).user).toMatchObject({ id, active: false, role: 'viewer' });
    expect((await json('user', 'activate', ...who)).user).toMatchObject({ id, active: true });
  });

  test('are members without a seat unless more is said', async () => {
    const { user } = await json('user', 'create', '--workspace', 'acme', '--email', 'bo@acme.example', '--name', 'Bo');
    expect(user).toMatchObject({ role: 'member', seat: 'none', active: true });
  });
});

describe('keys', () => {
  const of = ['--workspace', 'acme', '--user', 'keys@acme.example'];
  beforeAll(async () => {
    await json('user', 'create', '--workspace', 'acme', '--email', 'keys@acme.example', '--name', 'K');
  });

  test('are created with their token, and revoked', async () => {
    const scopes = ['--scope', 'incidents:write', '--scope', 'incidents:read'];
    const created = await json(
      'key',
      'create',
      ...of,
      '--name',
      'ci',
      ...scopes,
      '--expires',
      '2099-01-31T12:00:00+01:00',
    );
    expect(created).toEqual({
      key: {
        id: expect.any(Number),
        user_id: expect.any(Number),
        name: 'ci',
        prefix: created.token.slice(0, 8),
        scopes: ['incidents:read', 'incidents:write'],
        expires_at: '2099-01-31T11:00:00.000Z',
        revoked_at: null,
        created_at: instant,
      },
      token: expect.any(String),
    });
    expect(isToken(created.token)).toBe(true);
    const revoked = await json('key', 'revoke', '--id', String(created.key.id));
    expect(revoked).toEqual({ key: { ...created.key, revoked_at: instant } });
  });

  test('can have every scope', async () => {
    const { key } = await json('key', 'create', ...of, '--name', 'all', '--all-scopes');
    expect(key.scopes).toHaveLength(10);
    expect(key.expires_at).toBeNull();
  });

  test('are not stored but by their digest', async () => {
    const { token, key } = await json('key', 'create', ...of, '--name', 'secret', '--all-scopes');
    const knex = openDatabase({ url: database.url('gateway'), schema: 'gateway', application: 'test', poolSize: 1 });
    const { rows } = await knex.raw<{ rows: { stored: string }[] }>(
      'select k::text as stored from api_keys k where id = ?',
      [key.id],
    );
    await knex.destroy();
    expect(rows[0]?.stored).toContain(token.slice(0, 8));
    expect(rows[0]?.stored).not.toContain(token.slice(0, 12));
  });
});

describe('configuration', () => {
  const tiers = [
    { key: 'gold', label: 'Gold', is_default: false },
    { key: 'rest', label: 'Rest', is_default: true, description: 'The rest' },
  ];
  const severities = [
    { key: 'critical', label: 'Critical', is_default: false, min_score: 80 },
    { key: 'minor', label: 'Minor', is_default: true, min_score: 0 },
  ];
  const configure = async (content: unknown, slug = 'acme') => {
    const file = path.join(folder, 'workspace.json');
    await writeFile(file, typeof content === 'string' ? content : JSON.stringify(content));
    return ['workspace', 'configure', '--slug', slug, '--file', file];
  };
  const query = async <Row>(schema: string, sql: string) => {
    const knex = openDatabase({ url: database.url(schema), schema, application: 'test', poolSize: 1 });
    const { rows } = await knex.raw<{ rows: Row[] }>(sql);
    await knex.destroy();
    return rows;
  };
  const versionOf = async (slug: string) =>
    (await query<{ version: number }>('gateway', `select version from workspaces where slug = '${slug}'`))[0]?.version;

  test('of both services is applied and printed, and the workspace gets a new version', async () => {
    const before = await versionOf('acme');
    const answer = await json(
      ...(await configure({ severities, service_tiers: tiers, timeline_groups: [{ name: 'Mitigation' }] })),
    );
    expect(answer).toMatchObject({
      workspace: { slug: 'acme' },
      severities: [
        { key: 'critical', min_score: 80 },
        { key: 'minor', is_default: true },
      ],
      service_tiers: [{ key: 'gold' }, { key: 'rest', is_default: true }],
      timeline_groups: [{ id: expect.any(Number), name: 'Mitigation' }],
    });
    expect(answer).not.toHaveProperty('workflow_statuses');
    expect(await versionOf('acme')).toBe((before ?? 0) + 1);
    const { printed } = await runAdmin(await configure({ timeline_groups: [{ name: 'Mitigation' }] }), env);
    expect(printed).toMatch(/timeline_groups\n {2}- id \d+, name "Mitigation"$/);
  });

  test('is changed nowhere when one service refuses its part', async () => {
    const stored = async () => [
      await versionOf('acme'),
      await query('incident', 'select to_jsonb(configurations) as row from configurations'),
      await query('catalog', 'select to_jsonb(configurations) as row from configurations'),
    ];
    const before = await stored();
    expect(JSON.stringify(before)).toContain('gold');
    const bad = [{ key: 'only', label: 'Only', is_default: false }];
    expect(await refusal(...(await configure({ severities: bad, service_tiers: tiers.slice(1) })))).toContain(
      'workspace.json: severities',
    );
    expect(await refusal(...(await configure({ severities: severities.slice(1), service_tiers: bad })))).toContain(
      'workspace.json: service_tiers: Exactly one tier must be the default',
    );
    expect(await stored()).toEqual(before);
  });

  test.each([
    ['{', 'is not a valid JSON document'],
    ['[]', 'workspace.json: '],
    [{ tiers }, 'tiers'],
    [{ service_tiers: 'gold' }, 'service_tiers'],
    [{ service_tiers: [{ ...tiers[1], colour: 'x' }] }, 'service_tiers.0.colour'],
  ])('%j is refused: %s', async (content, why) => {
    expect(await refusal(...(await configure(content)))).toContain(why);
  });

  test('wants a file and a workspace that are there', async () => {
    expect(await refusal('workspace', 'configure', '--slug', 'acme', '--file', '/nowhere.json')).toBe(
      '/nowhere.json does not exist',
    );
    expect(await refusal(...(await configure({}, 'nobody')))).toBe('The workspace nobody does not exist');
  });
});

describe('what cannot be done is one line on stderr', () => {
  test.each([
    [[], 'name a command: workspace create, '],
    [['workspace'], 'there is no command workspace: '],
    [['workspace', 'destroy', '--slug', 'acme'], 'there is no command workspace destroy: '],
    [['workspace', 'create', '--slug', 'x'], 'workspace create: --name is missing'],
    [['workspace', 'create', '--slug', 'x', '--name', 'X', '--color', 'red'], "Unknown option '--color'"],
    [['workspace', 'create', '--slug', 'x', '--slug', 'y', '--name', 'X'], '--slug is given twice'],
    [['workspace', 'create', '--slug', 'x', '--name'], "'--name <value>' argument missing"],
    [['workspace', 'create', 'x', '--slug', 'x', '--name', 'X'], "Unexpected argument 'x'"],
    [['workspace', 'create', '--slug', 'acme', '--name', 'X'], 'The workspace acme exists already'],
    [['workspace', 'create', '--slug', 'No', '--name', 'X'], 'A slug is'],
    [['workspace', 'create', '--slug', 'x', '--name', 'X', '--history-days', 'all'], '--history-days: all is neither'],
    [['workspace', 'create', '--slug', 'x', '--name', 'X', '--history-days', '0'], 'above 0'],
    [['workspace', 'create', '--slug', 'x', '--name', 'X', '--rate-limit', '1.5'], 'whole number'],
    [['workspace', 'create', '--slug', 'x', '--name', 'X', '--reporting-currency', 'euro'], 'three capital letters'],
    [['workspace', 'set', '--slug', 'acme'], 'nothing to set'],
    [['workspace', 'set', '--slug', 'nobody', '--demo'], 'The workspace nobody does not exist'],
    [['user', 'create', '--workspace', 'acme', '--email', 'x', '--name', 'X'], 'no email address'],
    [
      ['user', 'create', '--workspace', 'acme', '--email', 'a@b.c', '--name', 'X', '--role', 'god'],
      '--role: god is none of owner',
    ],
    [
      ['user', 'set', '--workspace', 'acme', '--email', 'no@body.c', '--seat', 'none'],
      'The user no@body.c in acme does not exist',
    ],
    [['user', 'set', '--workspace', 'acme', '--email', 'no@body.c'], 'nothing to set'],
    [['key', 'create', '--workspace', 'acme', '--user', 'no@body.c', '--name', 'k'], 'at least one --scope'],
    [
      ['key', 'create', '--workspace', 'acme', '--user', 'a@b.c', '--name', 'k', '--scope', 'all'],
      'There is no scope all',
    ],
    [['key', 'revoke', '--id', 'one'], '--id: must be an integer'],
    [['key', 'revoke', '--id', '999999'], 'The key 999999 does not exist'],
    [['slack', 'connect', '--workspace', 'acme'], '--bot-token is missing'],
    [['slack', 'connect', '--workspace', 'nobody', '--bot-token', 'x'], 'The workspace nobody does not exist'],
    [
      ['slack', 'connect', '--workspace', 'acme', '--bot-token', 'two words'],
      'The bot token must be one, without spaces',
    ],
    [
      ['slack', 'connect', '--workspace', 'acme', '--bot-token', 'x', '--channel-template', 'inc-{number}'],
      'The template {number} is none of {id}',
    ],
    [['slack', 'disconnect', '--workspace', 'nobody'], 'The workspace nobody does not exist'],
    [['slack', 'list'], 'there is no command slack list'],
  ])('%j', async (args, line) => {
    expect(await refusal(...args)).toContain(line);
  });

  test('a database that is away, or not set up', async () => {
    const revoke = ['key', 'revoke', '--id', '1'];
    const lost = await runAdmin(revoke, { ...env, DATABASE_URL: 'postgres://nobody@127.0.0.1:9/none' });
    expect(lost.fault).toMatch(/^the database cannot be reached: [^\n]+$/);
    const empty = await createTestDatabase();
    const bare = await runAdmin(revoke, { ...env, GATEWAY_DATABASE_URL: empty.adminUrl });
    await empty.drop();
    expect(bare.fault).toBe('the database is not set up: run npm run migrate');
    expect((await runAdmin(revoke, { ...env, DATABASE_URL: 'mysql://a' })).fault).toMatch(
      /^settings: DATABASE_URL: [^\n]+$/,
    );
  });
});

describe('slack connect', () => {
  const connect = ['slack', 'connect', '--workspace', 'acme', '--bot-token', 'xoxb-secret'];
  const stored = async () => {
    const connection = openDatabase({
      url: database.url('incident'),
      schema: 'incident',
      application: 'test',
      poolSize: 1,
    });
    const rows: Record<string, unknown>[] = await connection('chat_connections').select(
      'channel_template',
      'token_box',
      'key_id',
    );
    await connection.destroy();
    return rows;
  };

  test('keeps the token where nobody can read it, and the last connection counts', async () => {
    expect(await json(...connect)).toEqual({
      slack: { workspace: 'acme', connected: true, channel_template: 'inc-{id}-{short_title}' },
    });
    expect(await json(...connect, '--channel-template', 'war-{id}')).toEqual({
      slack: { workspace: 'acme', connected: true, channel_template: 'war-{id}' },
    });
    const rows = await stored();
    expect(rows).toMatchObject([{ channel_template: 'war-{id}' }]);
    const everything = rows.map((row) => Object.values(row).map(String).join(' ')).join(' ');
    expect(everything).not.toContain('xoxb-secret');
  });

  test('wants the keys that the services have', async () => {
    const { fault } = await runAdmin(connect, { ...env, TOCSIN_SECRET_KEYS: '' });
    expect(fault).toContain('TOCSIN_SECRET_KEYS must be set');
  });

  test('is undone by slack disconnect, which may be repeated', async () => {
    for (let time = 1; time <= 2; time += 1) {
      expect(await json('slack', 'disconnect', '--workspace', 'acme')).toEqual({
        slack: { workspace: 'acme', connected: false },
      });
    }
    expect(await stored()).toEqual([]);
  });
});

describe('help', () => {
  test('lists the commands, and explains each', async () => {
    const { printed = '' } = await runAdmin(['--help'], env);
    const commands = ['workspace create', 'workspace set', 'workspace configure', 'user create', 'user set'];
    const keys = ['user deactivate', 'user activate', 'key create', 'key revoke'];
    for (const name of [...commands, ...keys, 'slack connect', 'slack disconnect']) {
      expect(printed).toContain(name);
      const one = await runAdmin([...name.split(' '), '--help'], env);
      expect(one.printed).toContain(`npm run -s admin -- ${name} --`);
    }
  });
});

describe('as a process', () => {
  test('prints one JSON object, or one line on stderr and exits with 1', async () => {
    const done = await call(['workspace', 'set', '--slug', 'acme', '--name', 'Acme & Co', '--json']);
    expect([done.code, done.stderr, JSON.parse(done.stdout).workspace.name]).toEqual([0, '', 'Acme & Co']);
    expect(done.stdout).toMatch(/^[^\n]+\n$/);
    const refused = await call(['workspace', 'set', '--slug', 'nobody', '--name', 'N', '--json']);
    expect(refused).toEqual({ code: 1, stdout: '', stderr: 'The workspace nobody does not exist\n' });
  });
});

describe('the instance that it works on', () => {
  const away = 'postgres://nobody@127.0.0.1:9/none';
  const announce = async (pid: number) => {
    const note = { env: { GATEWAY_DATABASE_URL: database.url('gateway') }, pid, baseUrl: 'http://localhost:8080' };
    await writeFile(path.join(folder, 'runtime.json'), JSON.stringify(note));
  };
  const create = async (slug: string, more: Record<string, string> = {}) =>
    runAdmin(['workspace', 'create', '--slug', slug, '--name', 'X'], {
      TOCSIN_DATA_DIR: folder,
      DATABASE_URL: away,
      ...more,
    });
  afterAll(async () => rm(path.join(folder, 'runtime.json')));

  test('is the one that runs on the data folder; the environment counts more', async () => {
    await announce(process.pid);
    expect((await create('found')).printed).toContain('slug: found');
    expect((await create('found-too', { GATEWAY_DATABASE_URL: '' })).printed).toContain('slug: found-too');
    expect((await create('elsewhere', { GATEWAY_DATABASE_URL: away })).fault).toContain('cannot be reached');
  });

  test('is not one that ended without saying so', async () => {
    await announce(2 ** 22 + 1);
    expect((await create('stale')).fault).toContain('cannot be reached');
  });
});

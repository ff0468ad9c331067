import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { SCOPES } from '@tocsin/schemas';
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { openDatabase } from '@tocsin/postgres';
import { generateSecretKeys, parseSecretKeys } from '@tocsin/runtime';
import { createTestDatabase, TEST_SECRET_KEYS, type TestDatabase } from '@tocsin/testing';
import { isToken } from '../../../gateway/src/identity/domain/token.ts';
import { schema as gateway } from '../../../gateway/src/schema.ts';
import { schema as catalog } from '../../../services/catalog/src/schema.ts';
import { schema as webhook } from '../../../services/webhook/src/schema.ts';
import { schema as incident } from '../../../services/incident/src/schema.ts';
import { chatTokens } from '../../../services/incident/src/chat/chats.ts';
import { runAdmin } from '../run-admin.ts';
import { withDatabase } from '../../installation/databases.ts';
import { withInstance } from './registered-instance.ts';

const ROOT = path.resolve(import.meta.dirname, '../../..');

let database: TestDatabase;
let folder: string;
let env: Record<string, string>;

beforeAll(async () => {
  database = await createTestDatabase(
    ...[gateway, incident, catalog, webhook].map(({ name, migrations }) => ({ schema: name, migrations })),
  );
  folder = await mkdtemp(path.join(os.tmpdir(), 'tocsin-admin-'));
  env = { DATABASE_URL: database.adminUrl, TOCSIN_DATA_DIR: folder, TOCSIN_SECRET_KEYS: TEST_SECRET_KEYS };
  await json('workspace', 'create', '--slug', 'acme', '--name', 'Acme');
});
afterAll(async () => {
  await database.drop();
  await rm(folder, { recursive: true });
});

/** The words of a call. */
const words = (line: string) => line.split(' ').filter((word) => word !== '');

/** The output of a successful command. */
async function json(...args: string[]) {
  const { output, error } = await runAdmin([...args, '--json'], env);
  expect(error).toBeUndefined();
  expect(output).not.toContain('\n');
  return JSON.parse(output ?? '');
}

/** The error message of a failed command. */
async function errorOf(...args: string[]): Promise<string> {
  const { output, error } = await runAdmin(args, env);
  expect(output).toBeUndefined();
  expect(error).toMatch(/^[^\n]+$/);
  return error ?? '';
}

/** Runs the command as a process. */
async function call(args: string[], more: Record<string, string> = env, input = '') {
  const { NODE_OPTIONS: _, ...own } = process.env;
  const { promise, resolve } = Promise.withResolvers<{ code: number; stdout: string; stderr: string }>();
  const child = execFile(
    'npm',
    ['run', '-s', 'admin', '--', ...args],
    { cwd: ROOT, env: { ...own, ...more } },
    (error, stdout, stderr) => resolve({ code: error === null ? 0 : Number(error.code), stdout, stderr }),
  );
  // The command may end before it has read its input.
  child.stdin?.on('error', () => undefined);
  child.stdin?.end(input);
  return promise;
}

const query = async <Row>(schema: string, sql: string, values: readonly number[] = []) =>
  withDatabase(
    openDatabase({ url: database.url(schema), schema, application: 'test', poolSize: 1 }),
    async (knex) => (await knex.raw<{ rows: Row[] }>(sql, values)).rows,
  );

const instant = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);

describe('workspaces', () => {
  test('are created with all settings, and updated one by one', async () => {
    const created = await json(
      ...['workspace', 'create', '--slug', 'full', '--name', 'Full & Co', '--demo', '--history-days', '1.5'],
      ...['--reporting-currency', 'EUR', '--short-title-required', '--rate-limit', '100'],
      ...['--quota', 'teams=20', '--quota', 'storage_mb=none'],
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
        quotas: {
          teams: 20,
          services: 10_000,
          custom_fields: 500,
          incidents: null,
          timeline_events: 20_000,
          storage_mb: null,
          users: 10_000,
          api_keys: 100,
        },
        suspended_at: null,
        created_at: instant,
        updated_at: instant,
      },
    });
    const undone = await json(
      ...['workspace', 'set', '--slug', 'full', '--no-demo', '--no-short-title-required'],
      ...['--history-days', 'none', '--rate-limit', 'none', '--quota', 'teams=default', '--quota', 'services=3'],
    );
    expect(await json('workspace', 'show', '--slug', 'full')).toEqual(undone);
    expect(undone.workspace).toMatchObject({
      name: 'Full & Co',
      is_demo: false,
      history_days: null,
      reporting_currency: 'EUR',
      short_title_required: false,
      rate_limit: null,
      quotas: { teams: 5_000, services: 3, storage_mb: null },
    });
    expect((await json('workspace', 'set', '--slug', 'full', '--name', 'Renamed')).workspace.name).toBe('Renamed');
  });

  test('are printed line by line without --json', async () => {
    const { output } = await runAdmin(['workspace', 'create', '--slug', 'shown', '--name', 'Shown'], env);
    expect(output).toMatch(/^workspace\nid: \d+\nslug: shown\nname: Shown\nis_demo: false\n(?!history_days)/);
  });
});

describe('users', () => {
  test('are created, updated, deactivated and activated', async () => {
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
    const changed = await json('user', 'set', ...who, '--role', 'viewer', '--seat', 'none', '--name', 'Ana B');
    expect(changed.user).toMatchObject({ id, name: 'Ana B', role: 'viewer', seat: 'none' });
    expect((await json('user', 'deactivate', ...who)).user).toMatchObject({ id, active: false, role: 'viewer' });
    expect((await json('user', 'activate', ...who)).user).toMatchObject({ id, active: true });
  });
});

describe('addresses of the console', () => {
  const PUBLIC_URL = 'https://{workspace}.tocsin.example.com';
  const link = async (settings: Record<string, string>) =>
    runAdmin(['login-link', '--workspace', 'acme', '--email', 'linked@acme.example', '--json'], {
      ...env,
      ...settings,
    });
  const addressIn = async (settings: Record<string, string>) =>
    JSON.parse((await link(settings)).output ?? '').url.split('/app/sign-in#')[0] as string;

  test('follow the public address, or else the settings of the gateway, of which empty ones do not count', async () => {
    await json('user', 'create', '--workspace', 'acme', '--email', 'linked@acme.example', '--name', 'Linked');
    expect(await addressIn({ PUBLIC_URL, BASE_DOMAIN: 'internal' })).toBe('https://acme.tocsin.example.com');
    expect(await addressIn({ PUBLIC_URL: 'http://one.example:81/' })).toBe('http://one.example:81');
    expect(await addressIn({ PUBLIC_URL: '', BASE_DOMAIN: 'example.com' })).toBe('https://acme.example.com');
    expect(await addressIn({ BASE_DOMAIN: '', DEFAULT_WORKSPACE: 'acme' })).toBe('http://localhost:8080');
    expect(await addressIn({ DEFAULT_WORKSPACE: '' })).toBe('http://acme.localhost:8080');
    expect((await link({ PUBLIC_URL: 'https://one.example/app' })).error).toMatch(/PUBLIC_URL: must be http/);
  });

  test('are those of the redirect URI of a provider', async () => {
    const registration = ['--issuer', 'https://id.example', '--client-id', 'tocsin', '--client-secret', 's'];
    const args = ['oidc', 'connect', '--workspace', 'acme', ...registration, '--json'];
    const { output = '' } = await runAdmin(args, { ...env, PUBLIC_URL });
    expect(JSON.parse(output).oidc.redirect_uri).toBe('https://acme.tocsin.example.com/app/oidc/callback');
  });
});

describe('groups at a provider', () => {
  const registration = words('--workspace acme --issuer https://id.example --client-id tocsin --client-secret s');
  const connect = ['oidc', 'connect', ...registration];
  const seats = ['--group-seat', 'On call', '--group-seat', 'Leads'];

  test('give roles, seats or both', async () => {
    const { oidc } = await json(...connect, ...seats, '--group-role', 'Leads=manager', '--groups-claim', 'roles');
    expect(oidc).toMatchObject({
      ...{ groups_claim: 'roles', group_roles: ['Leads=manager'], group_seats: ['On call', 'Leads'] },
    });
    const bySeats = await json(...connect, ...seats);
    expect(bySeats.oidc).toMatchObject({ groups_claim: 'groups', group_seats: ['On call', 'Leads'] });
    expect(bySeats.oidc).not.toHaveProperty('group_roles');
    expect(Object.keys((await json(...connect)).oidc).filter((name) => name.startsWith('group'))).toEqual([]);
  });

  test.each([
    [['--group-seat'], /--group-seat/],
    [['--group-seat', '--trust-email'], '--group-seat: the value is missing'],
    [['--group-seat', ''], /groups.*1 to 512 characters/],
    [['--groups-claim', 'roles'], /at least one --group-role or --group-seat/],
  ])('are refused as %j', async (flags, message) => {
    expect(await errorOf(...connect, ...flags)).toMatch(message);
  });
});

describe('keys', () => {
  const of = ['--workspace', 'acme', '--user', 'keys@acme.example'];
  beforeAll(async () => {
    await json('user', 'create', '--workspace', 'acme', '--email', 'keys@acme.example', '--name', 'K');
  });

  test('are created with their token, and revoked', async () => {
    const more = '--name ci --scope incidents:write --scope incidents:read --expires 2099-01-31T12:00:00+01:00';
    const created = await json('key', 'create', ...of, ...words(more));
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
        last_used_at: null,
      },
      token: expect.any(String),
    });
    expect(isToken(created.token)).toBe(true);
    const owned = { replaced_by: null, workspace: 'acme', user: 'keys@acme.example', state: 'active' };
    expect(await json('key', 'show', '--id', String(created.key.id))).toEqual({ key: { ...created.key, ...owned } });
    const revoked = await json('key', 'revoke', '--id', String(created.key.id));
    expect(revoked).toEqual({ key: { ...created.key, revoked_at: instant } });
  });

  test('can have all scopes', async () => {
    const { key } = await json('key', 'create', ...of, '--name', 'all', '--all-scopes');
    expect(key.scopes).toHaveLength(SCOPES.length);
    expect(key.expires_at).toBeNull();
  });

  test('are stored only as digests', async () => {
    const { token, key } = await json('key', 'create', ...of, '--name', 'secret', '--all-scopes');
    const select = 'select k::text as stored from api_keys k where id = ?';
    const [row] = await query<{ stored: string }>('gateway', select, [key.id]);
    expect(row?.stored).toContain(token.slice(0, 8));
    expect(row?.stored).not.toContain(token.slice(0, 12));
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
  const versionOf = async (slug: string) =>
    (await query<{ version: number }>('gateway', `select version from workspaces where slug = '${slug}'`))[0]?.version;

  test('of both services is applied and printed, and raises the version of the workspace', async () => {
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
    const { output } = await runAdmin(await configure({ timeline_groups: [{ name: 'Mitigation' }] }), env);
    expect(output).toMatch(/\ntimeline_groups\nID +NAME\n\d+ +Mitigation$/);
  });

  test('takes what the command prints, and the lists as the API shows them', async () => {
    const printed = await json(...(await configure({ severities, service_tiers: tiers })));
    const { workspace } = await json('workspace', 'show', '--slug', 'acme');
    const ordered = (list: object[]) => list.map((entry, order) => ({ ...entry, order }));
    const shown = { workspace, severities: ordered(severities), service_tiers: ordered(tiers) };
    expect((await json(...(await configure(printed)))).severities).toEqual(printed.severities);
    expect((await json(...(await configure(shown)))).service_tiers).toMatchObject(tiers);

    const swapped = ordered(severities).map((entry) => ({ ...entry, order: 1 - entry.order }));
    expect(await errorOf(...(await configure({ severities: swapped })))).toContain(
      'severities.1.order: Must be greater than that of the entries before it',
    );
    const renamed = { workspace: { ...workspace, name: 'Another' } };
    expect(await errorOf(...(await configure(renamed)))).toContain('workspace.name: Must be as it is');
  });

  test('stays unchanged in both services when one rejects its part', async () => {
    const stored = async () => [
      await versionOf('acme'),
      await query('incident', 'select to_jsonb(configurations) as row from configurations'),
      await query('catalog', 'select to_jsonb(configurations) as row from configurations'),
    ];
    const before = await stored();
    expect(JSON.stringify(before)).toContain('gold');
    const bad = [{ key: 'only', label: 'Only', is_default: false }];
    expect(await errorOf(...(await configure({ severities: bad, service_tiers: tiers.slice(1) })))).toContain(
      'workspace.json: severities',
    );
    expect(await errorOf(...(await configure({ severities: severities.slice(1), service_tiers: bad })))).toContain(
      'workspace.json: service_tiers: Exactly one entry must be the default',
    );
    expect(await stored()).toEqual(before);
  });

  test.each([
    ['{', 'is not valid JSON at line 1, column 2'],
    ['[]', 'workspace.json: '],
    ['{"exchange_rates":[{"currency":"EUR","rate":1.0899999999999999999}]}', 'workspace.json: exchange_rates.0.rate: '],
    ['{"service_tiers":[],"service_tiers":[]}', 'workspace.json: service_tiers: Must not occur more than once'],
    [{ tiers }, 'tiers'],
    [{ service_tiers: 'gold' }, 'service_tiers'],
    [{ service_tiers: [{ ...tiers[1], colour: 'x' }] }, 'service_tiers.0.colour'],
  ])('rejects %j: %s', async (content, why) => {
    expect(await errorOf(...(await configure(content)))).toContain(why);
  });

  test('has a maximum length', async () => {
    expect(await errorOf(...(await configure(' '.repeat(16_777_217))))).toContain('has more than 16777216 bytes');
  });

  test('needs an existing file and an existing workspace', async () => {
    expect(await errorOf('workspace', 'configure', '--slug', 'acme', '--file', '/nowhere.json')).toBe(
      "cannot read /nowhere.json: ENOENT: no such file or directory, open '/nowhere.json'",
    );
    expect(await errorOf(...(await configure({}, 'nobody')))).toBe('The workspace nobody does not exist');
  });
});

describe('an error is one line', () => {
  test.each([
    ['', 'name a command: --help lists them'],
    ['workspace', 'name a command: --help lists them'],
    ['workspcae list', "unknown command 'workspcae' (Did you mean workspace?)"],
    ['workspace destroy --slug acme', "unknown command 'destroy'"],
    ['workspace create --slug x', "required option '--name <NAME>' not specified"],
    ['workspace create --slug x --name X --color red', "unknown option '--color'"],
    ['workspace create --slug x --slug y --name X', '--slug is given twice'],
    ['workspace create --slug x --name', "option '--name <NAME>' argument missing"],
    ['workspace create x --slug x --name X', "too many arguments for 'create'"],
    ['workspace create --slug --name X', '--slug: the value is missing'],
    ['workspace create --slug x --name X --demo --no-demo', '--demo is given twice'],
    ['workspace create --slug acme --name X', 'The workspace acme exists already'],
    ['workspace create --slug No --name X', 'A slug is'],
    ['workspace create --slug x --name X --history-days all', '--history-days: all is neither'],
    ['workspace create --slug x --name X --history-days 0', 'above 0'],
    ['workspace create --slug x --name X --rate-limit 1.5', 'whole number'],
    ['workspace create --slug x --name X --quota teams', 'is not NAME=N'],
    ['workspace create --slug x --name X --quota rooms=1', 'There is no quota rooms'],
    ['workspace set --slug x --quota teams=1 --quota teams=2', 'teams is given twice'],
    ['workspace create --slug x --name X --reporting-currency euro', 'three capital letters'],
    ['workspace set --slug acme', 'nothing to set'],
    ['workspace set --slug nobody --demo', 'The workspace nobody does not exist'],
    ['user create --workspace acme --email x --name X', 'not an email address'],
    ['user create --workspace acme --email a@b.c --name X --role god', '--role: god is not one of owner'],
    ['user set --workspace acme --email no@body.c --seat none', 'The user no@body.c in acme does not exist'],
    ['user set --workspace acme --email no@body.c', 'nothing to set'],
    ['key create --workspace acme --user no@body.c --name k', 'at least one --scope'],
    ['key create --workspace acme --user a@b.c --name k --scope all', '--scope: all is not one of incidents:read'],
    ['key revoke --id one', '--id: must be an integer'],
    ['key revoke --id 999999', 'The key 999999 does not exist'],
    ['slack connect --workspace acme', 'use either --bot-token-file or --bot-token'],
    ['slack connect --workspace nobody --bot-token x', 'The workspace nobody does not exist'],
    [
      ['slack', 'connect', '--workspace', 'acme', '--bot-token', 'two words'],
      'The bot token must be 1 to 512 printable ASCII characters without spaces',
    ],
    [
      'slack connect --workspace acme --bot-token x --channel-template inc-{number}',
      'The template {number} is not one of {id}',
    ],
    ['slack configure --workspace acme', '--channel-updates or --no-channel-updates is required'],
    ['slack configure --workspace acme --channel-updates', 'The workspace has no chat connection'],
    ['slack disconnect --workspace nobody', 'The workspace nobody does not exist'],
    ['slack list', "unknown command 'list'"],
    ['workspace show --slug nobody', 'The workspace nobody does not exist'],
    ['user list --workspace nobody', 'The workspace nobody does not exist'],
    ['user show --workspace acme --email no@body.c', 'The user no@body.c in acme does not exist'],
    ['key list --workspace acme --user no@body.c', 'The user no@body.c in acme does not exist'],
    ['key show --id 999999', 'The key 999999 does not exist'],
    ['key rotate --id 999999', 'The key 999999 does not exist'],
    ['key rotate --id 1 --overlap 1y', '--overlap: 1y is not a duration'],
    ['key rotate --id 1 --overlap 31d', 'The overlap must be at most 30 days'],
    ['webhook list --workspace nobody', 'The workspace nobody does not exist'],
    ['webhook deliveries --workspace acme --status lost', '--status: lost is not one of queued, held'],
    ['webhook deliveries --workspace acme --limit 10001', '--limit: must be an integer of at least 1, at most 10000'],
    ['webhook deliveries --workspace acme --subscription wh_x', 'The webhook does not exist'],
    ['webhook delivery show', "missing required argument 'delivery'"],
    ['webhook delivery show one', 'delivery: must be an integer of at least 1'],
    ['webhook delivery show 999999', 'The delivery 999999 does not exist'],
    ['webhook redeliver 999999', 'The delivery 999999 does not exist'],
    ['completion powershell', "'powershell' is invalid for argument 'shell'. Allowed choices are bash, zsh, fish."],
  ])('%s', async (args, line) => {
    expect(await errorOf(...(typeof args === 'string' ? words(args) : args))).toContain(line);
  });

  test('when the database is unreachable or not set up', async () => {
    const revoke = ['key', 'revoke', '--id', '1'];
    const lost = await runAdmin(revoke, { ...env, DATABASE_URL: 'postgres://nobody@127.0.0.1:9/none' });
    expect(lost.error).toMatch(/^cannot reach the database: [^\n]+$/);
    const empty = await createTestDatabase();
    const bare = await runAdmin(revoke, { ...env, GATEWAY_DATABASE_URL: empty.adminUrl });
    await empty.drop();
    expect(bare.error).toBe('the database is not set up: run npm run migrate');
    expect((await runAdmin(revoke, { ...env, DATABASE_URL: 'mysql://a' })).error).toMatch(
      /^settings: DATABASE_URL: [^\n]+$/,
    );
  });
});

describe('slack connect', () => {
  const connect = ['slack', 'connect', '--workspace', 'acme', '--bot-token', 'xoxb-secret'];
  const stored = async () =>
    query<Record<string, unknown>>(
      'incident',
      'select channel_template, posts_updates, token_ciphertext, key_id from chat_connections',
    );

  test('encrypts the token, and replaces an earlier connection', async () => {
    expect(await json(...connect)).toEqual({
      slack: { workspace: 'acme', connected: true, channel_template: 'inc-{id}-{short_title}', commands: false },
    });
    expect(await json(...connect, '--channel-template', 'war-{id}')).toEqual({
      slack: { workspace: 'acme', connected: true, channel_template: 'war-{id}', commands: false },
    });
    const rows = await stored();
    expect(rows).toMatchObject([{ channel_template: 'war-{id}', posts_updates: false }]);
    const everything = rows.map((row) => Object.values(row).map(String).join(' ')).join(' ');
    expect(everything).not.toContain('xoxb-secret');
  });

  describe('reads the token from', () => {
    const from = (...source: string[]) => ['slack', 'connect', '--workspace', 'acme', ...source, '--json'];
    const opened = async () => {
      const [row] = await query<{ bot: Buffer; app: Buffer | null; keyId: string; workspace: number }>(
        'incident',
        `select token_ciphertext as bot, app_token_ciphertext as app, key_id as "keyId", workspace_id as workspace
          from chat_connections`,
      );
      const { bot: ciphertext, app: appToken, keyId, workspace: workspaceId } = row!;
      const connection = {
        workspaceId,
        token: { keyId, ciphertext },
        appToken,
        channelTemplate: '',
        postsUpdates: false,
      };
      return chatTokens(TEST_SECRET_KEYS).open(connection);
    };

    test('a file', async () => {
      const file = path.join(folder, 'token');
      await writeFile(file, 'xoxb-of-a-file\n');
      await json('slack', 'connect', '--workspace', 'acme', '--bot-token-file', file);
      expect(await opened()).toEqual({ bot: 'xoxb-of-a-file', app: undefined });
    });

    test('two files: with the token of the app, there are commands', async () => {
      const files = { bot: path.join(folder, 'token'), app: path.join(folder, 'app-token') };
      await writeFile(files.bot, 'xoxb-of-a-file\n');
      await writeFile(files.app, 'xapp-1-of-a-file\n');
      const both = ['--bot-token-file', files.bot, '--app-token-file'];
      expect(await json('slack', 'connect', '--workspace', 'acme', ...both, files.app)).toMatchObject({
        slack: { commands: true },
      });
      expect(await opened()).toEqual({ bot: 'xoxb-of-a-file', app: 'xapp-1-of-a-file' });
      expect(await errorOf('slack', 'connect', '--workspace', 'acme', ...both, files.bot)).toContain(
        'The app token must begin with xapp-',
      );
    });

    test('standard input', async () => {
      const done = await call(from('--bot-token', '-'), env, 'xoxb-of-stdin\n');
      expect([done.code, JSON.parse(done.stdout).slack.connected]).toEqual([0, true]);
      expect(await opened()).toEqual({ bot: 'xoxb-of-stdin', app: undefined });
      expect((await call(from('--bot-token', '-'), env, '')).stderr).toMatch(/\bstandard input: contains no secret\n$/);
      const endless = await call(from('--bot-token', '-'), env, 'x'.repeat(100_000));
      expect(endless.stderr).toMatch(/\bThe bot token must be 1 to 512 printable ASCII characters without spaces\n$/);
    });

    test.each([
      ['nothing', '', 'contains no secret'],
      ['two lines', 'xoxb-one\nxoxb-two\n', 'The bot token must be 1 to 512 printable ASCII characters without spaces'],
      ['too much', 'x'.repeat(16_777_217), 'has more than 16777216 bytes'],
    ])('rejects a file with %s', async (_, content, why) => {
      const file = path.join(folder, 'bad-token');
      await writeFile(file, content);
      expect(await errorOf('slack', 'connect', '--workspace', 'acme', '--bot-token-file', file)).toContain(why);
    });

    test('names a file that cannot be read', async () => {
      const where = ['slack', 'connect', '--workspace', 'acme'];
      expect(await errorOf(...where, '--bot-token-file', '/nowhere/token')).toContain(
        'cannot read /nowhere/token: ENOENT',
      );
      expect(await errorOf(...where, '--bot-token-file', folder)).toContain(`cannot read ${folder}: EISDIR`);
      expect(await errorOf(...where, '--bot-token-file', folder, '--bot-token', 'x')).toBe(
        'use either --bot-token-file or --bot-token',
      );
    });
  });

  test('needs the keys of the services', async () => {
    const { error } = await runAdmin(connect, { ...env, TOCSIN_SECRET_KEYS: '' });
    expect(error).toContain('TOCSIN_SECRET_KEYS must be set');
  });

  test('keeps what slack configure has set', async () => {
    const configure = async (flag: string) => json('slack', 'configure', '--workspace', 'acme', flag);
    expect(await configure('--channel-updates')).toEqual({ slack: { workspace: 'acme', channel_updates: true } });
    await json(...connect);
    expect(await stored()).toMatchObject([{ posts_updates: true }]);
    expect(await configure('--no-channel-updates')).toEqual({ slack: { workspace: 'acme', channel_updates: false } });
    expect(await stored()).toMatchObject([{ posts_updates: false }]);
  });

  test('is undone by slack disconnect, which can be repeated', async () => {
    for (let time = 1; time <= 2; time += 1) {
      expect(await json('slack', 'disconnect', '--workspace', 'acme')).toEqual({
        slack: { workspace: 'acme', connected: false },
      });
    }
    expect(await stored()).toEqual([]);
  });
});

describe('help', () => {
  test('has the version of the release', async () => {
    const { version } = JSON.parse(await readFile(path.join(ROOT, 'package.json'), 'utf8')) as { version: string };
    const commit = 'c0ffee'.repeat(6);
    expect(await runAdmin(['--version'], { ...env, TOCSIN_COMMIT: commit })).toEqual({
      output: `${version} (${commit})`,
      exitCode: 0,
    });
  });
});

describe('as a process', () => {
  test('prints one JSON object to stdout, or an error to stderr with exit code 1; names the database on stderr', async () => {
    const done = await call(['workspace', 'set', '--slug', 'acme', '--name', 'Acme & Co', '--json']);
    expect([done.code, JSON.parse(done.stdout).workspace.name]).toEqual([0, 'Acme & Co']);
    expect(done.stdout).toMatch(/^[^\n]+\n$/);
    expect(done.stderr).toMatch(/^using database \S+ on \S+, named by DATABASE_URL\n$/);
    const refused = await call(['workspace', 'set', '--slug', 'nobody', '--name', 'N', '--json']);
    expect(refused).toMatchObject({ code: 1, stdout: '' });
    expect(refused.stderr).toMatch(/^using [^\n]+\nThe workspace nobody does not exist\n$/);
  });
});

describe('the database of a command', () => {
  const away = 'postgres://nobody:hidden@127.0.0.1:9/none';
  const place = (url: string) =>
    `database ${new URL(url).pathname.slice(1)} on 127.0.0.1:${new URL(url).port || '5432'}`;
  const mine = () => place(database.adminUrl);
  const create = async (slug: string, more: Record<string, string> = {}) => {
    const lines: string[] = [];
    const args = ['workspace', 'create', '--slug', slug, '--name', 'X'];
    const outcome = await runAdmin(args, { TOCSIN_DATA_DIR: folder, ...more }, (line) => lines.push(line));
    return { ...outcome, lines };
  };
  const besideInstance = async (work: () => Promise<void>, more: Record<string, string> = {}) => {
    const own = { GATEWAY_DATABASE_URL: database.url('gateway'), TOCSIN_SECRET_KEYS: TEST_SECRET_KEYS, ...more };
    await withInstance(folder, own, work);
  };

  test('has no default: an error names the solutions', async () => {
    const { lines, ...outcome } = await create('guessed', { DATABASE_URL: '' });
    expect(outcome).toEqual({
      exitCode: 1,
      error:
        `no database is named, and no instance runs on ${folder}: start one (make start, make services), ` +
        'name its data folder (TOCSIN_DATA_DIR), or set DATABASE_URL or GATEWAY_DATABASE_URL as the services have it',
    });
    expect(lines).toEqual([]);
  });

  test('is the one of the instance that runs on the data folder', async () => {
    await besideInstance(async () => {
      const { output, lines } = await create('found', { DATABASE_URL: '' });
      expect(output).toContain('slug: found');
      expect(lines).toEqual([`using ${mine()}, of the instance at http://localhost:8080`]);
    });
  });

  test('is not the one of a killed instance, even if its process ID is in use', async () => {
    const note = { env: { GATEWAY_DATABASE_URL: database.url('gateway') }, pid: process.pid, baseUrl: 'http://x' };
    await writeFile(path.join(folder, 'runtime.json'), JSON.stringify(note));
    expect((await create('stale')).error).toContain('no instance runs on');
    await rm(path.join(folder, 'runtime.json'));
  });

  test('is the one of a setting rather than of the running instance, and the output says so', async () => {
    const work = async () => {
      const given = await create('given', { DATABASE_URL: away });
      expect(given.error).toContain('cannot reach');
      expect(given.lines).toEqual([
        'using database none on 127.0.0.1:9, named by DATABASE_URL; ' +
          `not the settings of the running instance at http://localhost:8080 (${mine()})`,
      ]);
      const same = await create('same', { DATABASE_URL: database.adminUrl });
      expect(same.output).toContain('slug: same');
      expect(same.lines).toEqual([`using ${mine()}, of the instance at http://localhost:8080`]);
    };
    await besideInstance(work, { DATABASE_URL: database.adminUrl });
    const alone = await create('alone', { GATEWAY_DATABASE_URL: database.url('gateway') });
    expect(alone.lines).toEqual([`using ${mine()}, named by GATEWAY_DATABASE_URL`]);
  });

  test('is printed without the password', async () => {
    const { lines, error = '' } = await create('secret', { DATABASE_URL: away });
    expect(lines).toEqual(['using database none on 127.0.0.1:9, named by DATABASE_URL']);
    expect([...lines, error].join()).not.toContain('hidden');
  });

  test('is never a mixture of settings and instance', async () => {
    const other = await createTestDatabase({ schema: gateway.name, migrations: gateway.migrations });
    const more = { TOCSIN_DATA_DIR: folder, GATEWAY_DATABASE_URL: other.url('gateway') };
    const file = path.join(folder, 'half.json');
    await writeFile(file, JSON.stringify({ timeline_groups: [] }));
    await besideInstance(
      async () => {
        expect((await runAdmin(['workspace', 'create', '--slug', 'half', '--name', 'X'], more)).error).toBeUndefined();
        const { error } = await runAdmin(['workspace', 'configure', '--slug', 'half', '--file', file], more);
        expect(error).toBe(
          'the database of the incident service is not named: set INCIDENT_DATABASE_URL or DATABASE_URL as the services have it',
        );
      },
      { DATABASE_URL: database.adminUrl },
    );
    await other.drop();
  });

  test('is written with the keys of its instance', async () => {
    const connect = ['slack', 'connect', '--workspace', 'acme', '--bot-token', 'xoxb-1'];
    const more = { TOCSIN_DATA_DIR: folder, TOCSIN_SECRET_KEYS: generateSecretKeys() };
    await besideInstance(
      async () => {
        expect((await runAdmin(connect, more)).error).toBeUndefined();
      },
      { DATABASE_URL: database.adminUrl },
    );
    const rows = await query<{ key_id: string }>('incident', 'select key_id from chat_connections');
    expect(rows).toEqual([{ key_id: [...parseSecretKeys(TEST_SECRET_KEYS).keys()][0] }]);
  });
});

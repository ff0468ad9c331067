import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { type Knex, openDatabase } from '@tocsin/postgres';
import { createTestDatabase, type TestDatabase } from '@tocsin/testing';
import { administration } from '../../../gateway/src/administration.ts';
import { schema as gateway } from '../../../gateway/src/schema.ts';
import { runAdmin } from '../run-admin.ts';
import { type AdminCommand, adminCommand } from '../../verification/systems/admin-command.ts';

const ROWS = 10_000;

let database: TestDatabase;
let rows: Knex;
let env: Record<string, string>;
let admin: AdminCommand;

beforeAll(async () => {
  database = await createTestDatabase({ schema: gateway.name, migrations: gateway.migrations });
  rows = openDatabase({ url: database.url('gateway'), schema: 'gateway', application: 'test', poolSize: 1 });
  env = { DATABASE_URL: database.adminUrl, TOCSIN_DATA_DIR: '/nowhere' };
  admin = adminCommand(env);
});
afterAll(async () => {
  await rows.destroy();
  await database.drop();
});

const table = async (...args: string[]) => {
  const { output = '', error } = await runAdmin(args, env);
  expect(error).toBeUndefined();
  return output.split('\n');
};

describe('an empty installation', () => {
  test.each(['workspace', 'user', 'key'])('has no %s', async (name) => {
    expect(await admin(name, 'list')).toEqual({ [`${name}s`]: [] });
    expect(await table(name, 'list')).toEqual(['none']);
  });
});

describe('lists', () => {
  beforeAll(async () => {
    await rows.raw(`
      insert into workspaces (slug, name) select 'w' || n, 'Workspace ' || n from generate_series(1, ${ROWS}) as n`);
    await rows.raw(`
      insert into users (workspace_id, email, name, seat, role, version)
      select (select id from workspaces where slug = 'w1'), 'user' || n || '@w1.example', 'User', 'none', 'member', 1
      from generate_series(1, ${ROWS}) as n`);
    await rows.raw(`
      insert into api_keys (workspace_id, user_id, name, token_digest, token_shown, scopes)
      select workspace_id, id, 'key', decode(md5(id::text), 'hex'), 'tcs_abcd', '{incidents:read}' from users`);
  });

  test.each([
    ['workspace', 'slug'],
    ['user', 'email'],
    ['key', 'user'],
  ])('of %ss are complete and sorted, also with 10,000', async (name, sortedBy) => {
    const answer = await admin(name, 'list');
    const keys = answer[`${name}s`].map((row: Record<string, string>) => row[sortedBy]);
    expect(new Set(keys).size).toBe(ROWS);
    expect(keys).toEqual(keys.toSorted());
    const [header = '', ...lines] = await table(name, 'list');
    expect(lines).toHaveLength(ROWS);
    const column = header.indexOf(sortedBy.toUpperCase());
    expect(lines.map((line) => line.slice(column).split(' ', 1)[0])).toEqual(keys);
  });

  test('show only what the filter names, and never a token', async () => {
    await admin('workspace', 'create', '--slug', 'other', '--name', 'Other');
    await admin('user', 'create', '--workspace', 'other', '--email', 'user1@w1.example', '--name', 'Same address');
    const of = ['--workspace', 'other', '--user', 'user1@w1.example'];
    const { token, key } = await admin('key', 'create', ...of, '--name', 'ci', '--all-scopes');
    expect((await admin('user', 'list', '--workspace', 'other')).users).toMatchObject([{ workspace: 'other' }]);
    expect((await admin('key', 'list', '--workspace', 'other')).keys).toMatchObject([{ id: key.id }]);
    expect((await admin('key', 'list', '--user', 'USER1@w1.example')).keys).toHaveLength(2);
    const lines = await table('key', 'list', ...of);
    expect(lines).toHaveLength(2);
    expect(lines[1]).toMatch(/^ *\d+ {2}other +user1@w1.example +ci +tcs_\w{4} +active +all +\S+ \S+Z +- +- +- +-$/);
    expect(lines.join()).not.toContain(token);
    expect(JSON.stringify(await admin('key', 'show', '--id', String(key.id)))).not.toContain(token);
  });
});

describe('a rotated key', () => {
  const of = ['--workspace', 'rotation', '--user', 'ana@rotation.example'];
  beforeAll(async () => {
    await admin('workspace', 'create', '--slug', 'rotation', '--name', 'Rotation');
    await admin('user', 'create', '--workspace', 'rotation', '--email', 'ana@rotation.example', '--name', 'Ana');
  });
  const create = async (...more: string[]) =>
    admin('key', 'create', ...of, '--name', 'ci', '--scope', 'incidents:read', ...more);
  const rotate = async (id: number, ...more: string[]) => admin('key', 'rotate', '--id', String(id), ...more);

  test('is replaced by one with the same user, name and scopes, and revoked at once', async () => {
    const { key, token } = await create('--expires', '2099-01-31T12:00:00Z');
    const rotated = await rotate(key.id);
    expect(rotated.token).toMatch(/^tcs_/);
    expect(rotated.token).not.toBe(token);
    const kept = { user_id: key.user_id, name: 'ci', scopes: ['incidents:read'], expires_at: key.expires_at };
    expect(rotated.key).toMatchObject({ ...kept, state: 'active', replaced_by: null });
    expect(rotated.replaced).toMatchObject({ id: key.id, state: 'revoked', replaced_by: rotated.key.id });
    await expect(rotate(key.id)).rejects.toThrow(`The key ${key.id} was replaced by the key ${rotated.key.id}`);
  });

  test('stays valid during the overlap, but no longer than before', async () => {
    const { key } = await create();
    const before = Date.now();
    const { replaced, key: next } = await rotate(key.id, '--overlap', '24h', '--expires', '2099-01-01T00:00:00Z');
    const overlap = Date.parse(replaced.expires_at) - before;
    expect(overlap).toBeGreaterThanOrEqual(24 * 3_600_000);
    expect(overlap).toBeLessThan(25 * 3_600_000);
    expect(replaced).toMatchObject({ state: 'active', revoked_at: null, replaced_by: next.id });
    expect(next.expires_at).toBe('2099-01-01T00:00:00.000Z');

    const soon = new Date(Date.now() + 3_600_000).toISOString();
    const short = await create('--expires', soon);
    expect((await rotate(short.key.id, '--overlap', '7d')).replaced.expires_at).toBe(soon);
  });

  test('must be valid, and a refusal uses up no ID', async () => {
    const { key } = await create();
    await admin('key', 'revoke', '--id', String(key.id));
    await expect(rotate(key.id)).rejects.toThrow(`The key ${key.id} is revoked`);
    const last = await create();
    const early = administration(rows, { now: () => '2020-01-01T00:00:00.000Z' });
    await expect(early.rotateKey({ id: last.key.id, overlap: 0, expires: '2019-01-01T00:00:00Z' })).rejects.toThrow(
      'The expiry must be in the future',
    );
    await admin('user', 'deactivate', '--workspace', 'rotation', '--email', 'ana@rotation.example');
    await expect(rotate(last.key.id)).rejects.toThrow('The user ana@rotation.example is deactivated');
    expect((await admin('key', 'show', '--id', String(last.key.id))).key.state).toBe('user deactivated');
    await admin('user', 'activate', '--workspace', 'rotation', '--email', 'ana@rotation.example');
    expect((await rotate(last.key.id)).key.id).toBe(last.key.id + 1);
  });

  test('twice at once is replaced once', async () => {
    const { key } = await create();
    const outcomes = await Promise.allSettled([rotate(key.id), rotate(key.id)]);
    expect(outcomes.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected']);
  });
});

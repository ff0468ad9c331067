import { existsSync, readFileSync } from 'node:fs';
import { chmod, copyFile, mkdtemp, readdir, readFile, rm, stat, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { openDatabase } from '@tocsin/postgres';
import { type Client, eventually, httpClient, ONE_PIXEL, reservePorts } from '@tocsin/testing';
import { countUnopened } from '../../../services/webhook/src/administration.ts';
import { secretCipher } from '../../../services/webhook/src/subscriptions/secret-cipher.ts';
import { runAdmin } from '../../admin/run-admin.ts';
import { restoreBackup } from '../restore-backup.ts';
import { stepPrinter } from '../../embedded/steps.ts';
import { processesWith, runCommand, type RunningCommand } from '../../verification/systems/commands.ts';

let folder: string;
const started: RunningCommand[] = [];
beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'tocsin-backup-'));
  await chmod(folder, 0o711);
});
afterAll(async () => {
  for (const command of started) command.signal('SIGKILL');
  await Promise.all(started.map(async (command) => command.ended()));
  await eventually(async () => (await processesWith('postgres', folder)).size === 0);
  await rm(folder, { recursive: true, force: true });
});

const inFolder = (name: string) => path.join(folder, name);

function run(script: string, settings: Record<string, string>): RunningCommand {
  const command = runCommand(script, settings);
  started.push(command);
  return command;
}

const backup = (data: string, file: string, settings: Record<string, string> = {}) =>
  run('backup/backup.ts', { TOCSIN_DATA_DIR: inFolder(data), FILE: inFolder(file), ...settings });
const restore = (data: string, file: string, settings: Record<string, string> = {}) =>
  run('backup/restore.ts', { TOCSIN_DATA_DIR: inFolder(data), FILE: inFolder(file), ...settings });

async function succeeds(command: RunningCommand): Promise<string> {
  const code = await command.ended();
  if (code !== 0) throw new Error(command.output());
  return command.output();
}

/** The one-line error of a command that fails. */
async function errorOf(command: RunningCommand): Promise<string> {
  expect(await command.ended()).toBe(1);
  return command.errors().trim();
}

/** A running instance on a data folder. */
interface Instance {
  command: RunningCommand;
  client: Client;
  port: number;
  stop(): Promise<void>;
}

async function start(data: string): Promise<Instance> {
  const [port = 0] = await reservePorts(1);
  const command = run('embedded/main.ts', { TOCSIN_DATA_DIR: inFolder(data), PORT: String(port) });
  await command.ready();
  const token = /^token +(tcs_\w+)$/m.exec(command.output())?.[1] ?? '';
  const client = httpClient(`http://127.0.0.1:${port}`, {
    Host: `acme.localhost:${port}`,
    Authorization: `Bearer ${token}`,
  });
  return {
    command,
    client,
    port,
    stop: async () => {
      command.signal('SIGTERM');
      expect(await command.ended()).toBe(0);
    },
  };
}

const LISTS = ['incidents', 'services', 'teams', 'custom-fields', 'settings/webhooks'];

const picturesOf = ({ attachments }: { attachments: { url: string; thumbnail_url: string | null }[] }) =>
  attachments.filter(({ thumbnail_url: thumbnail }) => thumbnail !== null);

/** Everything that the API shows of a workspace. */
async function readAll(client: Client): Promise<Record<string, unknown>> {
  const all: Record<string, unknown> = { installation: (await client.get('/api/v1/me')).body.installation_id };
  for (const list of LISTS) {
    const { status, body } = await client.get(`/api/v1/${list}`);
    expect({ list, status }).toEqual({ list, status: 200 });
    all[list] = body;
  }
  for (const { id } of (all['incidents'] as { incidents: { id: number }[] }).incidents) {
    for (const part of ['', '/timeline', '/changelog']) {
      const answer = await client.get(`/api/v1/incidents/${id}${part}`);
      all[`${id}${part}`] = [answer.status, answer.body];
      for (const { url } of part === '/timeline' ? answer.body.events.flatMap(picturesOf) : [])
        all[url] = (await client.get(url)).bytes.toString('base64');
    }
  }
  // The duration of an open incident ends now.
  return JSON.parse(JSON.stringify(all, (name, value) => (name === 'duration_seconds' ? undefined : value)));
}

describe('a backup of make start', () => {
  let before: Record<string, unknown>;
  let webhookId: number;
  let secret: string;

  test('is made while it runs, complete, and closed to others', async () => {
    const instance = await start('original');
    const { client } = instance;
    const created = await client.post('/api/v1/settings/webhooks', {
      url: 'https://hooks.example.com/tocsin?key=1',
      event_types: ['incident.created'],
    });
    expect(created.status).toBe(201);
    webhookId = created.body.webhook.id;
    secret = created.body.secret;
    const { body } = await client.post('/api/v1/incidents', {
      title: 'Tab\there, backslash \\ and \\N, newline\nand "quotes", ünïcödé 🔥',
    });
    const uploaded = await client.post(`/api/v1/incidents/${body.incident.id}/pictures`, ONE_PIXEL, {
      'Content-Type': 'image/png',
    });
    const { picture } = uploaded.body;
    await client.post(`/api/v1/incidents/${body.incident.id}/timeline`, {
      attachments: [picture.id],
      title: 'Found',
      body: 'x'.repeat(60_000),
      started_at: '2026-11-20T09:00:00Z',
    });
    before = await readAll(client);
    expect(before[picture.url]).toMatch(/^iVBOR/);
    expect(await succeeds(backup('original', 'running.backup'))).toMatch(
      /gateway: \d+ rows, incident: [1-9]\d* rows[^]*with the secret keys/,
    );
    expect((await stat(inFolder('running.backup'))).mode & 0o777).toBe(0o600);
    expect(await readAll(client)).toEqual(before);
    await instance.stop();
  });

  test('replaces no other file, unless it is told', async () => {
    expect(await errorOf(backup('original', 'running.backup'))).toMatch(/running\.backup exists: .*FORCE=1$/);
    expect(await errorOf(backup('empty', 'none.backup'))).toMatch(/^there is no data of make start in /);
    expect(await errorOf(run('backup/backup.ts', { TOCSIN_DATA_DIR: inFolder('original') }))).toMatch(
      /^FILE is not set/,
    );
  });

  test('is made while it does not run, with the same data', async () => {
    await succeeds(backup('original', 'stopped.backup'));
    const lines = (name: string) =>
      gunzipSync(readFileSync(inFolder(name)))
        .toString('latin1')
        .split('\n');
    const ends = (all: string[]) => all.filter((line) => /^\{"(?:table|end)"/.test(line));
    const running = ends(lines('running.backup'));
    expect(running.length).toBeGreaterThan(80);
    expect(existsSync(inFolder('stopped.backup.partial'))).toBe(false);
    // Only what the instance did after the backup differs, such as its inbox.
    const stopped = new Set(ends(lines('stopped.backup')));
    expect(running.filter((line) => stopped.has(line)).length).toBeGreaterThan(running.length - 10);
  });

  test('is restored elsewhere: all lists are equal, and the keys open the secrets', async () => {
    const output = await succeeds(restore('copy', 'running.backup'));
    expect(output).toMatch(/restored the data of 20\S+ into .*copy; start it with make start/);
    const copy = await start('copy');
    try {
      expect(await readAll(copy.client)).toEqual(before);
      const { env } = JSON.parse(await readFile(inFolder('copy/runtime.json'), 'utf8'));
      const database = openDatabase({ url: env.DATABASE_URL, schema: 'webhook', application: 'test', poolSize: 1 });
      expect(await countUnopened(database, { secretKeys: env.TOCSIN_SECRET_KEYS, limit: 10 })).toEqual({
        secret: { checked: 2, unopened: 0 },
        url: { checked: 2, unopened: 0 },
        destination: { checked: 0, unopened: 0 },
      });
      // The sample workspace has a webhook, too.
      const row = await database('secrets')
        .where({ subscription_id: webhookId })
        .first('subscription_id', 'key_id', 'ciphertext');
      const sealed = { keyId: row.key_id, ciphertext: row.ciphertext };
      expect(secretCipher(env.TOCSIN_SECRET_KEYS).decryptSecret(sealed, row.subscription_id)).toBe(secret);
      await database.destroy();
      const { output, exitCode } = await runAdmin(['doctor'], { TOCSIN_DATA_DIR: inFolder('copy') });
      expect(exitCode === 0 ? '' : output).toBe('');
      // The sequences continue.
      const next = await copy.client.post('/api/v1/incidents', { title: 'After' });
      expect(next).toMatchObject({ status: 201, body: { incident: { human_id: 'INC-5' } } });
    } finally {
      await copy.stop();
    }
  });

  test('is not restored over other data, unless they are kept aside', async () => {
    expect(await errorOf(restore('copy', 'running.backup'))).toMatch(/copy has data: .*FORCE=1/);
    expect(await succeeds(restore('copy', 'running.backup', { FORCE: '1' }))).toMatch(
      /the data from before are in .*copy\/before-restore-\d{8}T\d{6}Z/,
    );
    const [kept = ''] = (await readdir(inFolder('copy'))).filter((name) => name.startsWith('before-restore-'));
    expect(await readdir(inFolder(`copy/${kept}`))).toEqual(
      expect.arrayContaining(['demo-token', 'postgres', 'postgres-password', 'secret-keys']),
    );
    const copy = await start('copy');
    expect(await readAll(copy.client)).toEqual(before);
    await copy.stop();
  });
});

describe('a file that cannot be restored', () => {
  const changed = async (name: string, change: (text: Buffer) => Buffer): Promise<string> => {
    const text = gunzipSync(readFileSync(inFolder('running.backup')));
    await writeFile(inFolder(name), gzipSync(change(text)));
    return name;
  };
  const replaced = (from: string, to: string) => (text: Buffer) =>
    Buffer.from(text.toString('latin1').replace(from, to), 'latin1');

  test('is refused before anything is changed', async () => {
    await copyFile(inFolder('running.backup'), inFolder('truncated.backup'));
    await truncate(inFolder('truncated.backup'), (await stat(inFolder('running.backup'))).size - 100);
    await writeFile(inFolder('other.backup'), 'something else');
    const flipped = readFileSync(inFolder('running.backup'));
    flipped[flipped.length >> 1] = (flipped[flipped.length >> 1] ?? 0) ^ 255;
    await writeFile(inFolder('flipped.backup'), flipped);
    const last = (text: Buffer) => text.subarray(0, text.lastIndexOf('{"complete"'));
    const cases: [string, RegExp][] = [
      ['truncated.backup', /truncated\.backup is damaged or incomplete/],
      ['flipped.backup', /flipped\.backup is damaged or incomplete/],
      ['other.backup', /other\.backup is not a backup of Tocsin$/],
      ['missing.backup', /missing\.backup/],
      [await changed('cut.backup', last), /cut\.backup is damaged or incomplete: it ends too early/],
      [await changed('edited.backup', replaced('Found', 'Fount')), /the rows of incident\.\w+ have changed/],
      [await changed('more.backup', (text) => Buffer.concat([text, Buffer.from('{}')])), /something after its end/],
      [await changed('format.backup', replaced('"tocsin_backup":1', '"tocsin_backup":2')), /format that this release/],
      [
        await changed('newer.backup', replaced('20261124120000_create_schema', '20361124120000_create_schema')),
        /with migrations that this Tocsin .* does not have \(gateway: 20361124120000_create_schema\)/,
      ],
    ];
    const [[truncated, itsMessage] = ['', /^/], ...others] = cases;
    expect(await errorOf(restore('untouched', truncated))).toMatch(itsMessage);
    // The others not as processes, which take a second each to start.
    const env = { TOCSIN_DATA_DIR: inFolder('untouched') };
    const silent = () => undefined;
    const options = { env, replace: false, step: stepPrinter(silent), print: silent };
    for (const [file, message] of others) {
      await expect(restoreBackup({ ...options, file: inFolder(file) })).rejects.toThrow(message);
      expect(existsSync(inFolder('untouched'))).toBe(false);
    }
  });

  test('leaves a restore that was killed: refused, with the way out', async () => {
    const killed = restore('killed', 'running.backup');
    await eventually(() => /^PostgreSQL +\d+\.\d s$/m.test(killed.output()));
    killed.signal('SIGKILL');
    await killed.ended();
    expect(existsSync(inFolder('killed/restore-unfinished.json'))).toBe(true);
    const message = /killed did not finish: run make restore FILE=\S*running\.backup again, or .*make reset/;
    expect(await errorOf(run('embedded/main.ts', { TOCSIN_DATA_DIR: inFolder('killed') }))).toMatch(message);
    expect(await errorOf(backup('killed', 'killed.backup'))).toMatch(message);
    await succeeds(restore('killed', 'running.backup'));
    const instance = await start('killed');
    expect((await instance.client.get('/api/v1/incidents')).body.incidents).toHaveLength(4);
    await instance.stop();
  });
});

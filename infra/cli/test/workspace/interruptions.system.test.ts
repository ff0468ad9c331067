import { once } from 'node:events';
import { readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, test } from '@jest/globals';
import { verifyWebhook } from '@tocsin/sdk';
import { behave, type Client, startReceiver } from '@tocsin/testing';
import fc from '@tocsin/testing/fuzz';
import { describeWithServers } from '@tocsin/testing/suites';
import { running, runningSystem, temporaryFolder } from '../../../verification/systems/running.ts';
import { type Finished, startTocsin, type TocsinSettings } from '../tocsin-command.ts';
import { breakingWrites, type Fate } from './breaking-writes.ts';
import { runHere } from '../run-here.ts';

/** Writes of each kind; those of `Old` have come before. */
const BEFORE = {
  users: [{ email: 'old@example.com', name: 'Old' }],
  teams: [
    { slug: 'old', name: 'Old', members: [{ email: 'old@example.com' }] },
    { slug: 'gone', name: 'Gone' },
  ],
  services: [
    { slug: 'old', name: 'Old', owner_team: 'old' },
    { slug: 'gone', name: 'Gone' },
  ],
  fields: [
    { slug: 'old', name: 'Old', field_type: 'string' },
    { slug: 'gone', name: 'Gone', field_type: 'json' },
  ],
  destinations: ['Old', 'Gone'].map((name) => ({ name, kind: 'slack', url_env: 'CHAT_URL', template: 'a' })),
};
const desired = (hook: string) => ({
  configuration: { time_zone: 'Asia/Tokyo' },
  users: [
    { email: 'old@example.com', name: 'New' },
    { email: 'ana@example.com', name: 'Ana', active: true },
    { email: 'gone@example.com', name: 'Gone', active: false },
  ],
  teams: [
    { slug: 'low', name: 'Low', parent: 'high', members: [{ email: 'ana@example.com', role: 'lead' }] },
    { slug: 'high', name: 'High' },
    { slug: 'old', name: 'New', parent: 'low', members: [{ email: 'ana@example.com' }] },
    { slug: 'back', name: 'Back', description: 'Again' },
  ],
  services: [
    { slug: 'old', name: 'New', owner_team: 'low', external_id: 'o' },
    { slug: 'new', name: 'New', owner_team: 'high' },
  ],
  fields: [
    { slug: 'old', name: 'New', description: 'x' },
    { slug: 'new', name: 'New', field_type: 'select', config: { options: ['a'] }, sort_order: 1 },
  ],
  webhooks: [
    { name: 'One', url: hook },
    { name: 'Two', url: `${hook}/two` },
  ],
  destinations: [
    { name: 'Old', template: null },
    { name: 'New', kind: 'http', url_env: 'CHAT_URL', credential_env: 'CHAT_KEY', filters: { teams: ['high'] } },
  ],
});
const PRUNE = ['--prune', 'members,services,teams,fields,webhooks,destinations'];

describeWithServers('an interrupted apply', () => {
  const receiver = running(startReceiver);
  const system = runningSystem(() => ({ receivers: [receiver] }));
  const proxy = running(async () => breakingWrites(system.url));
  const folder = temporaryFolder();
  const inFolder = (name: string) => path.join(folder.path, name);
  let workspaces = 0;

  /** A workspace that has something to change, to archive and to restore. */
  async function startWorkspace() {
    workspaces += 1;
    const workspace = `w${workspaces}`;
    const client = await system.as({ workspace });
    const settings = {
      ...{ TOCSIN_CONFIG_DIR: folder.path, TOCSIN_TOKEN: client.token },
      TOCSIN_URL: `http://${workspace}.localhost:${proxy.port}`,
      ...{ CHAT_URL: receiver.url('/chat'), CHAT_KEY: 'a-key' },
    };
    proxy.at = Infinity;
    const files = [inFolder('before.yaml'), inFolder('after.yaml')] as const;
    const secrets = inFolder(`${workspace}.ndjson`);
    await writeFile(files[0], JSON.stringify({ ...BEFORE, teams: [...BEFORE.teams, { slug: 'back', name: 'Back' }] }));
    await writeFile(files[1], JSON.stringify(desired(receiver.url(`/${workspace}`))));
    const run = async (...args: string[]) => runHere(settings, args);
    expect(await run('apply', files[0], '--yes')).toMatchObject({ code: 0 });
    const { teams } = (await client.get('/api/v1/teams')).body;
    const back = teams.find(({ slug }: { slug: string }) => slug === 'back');
    await client.send('DELETE', `/api/v1/teams/${back.id}`);
    const rest = [...PRUNE, '--secrets-to', secrets];
    return { client, settings, secrets, run, rest, file: files[1], workspace };
  }
  type Started = Awaited<ReturnType<typeof startWorkspace>>;

  /** Runs the command until its write with this number, from 1. Its exit code is 130 if it was ended. */
  async function runUntil(
    settings: TocsinSettings,
    args: readonly string[],
    at: number,
    fate: Fate,
  ): Promise<Finished> {
    const controller = new AbortController();
    Object.assign(proxy, { writes: 0, at, fate, end: () => controller.abort() });
    const finished = await runHere(settings, args, { signal: controller.signal });
    proxy.at = Infinity;
    return finished;
  }

  async function listsOf(client: Client) {
    const [users, teams, services, fields, webhooks, destinations] = await Promise.all(
      [
        'settings/users?',
        'teams?include_archived=true&',
        'services?include_archived=true&',
        'custom-fields?include_archived=true&',
        'settings/webhooks',
        'settings/destinations',
      ].map(
        async (list) =>
          Object.values(
            (await client.get(`/api/v1/${list}${list.endsWith('s') ? '' : 'limit=100'}`)).body,
          )[0] as Record<string, unknown>[],
      ),
    );
    const slugs = (list: Record<string, unknown>[] | undefined, isArchived: boolean) =>
      list
        ?.filter((one) => (one['archived_at'] !== undefined) === isArchived)
        .map(({ slug }) => String(slug))
        .toSorted();
    return {
      users: users
        ?.map(({ email }) => String(email))
        .filter((email) => email.endsWith('example.com'))
        .toSorted(),
      teams: [slugs(teams, false), slugs(teams, true)],
      services: [slugs(services, false), slugs(services, true)],
      fields: [slugs(fields, false), slugs(fields, true)],
      webhooks: webhooks
        ?.filter(({ status }) => status !== 'revoked')
        .map(({ name }) => String(name))
        .toSorted(),
      destinations: destinations?.map(({ name }) => String(name)).toSorted(),
      revoked: webhooks?.filter(({ status }) => status === 'revoked').length,
    };
  }

  /** Everything is there once, a further plan has no differences, and the stored secrets are those of the webhooks. */
  async function expectComplete({ client, run, file, rest, secrets }: Started): Promise<void> {
    expect(await run('plan', file, ...rest)).toEqual({ code: 0, stdout: 'no differences\n', stderr: '' });
    expect(await listsOf(client)).toEqual({
      users: ['ana@example.com', 'gone@example.com', 'old@example.com'],
      teams: [['back', 'high', 'low', 'old'], ['gone']],
      services: [['new', 'old'], ['gone']],
      fields: [['new', 'old'], ['gone']],
      webhooks: ['One', 'Two'],
      destinations: ['New', 'Old'],
      revoked: 0,
    });
    const lines = (await readFile(secrets, 'utf8'))
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    const stored = new Map(lines.filter(({ secret }) => secret !== undefined).map((line) => [line.webhook, line]));
    expect([...stored.keys()].toSorted()).toEqual(['One', 'Two']);
    const { webhooks } = (await client.get('/api/v1/settings/webhooks')).body;
    for (const { id, name } of webhooks) expect(stored.get(name)?.id).toBe(id);
  }

  test('goes on at any of its writes, whether the write was done or not, and makes nothing twice', async () => {
    const started = await startWorkspace();
    const { settings, file, rest, client, secrets, workspace } = started;
    const args = ['apply', file, '--yes', ...rest];
    let writes = 0;
    let isRotated = false;
    for (let isEnded = true; isEnded; writes += 1) {
      expect((await runUntil(settings, args, 1, 'before')).code).not.toBe(1);
      // A secret that is lost is replaced by another one, which is lost, too, if that is interrupted.
      const { code, stdout } = await runUntil(settings, args, isRotated ? 2 : 1, 'after');
      expect([0, 130]).toContain(code);
      isEnded = code === 130;
      isRotated = !isRotated && stdout.includes('rotate webhook');
    }
    expect(writes).toBeGreaterThan(25);
    await expectComplete(started);

    receiver.respond = () => behave.answer(204);
    const { webhooks } = (await client.get('/api/v1/settings/webhooks')).body;
    const one = webhooks.find(({ name }: { name: string }) => name === 'One');
    expect((await client.post(`/api/v1/settings/webhooks/${one.id}/verify`)).status).toBe(200);
    const lines = (await readFile(secrets, 'utf8'))
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    const { secret } = lines.findLast(({ webhook }) => webhook === 'One');
    const check = receiver.requests.find((each) => each.path === `/${workspace}`);
    await verifyWebhook(secret, check?.headers ?? {}, check?.body ?? '');
  }, 180_000);

  test('goes on over any sequence of interruptions, with the same plan or a new one', async () => {
    const cuts = fc.array(
      fc.record({ at: fc.integer({ min: 1, max: 9 }), fate: fc.constantFrom<Fate>('before', 'after') }),
      { minLength: 1, maxLength: 3 },
    );
    await fc.assert(
      fc.asyncProperty(cuts, fc.boolean(), async (interruptions, isStored) => {
        const started = await startWorkspace();
        const { settings, file, rest, run, secrets } = started;
        const plan = inFolder('plan.json');
        if (isStored) expect(await run('plan', file, ...rest, '--out', plan)).toMatchObject({ code: 2 });
        const args = isStored ? ['apply', plan, '--secrets-to', secrets] : ['apply', file, '--yes', ...rest];
        for (const { at, fate } of interruptions)
          expect(await runUntil(settings, args, at, fate)).toMatchObject({ code: 130 });
        expect(await run(...args)).toMatchObject({ code: 0, stderr: '' });
        await expectComplete(started);
        expect(await run(...args)).toMatchObject({ code: 0, stderr: '' });
        await expectComplete(started);
        await rm(secrets);
      }),
      { numRuns: 4 },
    );
  }, 180_000);

  test('goes on after the process was killed', async () => {
    const started = await startWorkspace();
    const { settings, file, rest, run } = started;
    for (const fate of ['after', 'before', 'after'] as const) {
      const child = startTocsin(settings, ['apply', file, '--yes', ...rest]);
      Object.assign(proxy, { writes: 0, at: 7, fate, end: () => child.kill('SIGKILL') });
      expect(await once(child, 'close')).toEqual([null, 'SIGKILL']);
      proxy.at = Infinity;
    }
    expect(await run('apply', file, '--yes', ...rest)).toMatchObject({ code: 0, stderr: '' });
    await expectComplete(started);
  }, 180_000);
});

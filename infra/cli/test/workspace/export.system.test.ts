import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, test } from '@jest/globals';
import { json } from '@tocsin/testing/arbitraries';
import fc from '@tocsin/testing/fuzz';
import type { Client } from '@tocsin/testing';
import { describeWithServers } from '@tocsin/testing/suites';
import { anyText, FIELDS, name } from '../../../verification/test/rules/workspace.ts';
import { runningSystem, temporaryFolder } from '../../../verification/systems/running.ts';
import { runHere } from '../run-here.ts';
import { special } from './special-values.ts';

const texts = fc.array(name(30), { maxLength: 3 });
const optional = <Value>(arbitrary: fc.Arbitrary<Value>) => fc.option(arbitrary, { nil: null });
/** Places of earlier ones, by which later ones refer to them. */
const place = optional(fc.nat({ max: 3 }));

const TYPES = Object.keys(FIELDS) as (keyof typeof FIELDS)[];

/** What a workspace is made of, by the API: texts of all kinds, decimals, nulls, archived teams. */
const workspace = fc.record({
  teams: fc.array(
    fc.record({
      name: name(),
      description: optional(anyText),
      external_id: fc.boolean(),
      parent: place,
      isArchived: fc.boolean(),
    }),
    { minLength: 1, maxLength: 4 },
  ),
  services: fc.array(
    fc.record({
      ...{ name: name(), description: optional(anyText), owner: place, tags: texts, observability_names: texts },
      ...{ tier: fc.constantFrom('t0', 't1'), external_id: fc.boolean(), isArchived: fc.boolean() },
    }),
    { maxLength: 4 },
  ),
  fields: fc.array(
    fc.record({
      ...{
        name: name(40),
        description: optional(anyText),
        required: fc.boolean(),
        sort_order: fc.integer({ min: 0, max: 9 }),
      },
      typed: fc.constantFrom(...TYPES, 'boolean' as const, ...Array<'json'>(8).fill('json')).chain((type) =>
        fc.record({
          field_type: fc.constant(type),
          config: fc.constant(FIELDS[type][0]),
          default_value: optional<unknown>(
            type === 'json' ? fc.oneof(json, { arbitrary: special, weight: 3 }) : FIELDS[type][1],
          ),
        }),
      ),
      category: fc.constantFrom('custom', 'impact'),
    }),
    { maxLength: 6 },
  ),
  user: fc.record({ name: name(), role: fc.constantFrom('viewer', 'member', 'manager'), isMember: fc.boolean() }),
  tier: name(),
});

type Content = typeof workspace extends fc.Arbitrary<infer Value> ? Value : never;

describeWithServers('the export of a workspace as YAML', () => {
  const system = runningSystem();
  const folder = temporaryFolder();
  let workspaces = 0;

  async function startWorkspace() {
    workspaces += 1;
    const slug = `w${workspaces}`;
    const client = await system.as({ workspace: slug });
    const settings = {
      TOCSIN_CONFIG_DIR: folder.path,
      TOCSIN_TOKEN: client.token,
      TOCSIN_URL: system.url.replace('127.0.0.1', `${slug}.localhost`),
    };
    const done = async (...args: string[]) => {
      const finished = await runHere(settings, args);
      const notes = expect.stringMatching(/^(?:left out: (?:parent|owner_team) .*: the team is archived\n)*$/);
      expect([args, finished]).toEqual([args, { code: 0, stdout: expect.any(String), stderr: notes }]);
      return finished.stdout;
    };
    return {
      client,
      done,
      file: path.join(folder.path, `${slug}.yaml`),
      run: async (...args: string[]) => runHere(settings, args),
    };
  }

  async function fill(client: Client, { teams, services, fields, user, tier }: Content): Promise<void> {
    const create = async (list: string, body: object): Promise<{ id: number }> => {
      const reply = await client.post(`/api/v1/${list}`, body);
      expect([body, reply.status, reply.body]).toEqual([body, 201, expect.anything()]);
      return Object.values(reply.body)[0] as { id: number };
    };
    const { configuration } = (await client.get('/api/v1/settings/configuration')).body;
    const service_tiers = [
      ...configuration.service_tiers.map(({ order: _, ...one }: { order: number }) => one),
      { key: 'new', label: tier, description: tier },
    ];
    const exchange_rates = [{ currency: 'EUR', rate: 1.085, as_of: '2024-02-29T00:00:00Z' }];
    const lists = { service_tiers, exchange_rates, timeline_groups: [{ name: tier }] };
    const headers = { 'If-Service-Resource-Version': String(configuration.revision) };
    expect((await client.put('/api/v1/settings/configuration', lists, headers)).status).toBe(200);
    const { id: user_id } = await create('settings/users', {
      email: 'Ünë@example.com',
      name: user.name,
      role: user.role,
    });
    const made: number[] = [];
    for (const [index, { parent, isArchived: _, external_id, ...team }] of teams.entries()) {
      const parent_team_id = parent === null ? null : (made[parent] ?? null);
      made.push(
        (
          await create('teams', {
            ...team,
            slug: `t${index}`,
            parent_team_id,
            external_id: external_id ? `ü "${index}"` : null,
          })
        ).id,
      );
    }
    if (user.isMember) await create(`teams/${made[0]}/members`, { user_id, role: 'lead' });
    for (const [index, { owner, isArchived, external_id, ...service }] of services.entries()) {
      const owner_team_id = owner === null ? null : (made[owner] ?? null);
      const { id } = await create('services', {
        ...service,
        slug: `s${index}`,
        owner_team_id,
        external_id: external_id ? `${index}: #x` : null,
      });
      if (isArchived) await client.send('DELETE', `/api/v1/services/${id}`);
    }
    for (const [index, { typed, sort_order, ...field }] of fields.entries()) {
      const { id } = await create('custom-fields', { ...field, slug: `f${index}`, ...typed });
      await client.patch(`/api/v1/custom-fields/${id}`, { sort_order }, { 'If-Service-Resource-Version': '1' });
    }
    for (const [index, { isArchived }] of teams.entries())
      if (isArchived) await client.send('DELETE', `/api/v1/teams/${made[index]}`);
  }

  test('has no differences from its workspace, whatever that and the file before have', async () => {
    let before: string | undefined;
    await fc.assert(
      fc.asyncProperty(workspace, async (content) => {
        const { client, done, file } = await startWorkspace();
        await fill(client, content);
        await done('export', file);
        expect(await done('plan', file)).toBe('no differences\n');
        const text = await readFile(file, 'utf8');
        expect(text.split('\n')[0]).toBe(
          '# yaml-language-server: $schema=./node_modules/@tocsin/cli/schema/workspace.schema.json',
        );
        expect(await done('export')).toBe(text);
        await done('export', file);
        expect(await readFile(file, 'utf8')).toBe(text);
        if (before !== undefined) {
          await writeFile(file, before);
          await done('export', file);
          expect(await done('plan', file)).toBe('no differences\n');
        }
        before = text;

        // Another workspace becomes the same, but for who made it.
        const copy = await startWorkspace();
        await writeFile(copy.file, text);
        await copy.done('apply', copy.file, '--yes');
        const { email } = (await copy.client.get('/api/v1/me')).body.user;
        const entry = new RegExp(`^  - email: ${email}\\n(?: {4}.*\\n)*`, 'm');
        expect((await copy.done('export')).replace(entry, '')).toBe(text);
        const fieldsOf = async (of: Client) =>
          (await of.get('/api/v1/custom-fields?limit=100')).body.fields.map(
            ({ slug, config, default_value }: Record<string, unknown>) => ({ slug, config, default_value }),
          );
        expect(await fieldsOf(copy.client)).toEqual(await fieldsOf(client));
      }),
      { numRuns: 15 },
    );
  }, 180_000);

  test('keeps comments, order and notation of a file, and what it says in other words', async () => {
    const { client, done, file, run } = await startWorkspace();
    const before = `# The catalog of Acme
services: # all of them
  # Money comes in here.
  - slug: checkout
    name: 'Checkout'   # for people
    tags: [ web, pay ]
    tier: t1
  - { slug: mail, name: Mail, tier: t1, description: null }
configuration:
  time_zone: UTC # as everywhere
  severities:
    # People are hurt.
    - { key: sev1, label: One, min_score: 50, is_default: false }
    - { key: sev3, label: Three, min_score: 0, is_default: true }
teams:
  - slug: web
    name: Web
    members:
      - { email: BOB@example.com, role: member } # the boss
users:
  - { email: bob@example.com, name: Bob, active: true }
webhooks:
  - { name: Ops, url: https://hooks.example.com/a/path } # of the operators
`;
    await writeFile(file, before);
    await done('apply', file, '--yes', '--secrets-to', path.join(folder.path, 'secrets'));
    await done('export', '--kinds', 'services,configuration,teams,webhooks', file);
    const after = await readFile(file, 'utf8');
    const kept = before.replace('   # for', ' # for').replace('services: # all', 'services:\n  # all');
    // What the workspace has besides is added to its part.
    const lines = after.split('\n');
    expect(kept.split('\n').filter((line) => !lines.includes(line))).toEqual([]);
    expect(await done('plan', file)).toBe('no differences\n');

    const { services } = (await client.get('/api/v1/services')).body;
    const idOf = (slug: string) => services.find((one: { slug: string }) => one.slug === slug).id;
    const headers = { 'If-Service-Resource-Version': '1' };
    await client.patch(`/api/v1/services/${idOf('checkout')}`, { name: 'Till', tags: ['web', 'x: y'] }, headers);
    await client.send('DELETE', `/api/v1/services/${idOf('mail')}`);
    await client.post('/api/v1/services', { name: 'Added', slug: 'added', tier: 't1' });
    const drift = await run('plan', file);
    expect(drift).toEqual({
      code: 2,
      stdout:
        '~ change service checkout: name "Till" → "Checkout"; tags ["web","x: y"] → ["web","pay"]\n^ restore service mail\n',
      stderr: '',
    });
    await done('export', '--kinds', 'services', file);
    expect(await readFile(file, 'utf8')).toBe(
      after
        .replace("'Checkout'", 'Till')
        .replace('[ web, pay ]', '[ web, "x: y" ]')
        .replace(/ {2}- \{ slug: mail.*\n/, '  - slug: added\n    name: Added\n    tier: t1\n'),
    );
    await writeFile(file, 'services: []\n---\nteams: []\n');
    expect(await run('export', file)).toMatchObject({ code: 1, stderr: expect.stringContaining('several documents') });
    await writeFile(file, 'services: [&a { slug: checkout }, *a]\n');
    expect(await run('export', file)).toMatchObject({ code: 1, stderr: expect.stringContaining('has aliases') });
  });
});

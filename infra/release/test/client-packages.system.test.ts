import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { copyFile, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { describeWithServers } from '@tocsin/testing/suites';
import { ROOT } from '../../installation/environment.ts';
import { startSystem, type System } from '../../verification/systems/system.ts';

const execute = promisify(execFile);
const run = async (file: string, args: readonly string[], options: { cwd: string; env?: Record<string, string> }) =>
  execute(file, args, { encoding: 'utf8', ...options });
const NODE_MODULES = path.join(ROOT, 'node_modules');
/** What a command printed, also if it failed. */
const printed = async (running: ReturnType<typeof run>) =>
  running.then(
    ({ stdout, stderr }) => `${stdout}${stderr}`,
    (error: unknown) => `${(error as { stdout: string }).stdout}${(error as { stderr: string }).stderr}`,
  );

/** What a program that uses the SDK sees of its types. */
const TYPED_PROGRAM = `
import { type Incident, NotFoundError, Tocsin, TocsinError, verifyWebhook } from '@tocsin/sdk';

const tocsin = new Tocsin({ baseUrl: 'https://acme.example', token: 'tcs_' });

export async function uses(): Promise<Incident[]> {
  const { incident } = await tocsin.incidents.create({ title: 'Down', issue_type: 'incident' });
  const checked = await tocsin.incidents.create({ title: 'Down' }, { validateOnly: true });
  const nothing: null = checked.incident.id;
  await tocsin.incidents.update(incident.id, { severity: 'sev1' }, { ifRevision: incident.revision });
  await tocsin.incidents.updateWith(incident.id, ({ title }) => ({ title: title.trim() }));
  // @ts-expect-error: a change needs its revision
  await tocsin.incidents.update(incident.id, { severity: 'sev1' });
  // @ts-expect-error: a mistyped property
  await tocsin.incidents.create({ titel: 'Down' });
  // @ts-expect-error: a mistyped filter
  tocsin.incidents.list({ stauts: ['open'] });
  // @ts-expect-error: not a kind of issue
  await tocsin.incidents.create({ title: 'Down', issue_type: 'accident' });
  // A later version may return other values.
  const kind: string = incident.issue_type;
  for await (const { event, cursor } of tocsin.events.follow()) {
    if (event.type === 'team.changed') console.log(kind, cursor, event.data.team.name, nothing);
    // @ts-expect-error: not every event has an incident
    void event.data.incident;
  }
  return (await tocsin.incidents.list().page()).incidents;
}

export const isMissing = (error: TocsinError) => error instanceof NotFoundError && error.code === 'not_found';
export const event = verifyWebhook('whsec_', new Headers(), '{}');
`;

/** What the samples of the documents take for granted. */
const SURROUNDINGS = `
declare const secret: string;
declare const rawBody: string;
declare const headers: Record<string, string>;
declare const request: Request;
declare const readCursor: () => Promise<string>;
declare const writeCursor: (cursor: string) => Promise<void>;
declare const page: (incident: { reference: string }) => Promise<void>;
`;

/** The samples in TypeScript that are no part of a file. */
async function samplesIn(document: string): Promise<string[]> {
  const text = await readFile(path.join(ROOT, document), 'utf8');
  return [...text.matchAll(/^```ts\n([^]*?)^```$/gm)].map(([, sample = '']) => sample);
}

/** A project outside of the repository that has installed the packed packages. */
async function installPackages(): Promise<string> {
  const folder = await mkdtemp(path.join(tmpdir(), 'tocsin-clients-'));
  const modules = path.join(folder, 'node_modules');
  await mkdir(path.join(modules, '@types'), { recursive: true });
  for (const name of ['@tocsin/sdk', '@tocsin/cli']) {
    const pack = ['pack', '--workspace', name, '--pack-destination', folder, '--json'];
    const { stdout } = await run('npm', pack, { cwd: ROOT });
    const filename = /"filename": "([^"]+)"/.exec(stdout)?.[1] ?? '';
    // As npm does, but without a registry: the other packages are those of the repository.
    await mkdir(path.join(modules, name), { recursive: true });
    const unpack = ['-xzf', path.join(folder, filename), '-C', path.join(modules, name), '--strip-components=1'];
    await run('tar', unpack, { cwd: folder });
  }
  for (const name of ['commander', 'zod', '@types/node', '@modelcontextprotocol', 'standardwebhooks'])
    await symlink(path.join(NODE_MODULES, name), path.join(modules, name));
  await writeFile(path.join(folder, 'package.json'), JSON.stringify({ type: 'module' }));
  await copyFile(path.join(ROOT, 'docs/guides/examples/first-incident.ts'), path.join(folder, 'example.ts'));
  await writeFile(path.join(folder, 'typed.ts'), TYPED_PROGRAM);
  for (const document of ['README.md', 'docs/guides/sdk.md', 'shared/sdk/README.md']) {
    for (const [index, sample] of (await samplesIn(document)).entries()) {
      const imports = sample.includes('import ') ? '' : "import { Tocsin, verifyWebhook } from '@tocsin/sdk';\n";
      const tocsin = sample.includes('new Tocsin') ? '' : 'declare const tocsin: Tocsin;\n';
      const file = `sample-${document.replaceAll(/\W/g, '-')}-${index}.ts`;
      await writeFile(path.join(folder, file), `${imports}${SURROUNDINGS}${imports === '' ? '' : tocsin}${sample}`);
    }
  }
  return folder;
}

/** The Node of the repository, and another one if this machine has it. */
const NODES = [process.execPath, '/usr/bin/node'].filter((file) => existsSync(file));

describe('the packed packages for clients', () => {
  let folder: string;
  beforeAll(async () => {
    folder = await installPackages();
  });
  afterAll(async () => rm(folder, { recursive: true, force: true }));

  test('contain plain JavaScript and nothing of the sources', async () => {
    const files = async (name: string) => {
      const { stdout } = await run('find', ['.', '-type', 'f'], { cwd: path.join(folder, 'node_modules', name) });
      return stdout.trim().split('\n').toSorted();
    };
    const sdk = await files('@tocsin/sdk');
    expect(sdk.filter((file) => !/^\.\/dist\/(?:generated\/)?[a-z-]+\.(?:js|d\.ts)$/.test(file))).toEqual([
      ...['./README.md', './dist/LICENSE', './package.json'],
    ]);
    const command = await files('@tocsin/cli');
    // Whoever has the name of a dependency in a registry would be installed.
    for (const name of ['@tocsin/sdk', '@tocsin/cli']) {
      const manifest = await readFile(path.join(folder, 'node_modules', name, 'package.json'), 'utf8');
      expect(
        Object.keys(JSON.parse(manifest).dependencies ?? {}).filter((each) => each.startsWith('@tocsin/')),
      ).toEqual([]);
    }
    expect(command.filter((file) => !/^\.\/dist\/(?:[a-z]+\/)*[a-z-]+\.js$/.test(file))).toEqual([
      ...['./README.md', './bin/run.mjs', './bin/tocsin.mjs', './dist/LICENSE', './package.json'],
      './schema/workspace.schema.json',
    ]);
  });

  test.each([
    ['the types of Node', { lib: ['es2022'], types: ['node'] }],
    ['those of browsers', { lib: ['es2022', 'dom', 'dom.iterable'], types: [] }],
  ])('have types that a strict project compiles with, with %s', async (_, options) => {
    const compilerOptions = {
      ...{ strict: true, skipLibCheck: false, exactOptionalPropertyTypes: true, noUncheckedIndexedAccess: true },
      ...{ module: 'nodenext', target: 'es2022', outDir: 'built' },
      ...options,
    };
    const samples = (await readdir(folder)).filter((file) => file.startsWith('sample-'));
    expect(samples.length).toBeGreaterThan(3);
    const files = options.types.length > 0 ? ['typed.ts', 'example.ts', ...samples] : ['typed.ts'];
    await writeFile(path.join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, files }));
    for (const node of NODES)
      expect(await printed(run(node, [path.join(NODE_MODULES, 'typescript/bin/tsc')], { cwd: folder }))).toBe('');
  });

  describeWithServers('and a system', () => {
    let system: System;
    let settings: Record<string, string>;
    beforeAll(async () => {
      system = await startSystem({ settings: { DEFAULT_WORKSPACE: 'acme' } });
      settings = { TOCSIN_URL: system.url, TOCSIN_TOKEN: (await system.as()).token, TOCSIN_CONFIG_DIR: folder };
    });
    afterAll(async () => system.stop());

    test('run the example of the guide, with every Node that is here', async () => {
      for (const node of NODES) {
        const output = await printed(run(node, ['built/example.js'], { cwd: folder, env: settings }));
        // The list begins with the newest.
        expect(output).toMatch(/^declared (INC-\d+)\nrefused: .* \(now 3\)\n\1 Checkout is down\n/);
      }
    });

    test('run the command', async () => {
      const bin = path.join(folder, 'node_modules/@tocsin/cli/bin/tocsin.mjs');
      const command = async (...args: string[]) =>
        printed(run(process.execPath, [bin, ...args], { cwd: folder, env: settings }));
      expect(JSON.parse(await command('whoami'))).toMatchObject({ workspace: { slug: 'acme' } });
      expect(await command('incidents', 'declare', '--title', 'Packed', '--quiet')).toMatch(/^\d+\n$/);
      const { version } = JSON.parse(await readFile(path.join(ROOT, 'package.json'), 'utf8'));
      expect(await command('--version')).toBe(`${version}\n`);
    });
  });
});

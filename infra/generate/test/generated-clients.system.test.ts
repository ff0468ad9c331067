import { execFile } from 'node:child_process';
import { mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { ROOT } from '../../installation/environment.ts';
import { type SampleWorkspace, startSampleWorkspace } from '../../verification/systems/sample-workspace.ts';

const execute = promisify(execFile);
const NODE_MODULES = path.join(ROOT, 'node_modules');

interface Generator {
  /** Default: its name. */
  command?: string;
  arguments: readonly string[];
  program: string;
}

/** Generators that many people use, each with a program that uses its client as they would. */
const GENERATORS: Readonly<Record<string, Generator>> = {
  'openapi-typescript': {
    arguments: ['description.json', '-o', 'client.ts'],
    program: `
import createClient from 'openapi-fetch';
import type { paths } from './client';

export async function use(baseUrl: string, token: string) {
  const api = createClient<paths>({ baseUrl, headers: { Authorization: \`Bearer \${token}\` } });
  const created = await api.POST('/api/v1/incidents', { body: { title: 'Checkout is down', severity: 'sev1' } });
  const { id, revision }: { id: number; revision: number } = created.data!.incident;
  const listed = await api.GET('/api/v1/incidents', { params: { query: { severity: ['sev1'], limit: 1 } } });
  const patched = await api.PATCH('/api/v1/incidents/{id}', {
    params: { path: { id }, header: { 'If-Service-Resource-Version': revision } },
    body: { title: 'Checkout is slow' },
  });
  const { data } = await api.POST('/api/v1/settings/webhooks', { body: { url: 'https://receiver.example/hook' } });
  const secret: string = data!.secret;
  return { listed: listed.data!.incidents[0]!.title, patched: patched.data!.incident.title, secret };
}`,
  },
  'openapi-ts': {
    arguments: ['-i', 'description.json', '-o', 'client', '--silent'],
    program: `
import { createIncident, createWebhook, listIncidents, updateIncident } from './client';
import { client } from './client/client.gen';

export async function use(baseUrl: string, token: string) {
  client.setConfig({ baseUrl, auth: token });
  const throwOnError = true;
  const created = await createIncident({ throwOnError, body: { title: 'Checkout is down', severity: 'sev1' } });
  const { id, revision }: { id: number; revision: number } = created.data.incident;
  const listed = await listIncidents({ throwOnError, query: { severity: ['sev1'], limit: 1 } });
  const patched = await updateIncident({
    throwOnError,
    path: { id },
    headers: { 'If-Service-Resource-Version': revision },
    body: { title: 'Checkout is slow' },
  });
  const { data } = await createWebhook({ throwOnError, body: { url: 'https://receiver.example/hook' } });
  const secret: string = data.secret;
  return { listed: listed.data.incidents[0]!.title, patched: patched.data.incident.title, secret };
}`,
  },
  'openapi-ts with zod': {
    command: 'openapi-ts',
    arguments: ['-i', 'description.json', '-o', 'client', '--silent', '-p', 'zod'],
    program: `
import * as client from './client/zod.gen';

export async function use(baseUrl: string, token: string) {
  const send = async (method: string, path: string, body?: object, headers = {}): Promise<unknown> => {
    const all = { Authorization: \`Bearer \${token}\`, 'Content-Type': 'application/json', ...headers };
    return (await fetch(baseUrl + path, { method, headers: all, body: body && JSON.stringify(body) })).json();
  };
  const body = client.zCreateIncidentBody.parse({ title: 'Checkout is down', severity: 'sev1' });
  const validated = client.zCreateIncidentResponse.safeParse(await send('POST', '/api/v1/incidents?validate_only=true', body));
  const paths = validated.error?.issues.map(({ path }) => path.join('.'));
  if (String(paths) !== 'incident.id,incident.human_id') throw new Error(\`violated: \${paths}\`);
  const { incident } = client.zCreateIncidentResponse.parse(await send('POST', '/api/v1/incidents', body));
  const { id, revision }: { id: number; revision: number } = incident;
  const listed = client.zListIncidentsResponse.parse(await send('GET', '/api/v1/incidents?severity=sev1&limit=1'));
  const patch = client.zUpdateIncidentBody.parse({ title: 'Checkout is slow' });
  const headers = { 'If-Service-Resource-Version': String(revision) };
  const patched = client.zUpdateIncidentResponse.parse(await send('PATCH', \`/api/v1/incidents/\${id}\`, patch, headers));
  const hook = client.zCreateWebhookBody.parse({ url: 'https://receiver.example/hook' });
  const { secret } = client.zCreateWebhookResponse.parse(await send('POST', '/api/v1/settings/webhooks', hook));
  client.zNewConfiguration.shape.time_zone.parse('America/Argentina/Buenos_Aires');
  client.zGetConfigurationResponse.parse(await send('GET', '/api/v1/settings/configuration'));
  return { listed: listed.incidents[0]!.title, patched: patched.incident.title, secret };
}`,
  },
  oazapfts: {
    arguments: ['description.json', 'client.ts'],
    program: `
import { ok } from '@oazapfts/runtime';
import { createIncident, createWebhook, defaults, listIncidents, updateIncident } from './client';

export async function use(baseUrl: string, token: string) {
  Object.assign(defaults, { baseUrl, headers: { Authorization: \`Bearer \${token}\` } });
  const { incident } = await ok(createIncident({ title: 'Checkout is down', severity: 'sev1' }));
  const { id, revision }: { id: number; revision: number } = incident;
  const listed = await ok(listIncidents({ severity: ['sev1'], limit: 1 }));
  const patched = await ok(updateIncident(id, revision, { title: 'Checkout is slow' }));
  const { secret }: { secret: string } = await ok(createWebhook({ url: 'https://receiver.example/hook' }));
  return { listed: listed.incidents[0]!.title, patched: patched.incident.title, secret };
}`,
  },
};

/** `erasableSyntaxOnly` and the like are not asked of what others generate. */
const COMPILER =
  '--strict --skipLibCheck --target es2022 --module commonjs --moduleResolution bundler --types node --outDir built';

describe('clients that others generate from the description', () => {
  let sample: SampleWorkspace;
  let folder: string;
  beforeAll(async () => {
    sample = await startSampleWorkspace();
    folder = await mkdtemp(path.join(tmpdir(), 'tocsin-generated-'));
    await symlink(NODE_MODULES, path.join(folder, 'node_modules'));
    const { text } = await sample.client.get('/api/v1/openapi.json');
    await writeFile(path.join(folder, 'description.json'), text);
  });
  afterAll(async () => {
    await rm(folder, { recursive: true });
    await sample.stop();
  });

  test.each(Object.entries(GENERATORS))('%s: compiles under strict, and does the main job', async (name, generator) => {
    const { command = name } = generator;
    const cwd = await mkdtemp(path.join(folder, 'client-'));
    await symlink('../description.json', path.join(cwd, 'description.json'));
    await writeFile(path.join(cwd, 'program.ts'), generator.program);
    const run = async (file: string, args: readonly string[]) =>
      execute(file, args, { cwd }).catch((error: unknown) => {
        throw new Error(`${file}: ${(error as { stdout: string }).stdout}${(error as { stderr: string }).stderr}`);
      });
    await run(path.join(NODE_MODULES, '.bin', command), generator.arguments);
    await run(path.join(NODE_MODULES, '.bin/tsc'), [...COMPILER.split(' '), 'program.ts']);
    const call = `require('./built/program.js').use(...process.argv.slice(1)).then((seen) => console.log(JSON.stringify(seen)))`;
    const { stdout } = await run(process.execPath, ['--eval', call, sample.url, sample.token]);
    expect(JSON.parse(stdout)).toEqual({
      listed: 'Checkout is down',
      patched: 'Checkout is slow',
      secret: expect.stringMatching(/^whsec_/),
    });
  });
});

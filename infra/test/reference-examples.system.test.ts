import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { type Client, eventually, type FakeSlack, findChromium, httpClient, startSlack } from '@tocsin/testing';
import type { ApiDescription, ApiOperation } from '../../gateway/src/description.ts';
import { freePorts } from '../ports.ts';
import { adminCommand } from '../verification/systems/admin-command.ts';
import { launchBrowser, openReference } from './browser.ts';
import { runCommand, type RunningCommand } from '../verification/systems/commands.ts';

let folder: string;
let url: string;
let token: string;
let client: Client;
let slack: FakeSlack;
const started: RunningCommand[] = [];
beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'tocsin-examples-'));
  slack = await startSlack();
  const [port = 0, receiverPort = 0] = await freePorts(2);
  const settings = { TOCSIN_DATA_DIR: folder, PORT: String(port), RECEIVER_PORT: String(receiverPort) };
  const instance = runCommand('embedded/main.ts', { ...settings, SLACK_API_URL: slack.url });
  started.push(instance);
  await instance.ready();
  url = `http://localhost:${port}`;
  token = /^token +(tcs_\w+)$/m.exec(instance.output())?.[1] ?? '';
  client = httpClient(`http://127.0.0.1:${port}`, { Authorization: `Bearer ${token}` });
}, 180_000);
afterAll(async () => {
  for (const command of started.reverse()) {
    command.signal('SIGTERM');
    await command.ended();
  }
  await slack.stop();
  await rm(folder, { recursive: true, force: true });
});

interface Example {
  id: string;
  method: 'get' | 'post' | 'patch' | 'put' | 'delete';
  path: string;
  headers: Record<string, string>;
  body: unknown;
  success: number;
}

/** The operations in the order of the reference: by tag, then in that of the description. */
function examplesOf({ tags = [], paths }: ApiDescription): Example[] {
  const operations = Object.entries(paths).flatMap(([at, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ at, method, operation })),
  );
  return tags.flatMap(({ name }) =>
    operations.filter(({ operation }) => operation.tags?.[0] === name).map((each) => exampleOf(each)),
  );
}

/** @throws when the operation lacks an example of something that it requires */
function exampleOf({ at, method, operation }: { at: string; method: string; operation: ApiOperation }): Example {
  const { operationId: id, parameters = [], requestBody, responses } = operation;
  const required = parameters.filter((parameter) => parameter.required === true);
  const values = required.map((parameter) => {
    const { example } = parameter.schema as { example?: string | number };
    if (example === undefined) throw new Error(`${id} has no example of ${parameter.name}`);
    return { ...parameter, example: String(example) };
  });
  const content = requestBody?.content['application/json'];
  if (content !== undefined && content.example === undefined) throw new Error(`${id} has no example of its body`);
  const statuses = Object.keys(responses).filter((status) => status.startsWith('2'));
  expect(statuses).toHaveLength(1);
  return {
    id,
    method: method as Example['method'],
    path: values
      .filter((parameter) => parameter.in === 'path')
      .reduce((text, { name, example }) => text.replace(`{${name}}`, encodeURIComponent(example)), at),
    headers: Object.fromEntries(
      values.filter((parameter) => parameter.in === 'header').map(({ name, example }) => [name, example]),
    ),
    body: content?.example,
    success: Number(statuses[0]),
  };
}

const send = async ({ method, path: at, headers, body }: Example) => client.with(headers)[method](at, body as never);

test('make receiver receives the webhooks of the sample workspace, and checks their signatures', async () => {
  const receiver = runCommand('receiver/main.ts', { TOCSIN_DATA_DIR: folder });
  started.push(receiver);
  await eventually(() => receiver.output().includes('is active'), { within: 60_000 });
  expect(receiver.output()).toMatch(/webhook\.verification {2}wh_SampleWebhookOfTheDemo {2}signature valid$/m);
  await client.post('/api/v1/incidents', { title: 'Before the examples' });
  await eventually(() =>
    /incident\.created {2}INC-4 {2}Before the examples {2}signature valid$/m.test(receiver.output()),
  );
  expect(receiver.errors()).toBe('');
});

test('every example of the reference works in the sample workspace, in the order of the page', async () => {
  // What the examples of Chat need; those of Webhooks need make receiver.
  const admin = adminCommand({ TOCSIN_DATA_DIR: folder });
  const template = ['--channel-template', 'inc-{id}-{short_title}'];
  await admin('slack', 'connect', '--workspace', 'acme', '--bot-token', slack.token, ...template);

  const { body: description } = await client.get('/api/v1/openapi.json');
  const examples = examplesOf(description as ApiDescription);
  expect(examples.length).toBeGreaterThan(50);
  const failed: unknown[] = [];
  for (const example of examples) {
    const { status, body } = await send(example);
    if (status !== example.success) failed.push({ id: example.id, status, body });
    // The work goes on after the response, and the next examples need it.
    if (status === 202) await provisioned(example.path.replace('/retry', ''));
  }
  expect(failed).toEqual([]);
}, 120_000);

test('the five requests on the first screen of the reference work', async () => {
  const { body } = await client.get('/api/v1/openapi.json');
  const { info } = body as ApiDescription;
  const script = /```sh\n([^]*?)```/.exec(info.description ?? '')?.[1]?.replace('http://localhost:8080', url) ?? '';
  const strict = `set -e; curl() { command curl -sSf -o /dev/null -w '%{http_code}\\n' "$@"; }\n${script}`;
  const { stdout } = await promisify(execFile)('bash', ['-c', strict], { env: { ...process.env, TOKEN: token } });
  expect(stdout.trim().split('\n')).toEqual(['200', '201', '201', '200', '200']);
});

test('/openapi.json leads to the description', async () => {
  const { status, headers } = await client.get('/openapi.json');
  expect([status, headers.get('location')]).toEqual([302, '/api/v1/openapi.json']);
});

const provisioned = async (at: string) =>
  eventually(async () => (await client.get(at)).body.provisioning.status === 'succeeded', { within: 40_000 });

/** Skipped, and counted, where Chromium is not installed: nothing else shows what the page sends. */
const inBrowser = findChromium() === undefined ? test.skip : test;

inBrowser(
  '"Test Request" works untouched',
  async () => {
    const browser = await launchBrowser();
    try {
      const { page } = await openReference(browser, `${url}/docs#tag/incidents/POST/api/v1/incidents`);
      await page.getByRole('textbox', { name: 'Bearer Token' }).first().fill(token);
      const section = page.locator('section[id$="tag/incidents/POST/api/v1/incidents"]');
      await section.getByRole('button', { name: /^Test Request/ }).click();
      const dialog = page.getByRole('dialog', { name: 'API Client' });
      await dialog.getByRole('button', { name: /^Send post request/ }).click();
      await dialog.getByRole('link', { name: '201 Created' }).waitFor();
    } finally {
      await browser.close();
    }
  },
  120_000,
);

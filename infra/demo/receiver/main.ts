import { readFile } from 'node:fs/promises';
import { createServer } from 'node:https';
import path from 'node:path';
import { buffer } from 'node:stream/consumers';
import { type App, runProcess } from '@tocsin/runtime';
import type { Tocsin } from '@tocsin/sdk';
import { dataDirPath, findRunningInstance } from '../../installation/data-dir.ts';
import { workspaceApi } from '../api.ts';
import { DEMO_WORKSPACE } from '../default-workspace.ts';
import { environment } from '../../installation/environment.ts';
import { CERTIFICATE_FILE } from './certificate.ts';
import { signatureProblem } from './check-signature.ts';
import { receiverPort, receiverUrl, SAMPLE_WEBHOOK } from '../sample-webhook.ts';

interface Event {
  type: string;
  resource: { type: string; id: number | string; reference?: string };
  data?: { incident?: { title?: string } };
}

// Receives the webhooks of the sample workspace of a running make start, and prints them.
await runProcess(async (): Promise<App> => {
  const folder = dataDirPath(environment());
  const instance = await findRunningInstance(folder);
  if (instance === undefined)
    throw new Error(`no instance runs on ${folder}: run make start in another terminal first`);
  const port = receiverPort(instance.env);
  if (port === undefined) throw new Error(`the instance at ${instance.baseUrl} allows no receiver on this machine`);
  const token = await read(folder, 'demo-token');
  const certificate = await read(folder, CERTIFICATE_FILE);
  const host = `${DEMO_WORKSPACE}.${instance.env['BASE_DOMAIN'] ?? 'localhost'}`;
  const api = workspaceApi({ baseUrl: instance.baseUrl, host, token });

  const { id, secret } = await subscribe(api, receiverUrl(port));
  const server = createServer({ cert: certificate, key: certificate }, (request, response) => {
    buffer(request).then(
      (body) => {
        const problem = signatureProblem({ secret, headers: request.headers, body, now: Date.now() });
        console.log(`${new Date().toISOString()}  ${problem === undefined ? describe(body) : `refused: ${problem}`}`);
        response.writeHead(problem === undefined ? 204 : 400).end();
      },
      () => response.destroy(),
    );
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(Number(port), 'localhost', resolve);
  });
  await api.webhooks.verify(id);
  console.log(`webhook ${id} is active: the incidents of ${DEMO_WORKSPACE} that are created now arrive here`);
  console.log('Ctrl-C pauses it and stops');
  return {
    url: receiverUrl(port),
    stop: async () => {
      // An instance that has stopped cannot pause it.
      await api.webhooks.pause(id).catch(() => undefined);
      server.close();
      server.closeAllConnections();
    },
  };
});

async function read(folder: string, name: string): Promise<string> {
  const file = path.join(folder, name);
  return readFile(file, 'utf8').then(
    (text) => text.trim(),
    () => {
      throw new Error(`${file} cannot be read: the receiver needs the sample workspace of make start`);
    },
  );
}

/** Takes the subscription of an earlier run, with a new secret, or creates one. */
async function subscribe(api: Tocsin, url: string): Promise<{ id: string; secret: string }> {
  const { webhooks } = await api.webhooks.list();
  const { origin } = new URL(url);
  // Responses show the host without the port, and no other receiver is allowed on this host.
  const subscriptions = webhooks.filter(
    ({ url: shown, status }) => status !== 'revoked' && origin.startsWith(`${shown}:`),
  );
  const existing = subscriptions.find(({ id }) => id === SAMPLE_WEBHOOK) ?? subscriptions[0];
  const { webhook, secret } = await (existing === undefined
    ? api.webhooks.create({ url })
    : api.webhooks.rotateSecret(existing.id));
  return { id: webhook.id, secret };
}

function describe(body: Buffer): string {
  const { type, resource, data } = JSON.parse(body.toString()) as Event;
  const title = data?.incident?.title;
  return [
    `${type}  ${resource.reference ?? resource.id}`,
    ...(title === undefined ? [] : [title]),
    'signature valid',
  ].join('  ');
}

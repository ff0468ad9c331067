import path from 'node:path';
import type { Environment } from '@tocsin/runtime';
import { APP_NAMES, type AppName, APPS } from '../installation/apps.ts';
import { ROOT } from '../installation/environment.ts';
import { receiverPort } from './sample-webhook.ts';
import type { Demo } from './create-demo.ts';

export interface EndBlockOptions {
  /** The gateway's address. */
  url: string;
  demo: Demo | undefined;
  /** With the addresses of the apps. */
  env: Environment;
  /** The address of the metrics of all apps; default: those of each app. */
  metrics?: string;
  /** More about the instance, such as where its data is. */
  notes: readonly string[];
}

/** What a started instance prints: where it is, and how to send a first request. The last line is for programs. */
export function endBlock({ url, demo, env, metrics, notes }: EndBlockOptions): string {
  const entries: [string, string][] = [['address', url]];
  if (demo === undefined) {
    entries.push([
      'workspace',
      'create one with npm run -s admin -- workspace create, see docs/guides/administration.md',
    ]);
  } else {
    const { baseUrl, workspace, token } = demo;
    entries.push(['workspace', workspace]);
    entries.push(['token', token ?? 'the demo key has ended; make another with npm run -s admin -- key create']);
    entries.push(['docs', `${baseUrl}/docs`]);
    if (demo.console !== undefined) entries.push(['console', `${demo.console} (signs in once, within ten minutes)`]);
    if (receiverPort(env) !== undefined && token !== undefined) {
      entries.push(['webhooks', 'make receiver, in another terminal, receives them and checks their signatures']);
    }
  }
  const lines = metrics === undefined ? APP_NAMES.map((app) => metricsOf(app, env)) : [metrics];
  entries.push(...lines.map((line, index): [string, string] => [index === 0 ? 'metrics' : '', line]));
  const curl = demo?.token === undefined ? [] : ['', ...curlFor(demo.baseUrl, demo.token)];
  return [
    '',
    ...entries.map(([name, value]) => `${name.padEnd(10)} ${value}`),
    ...curl,
    '',
    ...notes,
    'Ctrl-C stops everything',
    `ready ${url}`,
  ].join('\n');
}

const metricsOf = (app: AppName, env: Environment) =>
  `${(env[APPS[app].addressVariable] ?? '').replaceAll(/(?=,|$)/g, '/metrics').replaceAll(',', ', ')} (${app})`;

const curlFor = (baseUrl: string, token: string) => [
  `curl -sS ${baseUrl}/api/v1/incidents \\`,
  `  -H 'Authorization: Bearer ${token}' \\`,
  `  -H 'Content-Type: application/json' -H 'Idempotency-Key: first-incident' \\`,
  `  -d '{"title": "Checkout is down", "service": "checkout", "severity": "sev1"}'`,
  '',
  '# every change, in one order; add -N and -H "Accept: text/event-stream" to follow them',
  `curl -sS '${baseUrl}/api/v1/events?from=beginning' -H 'Authorization: Bearer ${token}'`,
  '',
  '# the same by the command, see docs/guides/cli.md',
  `export PATH="${path.join(ROOT, 'node_modules/.bin')}:$PATH"`,
  `export TOCSIN_URL=${baseUrl} TOCSIN_TOKEN=${token}`,
  "tocsin incidents declare --title 'Checkout is down' --service checkout --severity sev1",
  'tocsin events tail --from beginning',
];

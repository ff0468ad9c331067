import type { Demo } from './create-demo.ts';

export interface EndBlockOptions {
  /** The gateway's address. */
  url: string;
  demo: Demo | undefined;
  /** More about the instance, such as where its data is. */
  notes: readonly string[];
}

/** What a started instance prints: where it is, and how to send a first request. The last line is for programs. */
export function endBlock({ url, demo, notes }: EndBlockOptions): string {
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
  }
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

const curlFor = (baseUrl: string, token: string) => [
  `curl -sS ${baseUrl}/api/v1/incidents \\`,
  `  -H 'Authorization: Bearer ${token}' \\`,
  `  -H 'Content-Type: application/json' -H 'Idempotency-Key: first-incident' \\`,
  `  -d '{"title": "Checkout is down", "service": "checkout", "severity": "sev1"}'`,
];

import { spawn, type StdioOptions } from 'node:child_process';
import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { ROOT } from '../../../installation/environment.ts';

/** A reverse proxy for which docs/guides/examples has a configuration. */
export interface ProxyExample {
  name: string;
  program: string;
  file: string;
  /** What listens where: in the file, and in a test. */
  listens(port: number): [shown: string, own: string][];
  /** The arguments of the program, and its whole configuration if the file is a part of one. */
  run(file: string, main: string, folder: string): { args: string[]; whole?: string };
  /** It may lose a response that precedes the end of the request: over HTTP/2 its body, else to a slow client all of it. */
  losesEarlyResponses?: true;
  /** It reads no response before it has sent the whole body. */
  sendsWholeBodies?: true;
  /** How many streams a new connection of HTTP/2 carries at once, beside a long poll; default: at least 20. */
  streams?: number;
}

const DOMAIN = 'tocsin.example.com';
const PIPED = ['ignore', 'pipe', 'pipe'] as const satisfies StdioOptions;
const APACHE_MODULES = ['mpm_event', 'authz_core', 'ssl', 'http2', 'proxy', 'proxy_http', 'headers', 'reqtimeout'];

export const PROXY_EXAMPLES: readonly ProxyExample[] = [
  {
    name: 'nginx',
    program: 'nginx',
    file: 'nginx.conf',
    listens: (port) => [
      ['listen 443 ', `listen 127.0.0.1:${port} `],
      ['listen [::]:443 ssl http2;', ''],
    ],
    run: (file, main, folder) => ({
      args: ['-e', 'stderr', '-c', main],
      whole: [
        `daemon off; pid ${folder}/nginx.pid; error_log stderr; events {}`,
        'http { access_log off;',
        ...['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((each) => `${each}_temp_path ${folder}/${each};`),
        `include ${file}; }`,
      ].join('\n'),
    }),
  },
  {
    name: 'HAProxy',
    program: 'haproxy',
    file: 'haproxy.cfg',
    listens: (port) => [['bind :443,:::443 ', `bind 127.0.0.1:${port} `]],
    run: (file) => ({ args: ['-db', '-f', file] }),
  },
  {
    name: 'Apache httpd',
    program: 'apache2',
    file: 'apache.conf',
    listens: (port) => [
      ['Listen 443', `Listen 127.0.0.1:${port}`],
      ['*:443', `*:${port}`],
    ],
    run: (file, main, folder) => ({
      args: ['-D', 'FOREGROUND', '-f', main],
      whole: [
        `ServerName ${DOMAIN}\nServerRoot ${folder}\nPidFile ${folder}/apache.pid\nErrorLog ${folder}/apache.log`,
        // As root it needs another user for its workers.
        'User nobody\nGroup nogroup',
        ...APACHE_MODULES.map((each) => `LoadModule ${each}_module /usr/lib/apache2/modules/mod_${each}.so`),
        `Include ${file}\n`,
      ].join('\n'),
    }),
    sendsWholeBodies: true,
    streams: 5,
  },
  {
    name: 'Caddy',
    program: 'caddy',
    file: 'Caddyfile',
    listens: (port) => [
      [`*.${DOMAIN}, ${DOMAIN} {`, `https://*.${DOMAIN}:${port}, https://${DOMAIN}:${port} {`],
      ['auto_https', 'admin off\n\tdefault_bind 127.0.0.1\n\tauto_https'],
    ],
    run: (file) => ({ args: ['run', '--config', file, '--adapter', 'caddyfile'] }),
    losesEarlyResponses: true,
  },
];

/**
 * Starts a proxy with the example, changed only in what a test must have for itself.
 * @param options `folder` has the certificate, and gets what the proxy writes
 */
export async function startProxy(example: ProxyExample, options: { folder: string; port: number; gateway: string }) {
  const { folder, port, gateway } = options;
  let configuration = await readFile(path.join(ROOT, 'docs/guides/examples', example.file), 'utf8');
  const replacements: [string, string][] = [
    ['/etc/tocsin/tls/', `${folder}/`],
    ['127.0.0.1:8080', gateway],
    ...example.listens(port),
  ];
  for (const [shown, replacement] of replacements) {
    if (!configuration.includes(shown)) throw new Error(`${example.file} has no ${shown}`);
    configuration = configuration.replaceAll(shown, replacement);
  }
  const [file, main] = [example.file, `${example.program}.main`].map((name) => path.join(folder, name)) as [
    string,
    string,
  ];
  await writeFile(file, configuration);
  const { args, whole } = example.run(file, main, folder);
  if (whole !== undefined) await writeFile(main, whole);
  const proxy = spawn(example.program, args, {
    env: { ...process.env, XDG_DATA_HOME: folder, XDG_CONFIG_HOME: folder },
    stdio: PIPED,
  });
  let output = '';
  for (const stream of [proxy.stdout, proxy.stderr]) stream.on('data', (bytes: Buffer) => (output += String(bytes)));
  const closed = once(proxy, 'close');
  return {
    /** What it printed, once it has ended. */
    lastOutput: () => (proxy.exitCode === null ? undefined : output),
    stop: async () => {
      proxy.kill('SIGTERM');
      await closed;
    },
  };
}

import { readFile } from 'node:fs/promises';
import { lookup } from 'node:dns/promises';
import path from 'node:path';
import { parseEnv } from 'node:util';
import { listMigrations } from '@tocsin/postgres';
import { ConfigError, type Environment, generateSecretKeys } from '@tocsin/runtime';
import { APP_NAMES, type AppName, APPS, readRecorded } from '../../installation/apps.ts';
import { ROOT } from '../../installation/environment.ts';
import { ignoreMissing } from '../../installation/missing-files.ts';
import { readText } from '../read-input.ts';
import { type Check, count, type Finding, note, ok, problem, some, unknown } from './check.ts';

/** Milliseconds for the answer of a process. */
const ANSWER_TIME = 3_000;

/** What the release of this code needs of an installation of the release before. @param file its settings, as `.env` has them */
export const checksBeforeUpgrade = (file: string | undefined): readonly Check[] => [
  VERSION_CHECK,
  PENDING_CHECK,
  LOCK_CHECK,
  fileCheck(file),
];

/** All addresses of an app: a host name may have several. */
async function addressesOf(setting: string): Promise<URL[]> {
  const urls = setting.split(',').map((each) => new URL(each.trim()));
  const resolved = await Promise.all(
    urls.map(async (url) => {
      const addresses = await lookup(url.hostname.replace(/^\[(.*)\]$/, '$1'), { all: true });
      return addresses.map(({ address, family }) => {
        const each = new URL(url);
        each.hostname = family === 6 ? `[${address}]` : address;
        return each;
      });
    }),
  );
  return resolved.flat();
}

async function versionAt(address: URL): Promise<string> {
  const response = await fetch(new URL('/healthz', address), { signal: AbortSignal.timeout(ANSWER_TIME) });
  const { version } = (await response.json()) as { version?: string };
  return version ?? 'unknown';
}

/** Whether all processes that run are of one release: otherwise the last upgrade is not finished. */
const VERSION_CHECK: Check = {
  name: 'versions',
  run: async ({ env }) => {
    const apps = new Map<string, string[]>();
    const findings: Finding[] = [];
    let processes = 0;
    for (const app of APP_NAMES) {
      const { addressVariable } = APPS[app];
      const setting = env[addressVariable] ?? '';
      if (setting === '') {
        findings.push(unknown(`${app} is not asked: set ${addressVariable} as the services have it`));
        continue;
      }
      try {
        for (const address of await addressesOf(setting)) {
          const version = await versionAt(address);
          processes += 1;
          apps.set(version, [...(apps.get(version) ?? []), app]);
        }
      } catch (error) {
        findings.push(unknown(`${app} does not answer at ${setting}: ${(error as Error).message}`));
      }
    }
    const versions = [...apps.keys()];
    if (versions.length === 1) {
      findings.unshift(ok(`${count(processes, 'process runs', 'processes run')} ${versions.join()}`));
    } else if (versions.length > 1) {
      const each = [...apps].map(([version, names]) => `${version} (${[...new Set(names)].join(', ')})`);
      findings.unshift(
        problem(`processes of several releases run: ${each.join(' and ')}: finish the last upgrade first`),
      );
    }
    return findings;
  },
};

/** The migrations that will run, and the disk that their indexes may take. */
const PENDING_CHECK: Check = {
  name: 'migrations',
  run: async ({ database }) => {
    const findings: Finding[] = [];
    for (const app of APP_NAMES) {
      const { name: schema, migrations } = APPS[app].schema;
      const rows = await database(app)('migrations').select<{ name: string }[]>('name');
      const applied = new Set(rows.map(({ name }) => name));
      const names = await listMigrations(migrations);
      const newer = [...applied].filter((name) => !names.includes(name));
      if (newer.length > 0) {
        findings.push(
          problem(`the schema ${schema} is of a later release (${some(newer)}): this code cannot upgrade it`),
        );
        continue;
      }
      const pending = names.filter((name) => !applied.has(name));
      if (pending.length === 0) continue;
      const bytes = await indexedBytes(app, pending, (table) =>
        database(app)
          .raw<{ rows: [{ bytes: string }] }>('select coalesce(pg_table_size(to_regclass(?)), 0)::text as bytes', [
            table,
          ])
          .then(({ rows: [{ bytes: size }] }) => Number(size)),
      );
      const disk = bytes === 0 ? '' : `; their indexes need up to ${megabytes(bytes)} on the disk of PostgreSQL`;
      findings.push(
        note(`${count(pending.length, 'migration')} of the schema ${schema} will run: ${some(pending)}${disk}`),
      );
    }
    return findings.length === 0 ? [ok('no migration is pending')] : findings;
  },
};

const megabytes = (bytes: number) => `${Math.ceil(bytes / 1_048_576)} MiB`;

/** The table of an index: in a statement, or in Knex's own words. */
const INDEXED =
  /index[^;]*?\bon:? ?[`'"]?([a-z_]+) ?(?:using \w+ ?)?\(|alterTable\('([a-z_]+)'[^;]*?\.(?:index|unique)\(/gi;

/** An index is at most about as large as what its table stores. */
async function indexedBytes(
  app: AppName,
  pending: readonly string[],
  sizeOf: (table: string) => Promise<number>,
): Promise<number> {
  let bytes = 0;
  for (const name of pending) {
    const source = await readFile(path.join(APPS[app].schema.migrations, `${name}.ts`), 'utf8');
    for (const [, written = '', built = written] of source.matchAll(INDEXED)) bytes += await sizeOf(built);
  }
  return bytes;
}

/** Transactions that a migration would wait for. */
const LOCK_CHECK: Check = {
  name: 'transactions',
  run: async ({ database }) => {
    const { rows } = await database('gateway').raw<{ rows: { pid: number; application: string; seconds: number }[] }>(
      `select pid, application_name as application, extract(epoch from now() - xact_start)::int as seconds
       from pg_stat_activity where datname = current_database() and xact_start < now() - interval '1 minute'
       order by xact_start limit 5`,
    );
    if (rows.length === 0) return [ok('no transaction has been open for a minute')];
    return rows.map(({ pid, application, seconds }) =>
      note(
        `session ${pid} (${application}) has a transaction that is open for ${seconds} s: migrations may wait for it`,
      ),
    );
  },
};

/** Whether this release still knows the settings of a file, and accepts their values. */
const fileCheck = (file: string | undefined): Check => ({
  name: 'settings',
  run: async () => {
    const shown = file === '-' ? 'standard input' : (file ?? '.env');
    const content =
      file === undefined ? await readFile(path.join(ROOT, '.env'), 'utf8').catch(ignoreMissing) : await readText(file);
    if (content === undefined) return [note('there is no .env: name the file with the settings by --settings')];
    const settings = parseEnv(content) as Record<string, string>;
    const example = await readFile(path.join(ROOT, '.env.example'), 'utf8');
    const settingNames = new Set(Array.from(example.matchAll(/^#?([A-Z][A-Z_]+)=/gm), ([, name = '']) => name));
    const gone = Object.keys(settings).filter(
      (name) =>
        !/^(?:COMPOSE|DOCKER)_/.test(name) && !settingNames.has(name.replace(/_FILE$/, '')) && !settingNames.has(name),
    );
    const findings = [
      ...gone.map((name) =>
        problem(`${name} of ${shown} is no setting of this release: remove it, or correct its name`),
      ),
      ...refusals(settings).map((message) => problem(`${shown}: ${message}`)),
    ];
    if (findings.length > 0) return findings;
    return [ok(`this release knows and accepts the ${count(Object.keys(settings).length, 'setting')} of ${shown}`)];
  },
});

/** What the apps say about values. Files of secrets are not here, so there are placeholders for what they have. */
function refusals(settings: Environment): string[] {
  const placeholders = {
    ...Object.fromEntries(APP_NAMES.map((app) => [APPS[app].addressVariable, 'http://127.0.0.1:1'])),
    TOCSIN_SECRET_KEYS: generateSecretKeys(),
  };
  const values = Object.fromEntries(Object.entries(settings).filter(([name]) => !name.endsWith('_FILE')));
  const messages = new Set<string>();
  for (const app of APP_NAMES) {
    try {
      readRecorded(APPS[app].readConfig, { ...placeholders, ...values });
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error;
      for (const line of error.message.split('\n')) messages.add(line);
    }
  }
  return [...messages];
}

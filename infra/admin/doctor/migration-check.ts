import { listMigrations } from '@tocsin/postgres';
import { APP_NAMES, APPS } from '../../installation/apps.ts';
import { type Check, type Finding, ok, problem } from './check.ts';

/** Compares the migrations of each schema with those of this code. */
export const MIGRATION_CHECK: Check = {
  name: 'migrations',
  run: async ({ database }) => {
    const findings: Finding[] = [];
    for (const app of APP_NAMES) {
      const rows = await database(app)('migrations').orderBy('id').select<{ name: string }[]>('name');
      const applied = new Set(rows.map(({ name }) => name));
      const names = await listMigrations(APPS[app].schema.migrations);
      const missing = names.filter((name) => !applied.has(name));
      const newer = [...applied].filter((name) => !names.includes(name));
      const { name } = APPS[app].schema;
      if (missing.length > 0) {
        findings.push(problem(`the schema ${name} lacks ${missing.join(', ')}: run npm run migrate`));
      }
      if (newer.length > 0) {
        findings.push(problem(`the schema ${name} is of a later release (${newer.join(', ')}): use its code`));
      }
    }
    return findings.length === 0 ? [ok('all schemas have the migrations of this release')] : findings;
  },
};

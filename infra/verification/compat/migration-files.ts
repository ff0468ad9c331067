import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { APP_NAMES, APPS } from '../../installation/apps.ts';

/** The SHA-256 of each migration, by schema and file name. */
export type MigrationHashes = Readonly<Record<string, Readonly<Record<string, string>>>>;

/** Hashes the migrations of all apps. */
export const presentMigrations = (): MigrationHashes =>
  Object.fromEntries(
    APP_NAMES.map((app) => {
      const { name, migrations } = APPS[app].schema;
      const files = readdirSync(migrations).filter((file) => file.endsWith('.ts'));
      return [name, Object.fromEntries(files.sort().map((file) => [file, hashOf(path.join(migrations, file))]))];
    }),
  );

const hashOf = (file: string) => createHash('sha256').update(readFileSync(file)).digest('hex');

/**
 * Returns what is wrong with the present migrations, one sentence each: those of the baseline have run in installations,
 * so they must stay as they are, and new ones must run after them.
 */
export function migrationProblems(baseline: MigrationHashes, present: MigrationHashes): string[] {
  return Object.entries(baseline).flatMap(([schema, files]) => {
    const current = present[schema] ?? {};
    const last = Object.keys(files).sort().at(-1) ?? '';
    return [
      ...Object.keys(files)
        .filter((file) => current[file] !== files[file])
        .map((file) => `${schema}: ${file} ${file in current ? 'was edited' : 'is missing'}, although it was released`),
      ...Object.keys(current)
        .filter((file) => !(file in files) && file < last)
        .map((file) => `${schema}: ${file} is new and comes before ${last}, which was released`),
    ];
  });
}

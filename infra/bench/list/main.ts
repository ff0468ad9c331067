/**
 * `npm run bench:list`: measures lists of incidents on the database of DATABASE_URL, and writes what it found to
 * docs/performance-list.md. A fresh database is filled first, as `npm run seed` does, whose flags it takes.
 */
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describeStartFailure } from '@tocsin/runtime';
import { format, resolveConfig } from 'prettier';
import { environment, ROOT } from '../../environment.ts';
import { migrateConfig } from '../../migrate/config.ts';
import { readSize } from '../../seed/size.ts';
import { prepare } from './prepare.ts';
import { report } from './report.ts';
import { startSubject } from './subject.ts';

try {
  const config = migrateConfig(environment());
  const size = await prepare(config, readSize(process.argv.slice(2)), console.log);
  const subject = await startSubject(
    config.targets.find(({ schema }) => schema === 'incident')?.url ?? config.databaseUrl,
  );
  try {
    const text = await report(subject, size, console.log);
    const file = path.join(ROOT, 'docs/performance-list.md');
    await writeFile(file, await format(text, { ...(await resolveConfig(file)), filepath: file }));
  } finally {
    await subject.stop();
  }
} catch (error) {
  console.error(describeStartFailure(error));
  process.exitCode = 1;
}

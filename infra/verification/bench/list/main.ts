/**
 * `npm run bench:list`: measures incident lists on the database of DATABASE_URL, which must be set, and writes the
 * results to docs/performance-list.md. Seeds an empty database first; takes the flags of `npm run seed`.
 */
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { runScript } from '../../../run-script.ts';
import { environment, ROOT } from '../../../environment.ts';
import { formatted } from '../../../generate/formatted.ts';
import { namedDatabases } from '../../../migrate/named-databases.ts';
import { readSize } from '../../seed/size.ts';
import { ensureSeeded } from './ensure-seeded.ts';
import { report } from './report.ts';
import { startServiceUnderTest } from './service-under-test.ts';

await runScript(async () => {
  const requested = readSize(process.argv.slice(2));
  const config = namedDatabases(environment(), console.error);
  const size = await ensureSeeded(config, requested, console.log);
  await using started = new AsyncDisposableStack();
  const service = await startServiceUnderTest(
    config.targets.find(({ schema }) => schema === 'incident')?.url ?? config.databaseUrl,
  );
  started.defer(service.stop);
  const text = await report(service, size, console.log);
  const file = path.join(ROOT, 'docs/performance-list.md');
  await writeFile(file, await formatted(file, text));
});

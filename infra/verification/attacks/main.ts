/**
 * `npm run attacks`: attacks a real system with ordinary API keys while other workspaces use it, and exits with 1 if
 * they notice anything. Needs Linux, PostgreSQL, RabbitMQ and Redis; the system has a database and names of its own.
 */
import { runScript } from '../../installation/run-script.ts';
import { findServers, releaseServers } from '../servers/find-servers.ts';
import { interruption } from '../interruption.ts';
import { type Options, readOptions, USAGE } from './options.ts';
import { progress, table } from './report.ts';
import { type Row, runSuite } from './suite.ts';

async function run({ modes, attacks, timing, isShort, json }: Options): Promise<void> {
  if (process.platform !== 'linux') throw new Error('the attacks need Linux: they read /proc and use 127.0.0.0/8');
  const signal = interruption();
  await findServers();
  const rows: Row[] = [];
  const report = (row: Row) => {
    rows.push(row);
    console.error(progress(row));
  };
  try {
    for (const mode of modes) await runSuite({ mode, attacks, timing, isShort, report, signal });
    const isComplete = rows.length === modes.length * attacks.length;
    if (!isComplete || rows.some(({ failures }) => failures.length > 0)) process.exitCode = 1;
  } finally {
    // Also what was measured before an error.
    console.log(json ? JSON.stringify(rows, null, 2) : `\n${table(rows)}`);
    await releaseServers();
  }
}

await runScript(async () => {
  const options = readOptions(process.argv.slice(2));
  if (options.show === 'help') console.log(USAGE);
  else if (options.show === 'list')
    for (const { name, what } of options.attacks) console.log(`${name.padEnd(24)} ${what}`);
  else await run(options);
});

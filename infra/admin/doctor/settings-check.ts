import { type Knex, MEANING, UnusableSession } from '@tocsin/postgres';
import { APP_NAMES } from '../../installation/apps.ts';
import { type Check, type Finding, note, ok, problem } from './check.ts';

/** Its value outside of Tocsin's sessions is often another one, and says nothing. */
const EXPECTED = new Set(['TimeZone']);

/** What the server, the database or the role sets otherwise than PostgreSQL itself; orders of day and month aside. */
const OTHERWISE = `
  select name, reset_val as value from pg_settings
  where name = any(?) and reset_val <> setting and reset_val <> boot_val and reset_val not ilike 'iso, %' order by name`;

const IS_READ_ONLY = `
  select pg_is_in_recovery() as standby, current_setting('default_transaction_read_only') = 'on' as "readOnly"`;

/** Whether a session of each app has the settings that the code relies on, and which of them others have set. */
export const SETTINGS_CHECK: Check = {
  name: 'settings',
  run: async ({ database }) => {
    const findings = new Map<string, Finding>();
    for (const app of APP_NAMES) {
      const findingsOfApp = await inspect(database(app)).catch((error: unknown) => {
        if (error instanceof UnusableSession) return [problem(error.message)];
        throw error;
      });
      for (const finding of findingsOfApp) findings.set(finding.message, finding);
    }
    const isUsable = [...findings.values()].every(({ status }) => status === 'note');
    return [
      ...(isUsable ? [ok('the sessions of all apps have the settings that the code relies on')] : []),
      ...findings.values(),
    ];
  },
};

async function inspect(db: Knex): Promise<Finding[]> {
  const findings: Finding[] = [];
  const { rows: states } = await db.raw<{ rows: [{ standby: boolean; readOnly: boolean }] }>(IS_READ_ONLY);
  const [{ standby, readOnly }] = states;
  if (standby) findings.push(problem('the database is a standby: every change is refused with 503'));
  else if (readOnly) {
    findings.push(problem('default_transaction_read_only is on: every change is refused with 503, until it is off'));
  }
  const names = Object.keys(MEANING).filter((name) => !EXPECTED.has(name));
  const { rows } = await db.raw<{ rows: { name: string; value: string }[] }>(OTHERWISE, [names]);
  for (const { name, value } of rows) {
    findings.push(
      note(
        `server, database or role set ${name} to ${value}: the sessions of Tocsin do not use it, those of others, such as psql and pg_dump, do`,
      ),
    );
  }
  return findings;
}

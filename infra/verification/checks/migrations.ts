/**
 * `npm run check:migrations`: the migrations of the last release are as they were, and new ones run after them. Whether
 * new ones keep what the last release uses is a question to Postgres: `infra/verification/test/compat/schema-changes.api.test.ts` asks it.
 */
import { type MigrationHashes, migrationProblems, presentMigrations } from '../compat/migration-files.ts';
import { readSchemaBaseline } from '../compat/schema-baseline.ts';

/** Files that break each rule once, so that a rule which no longer finds anything fails here. */
const CANARY = { released: { alpha: { '2.ts': 'a', '3.ts': 'b' } }, present: { alpha: { '1.ts': 'c', '2.ts': 'd' } } };
const FOUND_IN_CANARY = [
  'alpha: 2.ts was edited, although it was released',
  'alpha: 3.ts is missing, although it was released',
  'alpha: 1.ts is new and comes before 3.ts, which was released',
];

const canary = migrationProblems(CANARY.released, CANARY.present);
const baseline = await readSchemaBaseline();
const released = baseline?.migrations ?? {};
const present = presentMigrations();
const countIn = (schemas: MigrationHashes) =>
  Object.values(schemas).reduce((sum, files) => sum + Object.keys(files).length, 0);
const count = countIn(released);
const problems = [
  ...FOUND_IN_CANARY.filter((problem) => !canary.includes(problem)).map(
    (problem) => `not found in the canary: ${problem}`,
  ),
  ...(baseline !== undefined && count === 0 ? ['the baseline has no migration'] : []),
  ...migrationProblems(released, present),
];
for (const problem of problems) console.error(problem);
if (baseline === undefined) console.log('no release yet: nothing to compare');
console.log(`${countIn(present)} migrations, ${count} of them released, ${problems.length} problems`);
if (problems.length > 0) process.exitCode = 1;

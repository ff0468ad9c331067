/**
 * `npm run check:migrations`: the migrations of the last release are as they were, and new ones run after them. Whether
 * new ones keep what the last release uses is a question to Postgres: `infra/test/schema-changes.api.test.ts` asks it.
 */
import { migrationProblems, presentMigrations } from '../compat/migration-files.ts';
import { readSchemaBaseline } from '../compat/schema-baseline.ts';

/** Files that break each rule once, so that a rule which no longer finds anything fails here. */
const CANARY = { released: { alpha: { '2.ts': 'a', '3.ts': 'b' } }, present: { alpha: { '1.ts': 'c', '2.ts': 'd' } } };
const FOUND_IN_CANARY = [
  'alpha: 2.ts was edited, although it was released',
  'alpha: 3.ts is missing, although it was released',
  'alpha: 1.ts is new and comes before 3.ts, which was released',
];

const canary = migrationProblems(CANARY.released, CANARY.present);
const { migrations: released } = await readSchemaBaseline();
const present = presentMigrations();
const count = Object.values(released).reduce((sum, files) => sum + Object.keys(files).length, 0);
const problems = [
  ...FOUND_IN_CANARY.filter((problem) => !canary.includes(problem)).map(
    (problem) => `not found in the canary: ${problem}`,
  ),
  ...(count === 0 ? ['the baseline has no migration'] : []),
  ...migrationProblems(released, present),
];
for (const problem of problems) console.error(problem);
const total = Object.values(present).reduce((sum, files) => sum + Object.keys(files).length, 0);
console.log(`${total} migrations, ${count} of them released, ${problems.length} problems`);
if (problems.length > 0) process.exitCode = 1;

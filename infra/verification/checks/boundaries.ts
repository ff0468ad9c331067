/**
 * Checks the imports of the whole repository against the boundary rules, and that each room has its story. Checks the rules
 * themselves first, on a small tree that violates each of them: a rule that no longer matches anything fails here instead
 * of passing all code.
 */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { cruise, type ICruiseResult } from 'dependency-cruiser';
import { ROOT } from '../../installation/environment.ts';
import { withCanary } from './boundary-canary.ts';
import { BOUNDARY_RULES } from './boundary-rules.ts';
import { checkRooms, ROOM_ORDER } from './rooms.ts';
import { checkStories, ROOM_STORY } from './stories.ts';
import { UNDECLARED_PACKAGE, undeclaredPackages } from './undeclared-packages.ts';

const TOP = ['gateway', 'services', 'shared', 'infra'];

interface Violation {
  rule: string;
  where: string;
}

async function inspect(baseDir: string): Promise<{ modules: number; violations: Violation[] }> {
  const { output } = await cruise(
    TOP,
    {
      baseDir,
      ruleSet: { forbidden: BOUNDARY_RULES },
      validate: true,
      doNotFollow: { path: 'node_modules/' },
      // What is not committed.
      exclude: {
        path: [
          '^(?:shared/[^/]+|infra/cli|gateway/console)/(?:dist|src/generated)/',
          '^[.]{1,2}/generated/',
          '^[.][.]/dist/',
        ],
      },
      // Imports of types count as well.
      tsPreCompilationDeps: true,
    },
    {
      exportsFields: ['exports'],
      conditionNames: ['tocsin-source', 'import', 'node', 'default'],
      extensions: ['.ts', '.tsx', '.mjs', '.js', '.json'],
    },
  );
  const { summary, modules } = output as ICruiseResult;
  const broken = summary.violations.map(({ rule, from, to, cycle }) => {
    const others = cycle?.map(({ name }) => name) ?? (to === from ? [] : [to]);
    return { rule: rule.name, where: [from, ...others].join(' → ') };
  });
  return {
    modules: summary.totalCruised,
    violations: [
      ...broken,
      ...undeclaredPackages(modules, baseDir),
      ...checkRooms(modules),
      ...checkStories(
        modules.map(({ source }) => source),
        (file) => readFileSync(path.join(baseDir, file), 'utf8'),
      ),
    ],
  };
}

const rules = [...BOUNDARY_RULES.map(({ name }) => name ?? ''), UNDECLARED_PACKAGE, ROOM_ORDER, ROOM_STORY];
const canary = await withCanary(inspect);
const repository = await inspect(ROOT);

const lines = [
  ...rules
    .filter((name) => !canary.violations.some(({ rule }) => rule === name))
    .map((name) => `the canary violates ${name}, but the rule found nothing`),
  ...(repository.modules === 0 ? ['no module was found'] : []),
  ...repository.violations.map(({ rule, where }) => `${rule}: ${where}`),
];
for (const line of lines) console.error(line);
console.log(`${repository.modules} modules, ${rules.length} rules, ${lines.length} problems`);
if (lines.length > 0) process.exitCode = 1;

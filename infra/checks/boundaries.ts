/**
 * Holds the imports of the whole repository to the rules of the house. The rules are tried on a canary first, a small
 * tree in which every one of them is broken: a rule that matches nothing any more, or a reader that finds no imports,
 * fails here instead of passing everything.
 */
import path from 'node:path';
import { cruise, type ICruiseResult } from 'dependency-cruiser';
import { BOUNDARY_RULES } from './boundary-rules.ts';
import { UNDECLARED_PACKAGE, undeclaredPackages } from './undeclared-packages.ts';

const ROOT = path.resolve(import.meta.dirname, '../..');
const CANARY = path.join(ROOT, 'infra/canary');
const TOP = ['gateway', 'services', 'shared', 'infra'];

interface Fault {
  rule: string;
  where: string;
}

async function inspect(baseDir: string): Promise<{ modules: number; faults: Fault[] }> {
  const { output } = await cruise(
    TOP,
    {
      baseDir,
      ruleSet: { forbidden: BOUNDARY_RULES },
      validate: true,
      doNotFollow: { path: 'node_modules/' },
      exclude: { path: '^infra/canary/' },
      // Imports of types bind as much as others.
      tsPreCompilationDeps: true,
    },
    {
      exportsFields: ['exports'],
      conditionNames: ['import', 'node', 'default'],
      extensions: ['.ts', '.mjs', '.js', '.json'],
    },
  );
  const { summary, modules } = output as ICruiseResult;
  const broken = summary.violations.map(({ rule, from, to, cycle }) => {
    const others = cycle?.map(({ name }) => name) ?? (to === from ? [] : [to]);
    return { rule: rule.name, where: [from, ...others].join(' → ') };
  });
  return { modules: summary.totalCruised, faults: [...broken, ...undeclaredPackages(modules, baseDir)] };
}

const rules = [...BOUNDARY_RULES.map(({ name }) => name ?? ''), UNDECLARED_PACKAGE];
const canary = await inspect(CANARY);
const house = await inspect(ROOT);

const lines = [
  ...rules
    .filter((name) => !canary.faults.some(({ rule }) => rule === name))
    .map((name) => `the canary breaks ${name}, and nothing noticed`),
  ...(house.modules === 0 ? ['no module was read'] : []),
  ...house.faults.map(({ rule, where }) => `${rule}: ${where}`),
];
for (const line of lines) console.error(line);
console.log(`${house.modules} modules, ${rules.length} rules, ${lines.length} faults`);
if (lines.length > 0) process.exitCode = 1;

import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import type { IModule } from 'dependency-cruiser';
import { PRODUCTION } from './boundary-rules.ts';

export const UNDECLARED_PACKAGE = 'no-undeclared-package';

const WORKSPACE = /^(?:gateway\/console|gateway|infra\/cli|infra|(?:services|shared)\/[^/]+)(?=\/)/;
const PACKAGE = /^(?:@[^/]+\/)?[^./][^/]*/;

/** It is built into files, so its packages are development dependencies of the gateway. */
const CONSOLE = 'gateway/console';

/**
 * Finds packages that production code imports but its own package.json does not declare. They resolve here, because all
 * workspaces share one node_modules folder, but an image installs only declared packages.
 */
export function undeclaredPackages(modules: readonly IModule[], root: string): { rule: string; where: string }[] {
  const declared = new Map<string, ReadonlySet<string>>();
  return modules
    .filter(({ source }) => PRODUCTION.some((pattern) => new RegExp(pattern).test(source)))
    .flatMap(({ source, dependencies }) => {
      const workspace = WORKSPACE.exec(source)?.[0] ?? '';
      const names = declared.get(workspace) ?? declaredIn(root, workspace);
      declared.set(workspace, names);
      return dependencies
        .filter(({ coreModule, typeOnly }) => !coreModule && typeOnly !== true)
        .map(({ module }) => PACKAGE.exec(module)?.[0])
        .filter((name) => name !== undefined && !names.has(name))
        .map((name) => ({ rule: UNDECLARED_PACKAGE, where: `${source} → ${name}` }));
    });
}

function declaredIn(root: string, workspace: string): ReadonlySet<string> {
  const isConsole = workspace === CONSOLE;
  const manifest = path.join(root, isConsole ? 'gateway' : workspace, 'package.json');
  if (!existsSync(manifest)) return new Set();
  const {
    dependencies = {},
    devDependencies = {},
    builtIn = [],
  } = JSON.parse(readFileSync(manifest, 'utf8')) as {
    dependencies?: Record<string, string>;
    devDependencies?: Record<string, string>;
    /** Packages of the repository that `npm pack` builds in, see infra/release/build-package.mjs. */
    builtIn?: string[];
  };
  return new Set([...Object.keys(isConsole ? { ...dependencies, ...devDependencies } : dependencies), ...builtIn]);
}

import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import type { IModule } from 'dependency-cruiser';
import { PRODUCTION } from './boundary-rules.ts';

export const UNDECLARED_PACKAGE = 'no-undeclared-package';

const WORKSPACE = /^(?:gateway|infra\/cli|infra|(?:services|shared)\/[^/]+)(?=\/)/;
const PACKAGE = /^(?:@[^/]+\/)?[^./][^/]*/;

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
      const names = declared.get(workspace) ?? declaredIn(path.join(root, workspace, 'package.json'));
      declared.set(workspace, names);
      return dependencies
        .filter(({ coreModule, typeOnly }) => !coreModule && typeOnly !== true)
        .map(({ module }) => PACKAGE.exec(module)?.[0])
        .filter((name) => name !== undefined && !names.has(name))
        .map((name) => ({ rule: UNDECLARED_PACKAGE, where: `${source} → ${name}` }));
    });
}

function declaredIn(manifest: string): ReadonlySet<string> {
  if (!existsSync(manifest)) return new Set();
  const { dependencies = {}, builtIn = [] } = JSON.parse(readFileSync(manifest, 'utf8')) as {
    dependencies?: Record<string, string>;
    /** Packages of the repository that `npm pack` builds in, see infra/release/build-package.mjs. */
    builtIn?: string[];
  };
  return new Set([...Object.keys(dependencies), ...builtIn]);
}

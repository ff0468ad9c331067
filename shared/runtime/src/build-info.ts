import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { Gauge } from 'prom-client';
import type { Metrics } from './metrics.ts';

/** The sources that a process runs. */
export interface BuildInfo {
  /** All packages of the repository have the same version. */
  version: string;
  /** Hash of the commit; undefined where neither a setting nor a checkout says it. */
  commit: string | undefined;
  /** The version of Node, without a `v`. */
  node: string;
}

/** The top of the repository, or of what an image has of it. */
const ROOT = path.resolve(import.meta.dirname, '../../..');
/** Milliseconds; git reads two small files. */
const GIT_TIMEOUT = 2_000;

/** @param commit what `TOCSIN_COMMIT` says; without it, a checkout is asked */
export function buildInfo(commit: string | undefined): BuildInfo {
  return {
    version: productVersion(),
    commit: commit === undefined || commit === '' ? checkedOutCommit() : commit,
    node: process.versions.node,
  };
}

/** Adds the metric whose labels say which sources run. */
export function observeBuild(metrics: Metrics, service: string, { version, commit = '', node }: BuildInfo): void {
  new Gauge({
    name: 'tocsin_build_info',
    help: '1; the labels say which version, commit and Node this process runs',
    labelNames: ['service', 'version', 'commit', 'node'],
    registers: [metrics],
  }).set({ service, version, commit, node }, 1);
}

/** The version of the product: all packages have the same. */
export function productVersion(): string {
  const file = path.join(import.meta.dirname, '../package.json');
  return (JSON.parse(readFileSync(file, 'utf8')) as { version: string }).version;
}

/** Asked once: five apps may share a process. */
let checkout: { commit: string | undefined } | undefined;

const checkedOutCommit = () => (checkout ??= { commit: askGit() }).commit;

/** Undefined without git, without a checkout, and where the repository of something else contains these sources. */
function askGit(): string | undefined {
  try {
    const output = execFileSync('git', ['-C', ROOT, 'rev-parse', '--show-prefix', 'HEAD'], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
      timeout: GIT_TIMEOUT,
    });
    const [prefix, commit] = output.split('\n');
    return prefix === '' ? commit : undefined;
  } catch {
    return undefined;
  }
}

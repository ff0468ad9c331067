import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, readFile, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { ROOT } from '../../environment.ts';
import { type Baseline, git } from './baseline.ts';

const run = promisify(execFile);

/** Milliseconds. */
const INSTALLATION_TIMEOUT = 300_000;

/** The sources of the baseline with their packages, in a folder of their own. */
export interface OldTree {
  readonly root: string;
  /** How its packages came there. */
  readonly packages: 'linked' | 'installed';
  remove(): Promise<void>;
}

/** Makes a git work tree of the baseline. @throws Error with a one-line message; nothing is left then */
export async function createOldTree({ commit }: Baseline): Promise<OldTree> {
  const folder = await mkdtemp(path.join(tmpdir(), 'tocsin-baseline-'));
  const root = path.join(folder, 'tree');
  const remove = async () => {
    await git(ROOT, 'worktree', 'remove', '--force', root).catch(() => undefined);
    await rm(folder, { recursive: true, force: true });
  };
  try {
    await git(ROOT, 'worktree', 'add', '--detach', root, commit);
    const packages = await providePackages(root);
    return { root, packages, remove };
  } catch (error) {
    await remove();
    throw error;
  }
}

async function providePackages(root: string): Promise<OldTree['packages']> {
  if (await hasSamePackages(root)) {
    await linkPackages(root);
    return 'linked';
  }
  try {
    // What the apps need, as in their images.
    const args = ['ci', '--omit=dev', '--omit=optional', '--ignore-scripts', '--no-audit', '--no-fund'];
    await run('npm', args, { cwd: root, timeout: INSTALLATION_TIMEOUT });
  } catch (error) {
    const lines = (error as { stderr?: string }).stderr?.trim().split('\n') ?? [];
    throw new Error(`cannot install the packages of the baseline: ${lines.at(-1) ?? (error as Error).message}`, {
      cause: error,
    });
  }
  return 'installed';
}

interface Lock {
  packages: Record<string, { version?: string; link?: boolean; dev?: boolean; optional?: boolean }>;
}

/** Whether each package that the apps of the other tree need is installed here, in its version and at its place. */
async function hasSamePackages(root: string): Promise<boolean> {
  const lockOf = async (folder: string) => readJson<Lock>(folder, 'package-lock.json');
  const [needed, installed] = await Promise.all([lockOf(root), lockOf(ROOT)]);
  return Object.entries(needed.packages)
    .filter(([place, { link, dev, optional }]) => place.includes('node_modules/') && !link && !dev && !optional)
    .every(([place, { version }]) => installed.packages[place]?.version === version);
}

/**
 * Links each installed package into the other tree, but the packages of the repository to its own folders: a link to the
 * whole of node_modules would run the present code.
 */
async function linkPackages(root: string): Promise<void> {
  const modules = path.join(root, 'node_modules');
  const folders = await workspacesOf(root);
  const own = new Map<string, string>();
  for (const folder of folders) own.set((await readJson<{ name: string }>(path.join(root, folder))).name, folder);
  const scopes = new Set([...own.keys()].map((name) => name.split('/', 1)[0]));
  await mkdir(modules);
  for (const entry of await readdir(path.join(ROOT, 'node_modules'))) {
    if (!entry.startsWith('.') && !scopes.has(entry)) {
      await symlink(path.join(ROOT, 'node_modules', entry), path.join(modules, entry));
    }
  }
  for (const [name, folder] of own) {
    await mkdir(path.dirname(path.join(modules, name)), { recursive: true });
    await symlink(path.join(root, folder), path.join(modules, name));
  }
  for (const folder of folders) {
    const nested = path.join(ROOT, folder, 'node_modules');
    if (existsSync(nested)) await symlink(nested, path.join(root, folder, 'node_modules'));
  }
}

const readJson = async <Content>(folder: string, file = 'package.json') =>
  JSON.parse(await readFile(path.join(folder, file), 'utf8')) as Content;

/** The folders of the packages that a tree's package.json lists; a pattern may end in `/*`. */
async function workspacesOf(root: string): Promise<string[]> {
  const { workspaces } = await readJson<{ workspaces: string[] }>(root);
  const folders = await Promise.all(
    workspaces.map(async (pattern) => {
      if (!pattern.endsWith('/*')) return [pattern];
      const parent = pattern.slice(0, -2);
      return (await readdir(path.join(root, parent))).map((name) => `${parent}/${name}`);
    }),
  );
  return folders.flat().filter((folder) => existsSync(path.join(root, folder, 'package.json')));
}

import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { parse } from 'yaml';
import { ROOT } from '../../installation/environment.ts';
import { JOBS, WORKFLOWS } from './workflows.ts';

const read = (file: string) => readFileSync(path.join(ROOT, file), 'utf8');

/** Jobs that make or publish what a release has. */
const PUBLISHING = ['release.yml files', 'release.yml image', 'release.yml publish'];
/** What a job may write. */
const WRITES = {
  'codeql.yml analyze': ['security-events'],
  'release.yml image': ['attestations', 'id-token', 'packages'],
  'release.yml publish': ['attestations', 'contents', 'id-token'],
};
const BY_DIGEST = /^[\w./-]+:[\w.-]+@sha256:[0-9a-f]{64}$/;

const stepsOf = (names: readonly string[]) =>
  JOBS.filter(({ name }) => names.includes(name)).flatMap(({ steps = [] }) => steps);
const ALL_STEPS = stepsOf(JOBS.map(({ name }) => name));

describe('the workflows', () => {
  test('name each action by the hash of one commit, with its version beside it', () => {
    const uses = WORKFLOWS.flatMap(({ text }) => [...text.matchAll(/\buses: (.*)/g)].map(([, action = '']) => action));
    expect(uses.length).toBeGreaterThan(10);
    const hashes = new Map<string, string>();
    for (const action of uses) {
      if (action.startsWith('./')) {
        expect([action, existsSync(path.join(ROOT, action))]).toEqual([action, true]);
        continue;
      }
      expect(action).toMatch(/^[\w-]+(?:\/[\w-]+)+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/);
      const [name = '', hash = ''] = action.split('@');
      const repository = name.split('/', 2).join('/');
      expect([repository, hash]).toEqual([repository, hashes.get(repository) ?? hash]);
      hashes.set(repository, hash);
    }
  });

  test('give each job only what it needs, and an end', () => {
    for (const { file, permissions } of WORKFLOWS) expect([file, permissions]).toEqual([file, {}]);
    const writes: [string, string[]][] = [];
    for (const { name, permissions, uses, ...job } of JOBS) {
      expect([name, permissions]).toEqual([name, expect.objectContaining({})]);
      const written = Object.entries(permissions ?? {}).filter(([, access]) => access !== 'read');
      if (written.length > 0) writes.push([name, written.map(([scope]) => scope).toSorted()]);
      if (uses === undefined) expect([name, job['timeout-minutes']]).toEqual([name, expect.any(Number)]);
    }
    expect(Object.fromEntries(writes)).toEqual(WRITES);
  });

  test('run nothing that somebody else has written with rights, and keep no token in the checkout', () => {
    for (const { on } of WORKFLOWS) expect(Object.keys(on)).not.toContain('pull_request_target');
    for (const { run = '' } of ALL_STEPS) expect(run).not.toContain('${{');
    const checkouts = ALL_STEPS.filter(({ uses = '' }) => uses.startsWith('actions/checkout@'));
    expect(checkouts.length).toBeGreaterThan(3);
    for (const step of checkouts) expect(step.with).toMatchObject({ 'persist-credentials': false });
  });

  test('publish nothing that came from a cache', () => {
    const without: Record<string, object> = {
      'actions/setup-node': { 'package-manager-cache': false },
      'docker/setup-qemu-action': { 'cache-image': false },
      'docker/setup-buildx-action': { 'cache-binary': false },
    };
    const steps = stepsOf(PUBLISHING);
    expect(steps.length).toBeGreaterThan(10);
    for (const { uses = '', with: inputs = {} } of steps) {
      expect(uses).not.toMatch(/^actions\/cache/);
      expect(inputs).toMatchObject(without[uses.replace(/@.*/, '')] ?? {});
      for (const [name, value] of Object.entries(inputs).filter(([each]) => each.includes('cache')))
        expect([name, value]).toEqual([name, false]);
    }
  });
});

test('images that a release contains, is built with or names have digests', () => {
  const compose = parse(read('docker-compose.yml'), { merge: true }) as { services: Record<string, { image: string }> };
  const images = Object.values(compose.services).map(({ image }) => image);
  const others = images.filter((image) => !image.startsWith('${TOCSIN_IMAGE:-'));
  const bases = [...read('infra/Dockerfile').matchAll(/^(?:ARG NODE_IMAGE=|FROM )(\S+)(?: AS (\S+))?$/gm)];
  const stages = new Set(['${NODE_IMAGE}', ...bases.map(([, , stage]) => stage)]);
  others.push(...bases.flatMap(([, image = '']) => (stages.has(image) ? [] : [image])));
  for (const { with: inputs = {} } of ALL_STEPS) {
    for (const name of ['image', 'driver-opts', 'sbom'])
      if (typeof inputs[name] === 'string') others.push(inputs[name].replace(/^[a-z]+=/, ''));
  }
  expect(others.length).toBeGreaterThan(10);
  for (const image of others) expect(image).toMatch(BY_DIGEST);
});

test('Dependabot proposes newer packages, actions and images', () => {
  const { updates } = parse(read('.github/dependabot.yml')) as {
    updates: { 'package-ecosystem': string; directory: string }[];
  };
  expect(updates.map((update) => [update['package-ecosystem'], update.directory])).toEqual([
    ['npm', '/'],
    ['github-actions', '/'],
    ['docker', '/infra'],
    ['docker-compose', '/'],
  ]);
});

import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from '@jest/globals';
import { ROOT } from '../environment.ts';

const read = (file: string) => readFileSync(path.join(ROOT, file), 'utf8');

test('.nvmrc, package.json and the images have the same major version of Node', () => {
  const { engines } = JSON.parse(read('package.json')) as { engines: Record<string, string> };
  const { devDependencies } = JSON.parse(read('infra/package.json')) as { devDependencies: Record<string, string> };
  const [, image] = /^ARG NODE_IMAGE=node:(\d+)/m.exec(read('infra/Dockerfile')) ?? [];
  const [, installed] = /^\^(\d+)\./.exec(devDependencies['node'] ?? '') ?? [];
  const [, required] = /^>=(\d+)$/.exec(engines['node'] ?? '') ?? [];
  expect([installed, required, image]).toEqual(Array.from({ length: 3 }, () => read('.nvmrc').trim()));
});

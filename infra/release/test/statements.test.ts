import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from '@jest/globals';
import { parse } from 'yaml';
import { ROOT } from '../../installation/environment.ts';
import { WORKFLOWS } from './workflows.ts';

const read = (file: string) => readFileSync(path.join(ROOT, file), 'utf8');
const FILES = /(?<![\w./-])(?:[\w.-]+\/)*[\w-]*\.(?:md|yml|json|ts)(?![\w/-])|(?<![\w./-])\.ci\/run/g;
/** The level passing of OpenSSF's Best Practices. */
const CRITERIA = 67;

test('the answers to the Best Practices are complete, and name files that exist', () => {
  const answers = new Map(Object.entries(JSON.parse(read('.bestpractices.json')) as Record<string, string>));
  const criteria = [...answers.keys()].filter((name) => name.endsWith('_status'));
  expect([criteria.length, answers.size]).toEqual([CRITERIA, 2 * CRITERIA]);
  let named = 0;
  for (const name of criteria) {
    expect(['Met', 'N/A', '?']).toContain(answers.get(name));
    const justification = answers.get(name.replace(/_status$/, '_justification')) ?? '';
    expect([name, justification]).toEqual([name, expect.stringMatching(/./)]);
    for (const [file] of justification.matchAll(FILES)) {
      const places = [file, path.join('.github/workflows', file)];
      expect([name, file, places.some((place) => existsSync(path.join(ROOT, place)))]).toEqual([name, file, true]);
      named += 1;
    }
  }
  expect(named).toBeGreaterThan(40);
});

test('the security insights have what their schema requires, and name files that exist', () => {
  const text = read('.github/security-insights.yml');
  const links = [...text.matchAll(/https:\/\/tocsin\.example\/blob\/main\/(\S+)/g)].map(([, file = '']) => file);
  expect(links.length).toBeGreaterThan(10);
  for (const file of links) expect([file, existsSync(path.join(ROOT, file))]).toEqual([file, true]);
  const contacts = [expect.objectContaining({ name: expect.any(String), primary: true })];
  expect(parse(text)).toMatchObject({
    header: {
      'schema-version': expect.stringMatching(/^\d+\.\d+\.\d+$/),
      'last-updated': expect.stringMatching(/^\d{4}-\d\d-\d\d$/),
      'last-reviewed': expect.stringMatching(/^\d{4}-\d\d-\d\d$/),
    },
    project: {
      administrators: contacts,
      repositories: [{ name: expect.any(String), url: expect.any(String), comment: expect.any(String) }],
      'vulnerability-reporting': { 'reports-accepted': true, 'bug-bounty-available': false },
    },
    repository: {
      status: expect.stringMatching(/^(?:WIP|active)$/),
      'core-team': contacts,
      'accepts-change-request': true,
      'accepts-automated-change-request': expect.any(Boolean),
      license: { expression: 'Apache-2.0' },
      security: { assessments: { self: { comment: expect.any(String) } } },
    },
  });
});

test('the guide verifies what the workflow signs', () => {
  const guide = read('docs/guides/verifying-a-release.md');
  const workflow = WORKFLOWS.find(({ file }) => file === 'release.yml')?.text ?? '';
  expect(guide).toContain('/.github/workflows/release.yml@refs/tags/v$VERSION');
  for (const part of ['SHA256SUMS.sigstore.json', 'SHA256SUMS', 'ghcr.io/']) {
    expect(workflow).toContain(part);
    expect(guide).toContain(part);
  }
  const commands = [...guide.replaceAll(/\\\n\s*/g, '').matchAll(/^cosign .*/gm)].map(([command]) => command);
  expect(commands).toHaveLength(2);
  for (const command of commands)
    expect(command).toMatch(/ --certificate-identity "\$IDENTITY" --certificate-oidc-issuer "\$ISSUER"$/);
});

test('the owners of code are of paths that exist', () => {
  const paths = [...read('.github/CODEOWNERS').matchAll(/^#? ?(\/\S+) /gm)].map(([, place = '']) => place);
  expect(paths.length).toBeGreaterThan(3);
  for (const place of paths) expect([place, existsSync(path.join(ROOT, place))]).toEqual([place, true]);
});

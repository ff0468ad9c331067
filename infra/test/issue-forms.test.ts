import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from '@jest/globals';
import { parse } from 'yaml';
import { ROOT } from '../environment.ts';

const FOLDER = path.join(ROOT, '.github/ISSUE_TEMPLATE');
const read = (file: string) => parse(readFileSync(path.join(FOLDER, file), 'utf8'), { strict: true });
const forms = readdirSync(FOLDER).filter((file) => file !== 'config.yml');

interface Field {
  type: string;
  id?: string;
  attributes: { label?: string; value?: string; options?: unknown[] };
}

// GitHub silently ignores a form that it cannot read.
test.each(forms)('%s is a valid form', (file) => {
  const { name, description, body } = read(file) as { name: string; description: string; body: Field[] };
  expect([name, description].every((text) => text.length > 3)).toBe(true);
  const fields = body.filter(({ type }) => type !== 'markdown');
  expect(new Set(fields.map(({ id }) => id)).size).toBe(fields.length);
  for (const { type, id, attributes } of fields) {
    expect(['input', 'textarea', 'dropdown', 'checkboxes']).toContain(type);
    expect(id).toMatch(/^[\w-]+$/);
    expect(attributes.label).toMatch(/\S/);
    if (type === 'dropdown' || type === 'checkboxes') expect(attributes.options?.length).toBeGreaterThan(0);
  }
});

test('vulnerabilities are not reported as issues', () => {
  expect(forms.length).toBeGreaterThan(1);
  expect(read('config.yml')).toEqual({
    blank_issues_enabled: false,
    contact_links: [
      {
        name: 'Report a vulnerability',
        about: expect.stringContaining('Security tab'),
        url: expect.stringMatching(/^https:\/\/docs\.github\.com\//),
      },
    ],
  });
});

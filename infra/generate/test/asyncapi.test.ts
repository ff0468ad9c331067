import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, test } from '@jest/globals';
import spectral from '@stoplight/spectral-core';
import { asyncapi } from '@stoplight/spectral-rulesets';
import { ROOT } from '../../installation/environment.ts';

test('the description of the events is a valid AsyncAPI 3.1 document', async () => {
  const document = JSON.parse(await readFile(path.join(ROOT, 'docs/events/asyncapi.json'), 'utf8'));
  expect(document.asyncapi).toBe('3.1.0');
  const linter = new spectral.Spectral();
  linter.setRuleset({ extends: [[asyncapi as spectral.RulesetDefinition, 'recommended']] });
  const found = await linter.run(document);
  // The authors are on the page of the project.
  const problems = found.filter(({ code }) => code !== 'asyncapi-info-contact');
  expect(problems.map(({ code, message, path: place }) => `${code}: ${message} (${place.join('/')})`)).toEqual([]);
});

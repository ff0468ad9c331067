/**
 * `npm run check:api` checks the public API description: the recommended rules of Redocly and Spectral, that every
 * property has a description and every operation its examples. Examples match their schemas when they are generated.
 */
import { createConfig, lintFromString } from '@redocly/openapi-core';
import spectral from '@stoplight/spectral-core';
import { oas } from '@stoplight/spectral-rulesets';
import { type ApiDescription, readPublicDescription } from '../../../gateway/src/description.ts';
import { APP_NAMES } from '../../installation/apps.ts';
import { describedProperties, responsesOf } from './described-properties.ts';

interface Result {
  /** What was counted, for the last lines of the output. */
  summary: string;
  problems: string[];
}

async function redocly(description: ApiDescription): Promise<Result> {
  const config = await createConfig({ extends: ['recommended'] });
  const findings = await lintFromString({ source: JSON.stringify(description), absoluteRef: 'openapi.json', config });
  const problems = findings.map(
    ({ ruleId, message, location }) => `${ruleId}: ${message} (${location[0]?.pointer ?? ''})`,
  );
  return { summary: `Redocly, recommended rules: ${problems.length} problems`, problems };
}

async function spectralRules(description: ApiDescription): Promise<Result> {
  const linter = new spectral.Spectral();
  linter.setRuleset({ extends: [[oas as spectral.RulesetDefinition, 'recommended']] });
  const findings = await linter.run({ ...description });
  const problems = findings.map(({ code, message, path }) => `${code}: ${message} (${path.join('/')})`);
  return { summary: `Spectral, recommended rules: ${problems.length} problems`, problems };
}

function properties(description: ApiDescription): Result {
  const all = describedProperties(description);
  const missing = all.filter(({ described }) => !described);
  return {
    summary: `properties and parameters with a description: ${all.length - missing.length} of ${all.length}`,
    problems: missing.map(({ place }) => `no description: ${place}`),
  };
}

/** Requests and responses with a body need an example of it, unless it is a file. */
function examples(description: ApiDescription): Result {
  const operations = Object.values({ ...description.paths, ...description.webhooks }).flatMap((methods) =>
    Object.values(methods),
  );
  const incomplete = operations.filter((operation) =>
    [operation.requestBody, ...responsesOf(operation, description)].some((part) =>
      Object.values(part?.content ?? {}).some(
        ({ schema, example, examples }) =>
          schema.format !== 'binary' && example === undefined && examples === undefined,
      ),
    ),
  );
  return {
    summary: `operations with examples: ${operations.length - incomplete.length} of ${operations.length}`,
    problems: incomplete.map(({ operationId }) => `no example: ${operationId}`),
  };
}

const description = await readPublicDescription(APP_NAMES, 'https://{workspace}.tocsin.example');
const results = [
  await redocly(description),
  await spectralRules(description),
  properties(description),
  examples(description),
];
for (const problem of results.flatMap(({ problems }) => problems)) console.error(problem);
for (const { summary } of results) console.log(summary);
if (results.some(({ problems }) => problems.length > 0)) process.exitCode = 1;

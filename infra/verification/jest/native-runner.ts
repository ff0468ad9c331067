import { flushCompileCache, registerHooks } from 'node:module';
import { pathToFileURL } from 'node:url';
import { jestExpect } from '@jest/expect';
import { createEmptyTestResult, type TestResult } from '@jest/test-result';
import type { Config } from '@jest/types';
import * as circus from 'jest-circus';
import { formatExecError, formatResultsErrors } from 'jest-message-util';

/** The condition by which packages for other systems are imported from their sources. */
const SOURCE = 'tocsin-source';

const JEST_GLOBALS = 'tocsin:jest-globals';
const { afterAll, afterEach, beforeAll, beforeEach, describe, it, test } = circus;
const globals = { afterAll, afterEach, beforeAll, beforeEach, describe, expect: jestExpect, it, test };
Object.assign(globalThis, { [JEST_GLOBALS]: globals });

registerHooks({
  resolve: (specifier, context, next) =>
    specifier === '@jest/globals'
      ? { url: JEST_GLOBALS, format: 'module', shortCircuit: true }
      : next(specifier, { ...context, conditions: [...context.conditions, SOURCE] }),
  load: (url, context, next) =>
    url === JEST_GLOBALS
      ? {
          source: `export const { ${Object.keys(globals).join(', ')} } = globalThis['${JEST_GLOBALS}'];`,
          format: 'module',
          shortCircuit: true,
        }
      : next(url, context),
});

const { TOCSIN_TEST_PARTITIONS: partitions = '' } = process.env;
if (partitions !== '') (await import('./partitioned-templates.ts')).partitionTemplates(Number(partitions));

// Without an explicit exit, Node would take the heap apart.
process.once('beforeExit', () => process.exit());

/** An error that nobody handles is one of the test that runs, or else of its file. */
function noteError(error: unknown): void {
  const { currentlyRunningTest: running, unhandledErrors } = circus.getState();
  if (running) running.errors.push(error);
  else unhandledErrors.push([error as Error, error as Error]);
}

type Outcome = Awaited<ReturnType<typeof circus.run>>['testResults'][number];

function assertionOf({ testPath, status, errors, ...outcome }: Outcome): TestResult['testResults'][number] {
  const [, ...titles] = testPath;
  return {
    ...{ duration: outcome.duration ?? null, invocations: outcome.invocations, startAt: outcome.startedAt ?? null },
    ancestorTitles: titles.slice(0, -1),
    title: titles.at(-1) ?? '',
    fullName: titles.join(' '),
    status: status === 'skip' ? 'pending' : status === 'todo' ? 'todo' : errors.length > 0 ? 'failed' : 'passed',
    failureMessages: [...errors],
    failureDetails: [],
    numPassingAsserts: 0,
  };
}

let files = 0;

/**
 * A `testRunner` of Jest's configuration: runs a test file with `jest-circus`, but imports it as Node imports the product,
 * without a sandbox and without a transformation. A worker loads the modules of the product, and Jest's matchers, once for
 * all of its test files, so they must keep no state that outlives an app.
 */
export default async function runNatively(
  globalConfig: Config.GlobalConfig,
  config: Config.ProjectConfig,
  _environment: unknown,
  _runtime: unknown,
  testPath: string,
): Promise<TestResult> {
  const { testNamePattern: pattern, testTimeout, maxConcurrency, expand } = globalConfig;
  circus.resetState();
  Object.assign(circus.getState(), {
    ...{ maxConcurrency, expand, parentProcess: process },
    ...(testTimeout !== undefined && { testTimeout }),
    ...(pattern !== undefined && pattern !== '' && { testNamePattern: new RegExp(pattern, 'i') }),
  });
  jestExpect.setState({ expand, testPath });
  const events = ['uncaughtException', 'unhandledRejection'] as const;
  for (const event of events) process.on(event, noteError);
  try {
    // Node loads a test file again that runs again (watch mode), because its URL differs.
    files += 1;
    await import(`${pathToFileURL(testPath).href}?run=${files}`);
    const { testResults: outcomes, unhandledErrors } = await circus.run();
    const testResults = outcomes.map(assertionOf);
    const count = (status: string) => testResults.filter((each) => each.status === status).length;
    const messages = [
      formatResultsErrors(testResults, config, globalConfig, testPath) ?? '',
      ...unhandledErrors.map((stack) => formatExecError({ message: '', stack }, config, globalConfig, testPath)),
    ].filter((message) => message !== '');
    return {
      ...createEmptyTestResult(),
      ...(config.displayName !== undefined && { displayName: config.displayName }),
      failureMessage: messages.length > 0 ? messages.join('\n\n') : null,
      numFailingTests: count('failed'),
      numPassingTests: count('passed'),
      numPendingTests: count('pending'),
      numTodoTests: count('todo'),
      ...(unhandledErrors.length > 0 && { testExecError: { message: '', stack: unhandledErrors.join('\n') } }),
      testFilePath: testPath,
      testResults,
    };
  } finally {
    for (const event of events) process.off(event, noteError);
    // At the end of the process, this and the removal of a large heap would take longer than Jest waits for the process.
    flushCompileCache();
  }
}

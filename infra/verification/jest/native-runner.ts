import { createRequire, flushCompileCache, registerHooks } from 'node:module';
import path from 'node:path';
import { pathToFileURL } from 'node:url';

/** The globals of Jest, `expect` among them. */
type Globals = Record<string, unknown>;

/** What this file replaces in Jest's module system. */
interface Runtime {
  requireInternalModule(path: string): unknown;
  unstable_shouldLoadAsEsm(path: string): boolean;
  unstable_importModule(path: string): Promise<unknown>;
  setGlobalsForRuntime(globals: Globals): void;
}

/** A `testRunner` of Jest's configuration. */
type TestRunner = (
  globalConfig: unknown,
  config: unknown,
  environment: unknown,
  runtime: Runtime,
  testPath: string,
  sendMessageToJest: unknown,
) => Promise<unknown>;

const require = createRequire(import.meta.url);
// An import would return the exports of CommonJS, whose default is a property.
const { default: runCircus } = require('jest-circus/runner') as { default: TestRunner };

/** The module of Jest's runner that holds the state of one test file, and where it keeps its handlers of events. */
const CIRCUS = path.join(path.dirname(require.resolve('jest-circus/runner')), 'jestAdapterInit.js');
const HANDLERS = Symbol.for('EVENT_HANDLERS');

/** The condition by which packages for other systems are imported from their sources. */
const SOURCE = 'tocsin-source';

const JEST_GLOBALS = 'tocsin:jest-globals';
const NAMES = ['afterAll', 'afterEach', 'beforeAll', 'beforeEach', 'describe', 'expect', 'it', 'test'] as const;

let current: Globals = {};
let files = 0;

/**
 * Stands for a function of Jest, and for its properties. Jest makes its functions anew for each test file, while a module
 * that several test files import is loaded once.
 */
const delegate = (...path: string[]): unknown => {
  const find = () => path.reduce<unknown>((parent, name) => (parent as Globals)[name], current) as () => unknown;
  return new Proxy(() => undefined, {
    apply: (_target, self, args) => Reflect.apply(find(), self, args),
    get: (_target, name) => {
      const value: unknown = Reflect.get(find(), name);
      return typeof value === 'function' ? delegate(...path, String(name)) : value;
    },
  });
};

Object.assign(globalThis, { [JEST_GLOBALS]: Object.fromEntries(NAMES.map((name) => [name, delegate(name)])) });

registerHooks({
  resolve: (specifier, context, next) =>
    specifier === '@jest/globals'
      ? { url: JEST_GLOBALS, format: 'module', shortCircuit: true }
      : next(specifier, { ...context, conditions: [...context.conditions, SOURCE] }),
  load: (url, context, next) =>
    url === JEST_GLOBALS
      ? {
          source: `export const { ${NAMES.join(', ')} } = globalThis['${JEST_GLOBALS}'];`,
          format: 'module',
          shortCircuit: true,
        }
      : next(url, context),
});

// Without an explicit exit, Node would take the heap apart.
process.once('beforeExit', () => process.exit());

/**
 * Runs a test file with Jest's own runner, but imports it as Node imports the product: without a sandbox and without a
 * transformation. A worker loads the modules of the product once for all of its test files, so they must keep no state
 * that outlives an app. It also loads Jest's matchers once: in a sandbox, each file would load them anew.
 */
const runNatively: TestRunner = async (globalConfig, config, environment, runtime, testPath, sendMessageToJest) => {
  Object.assign(runtime, {
    requireInternalModule: (file) => {
      if (file === CIRCUS) {
        Reflect.deleteProperty(require.cache, file);
        Reflect.deleteProperty(globalThis, HANDLERS);
      }
      return require(file) as unknown;
    },
    unstable_shouldLoadAsEsm: () => true,
    unstable_importModule: async (path) => {
      // Node loads a test file again that runs again (watch mode), because its URL differs.
      files += 1;
      await import(`${pathToFileURL(path).href}?run=${files}`);
    },
    setGlobalsForRuntime: (globals) => {
      current = globals;
    },
  } satisfies Runtime);
  const result = await runCircus(globalConfig, config, environment, runtime, testPath, sendMessageToJest);
  // At the end of the process, this and the removal of a large heap would take longer than Jest waits for the process.
  flushCompileCache();
  return result;
};

export default runNatively;

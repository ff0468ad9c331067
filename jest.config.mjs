/** Tests run as native ES modules; swc strips the types, as Node does. */
const project = (displayName, testMatch, more = {}) => ({
  displayName,
  // Excludes the data folder of make start, which may be unreadable.
  roots: ['gateway', 'services', 'shared', 'infra'].map((folder) => `<rootDir>/${folder}`),
  testMatch,
  testEnvironment: 'node',
  extensionsToTreatAsEsm: ['.ts'],
  transform: {
    '^.+\\.ts$': [
      '@swc/jest',
      { jsc: { target: 'es2024', parser: { syntax: 'typescript' } }, module: { type: 'es6' } },
    ],
  },
  ...more,
});

const servers = {
  globalSetup: '<rootDir>/infra/testing/global-setup.ts',
  globalTeardown: '<rootDir>/infra/testing/global-teardown.ts',
};

export default {
  testTimeout: 60_000,
  maxWorkers: 2,
  testSequencer: '<rootDir>/infra/testing/sequencer.mjs',
  reporters: ['default', '<rootDir>/infra/testing/summary-reporter.ts'],
  projects: [
    project('unit', ['<rootDir>/{gateway,services/*,shared/*,infra}/test/**/!(*.api|*.system).test.ts']),
    project('api', ['<rootDir>/{gateway,services/*,shared/*,infra}/test/**/*.api.test.ts'], servers),
    project('system', ['<rootDir>/infra/test/**/*.system.test.ts'], servers),
  ],
};

/** Test files are imported as Node imports the sources: infra/verification/jest/native-runner.ts. */
const project = (displayName, testMatch, more = {}) => ({
  displayName,
  // Excludes the data folder of make start, which may be unreadable.
  roots: ['gateway', 'services', 'shared', 'infra'].map((folder) => `<rootDir>/${folder}`),
  testMatch,
  testEnvironment: 'node',
  transform: {},
  testRunner: '<rootDir>/infra/verification/jest/native-runner.ts',
  ...more,
});

const servers = {
  globalSetup: '<rootDir>/infra/verification/jest/global-setup.ts',
  globalTeardown: '<rootDir>/infra/verification/jest/global-teardown.ts',
};

export default {
  // For a test or a start that hangs: no speed of a machine makes a test fail. Very few tests have a longer one.
  testTimeout: 900_000,
  maxWorkers: Number(process.env.TOCSIN_TEST_WORKERS ?? 2),
  testSequencer: '<rootDir>/infra/verification/jest/sequencer.ts',
  reporters: ['default', '<rootDir>/infra/verification/jest/summary-reporter.ts'],
  projects: [
    project('unit', ['<rootDir>/{gateway,services/*,shared/*,infra/*}/test/**/!(*.api|*.system).test.ts']),
    project('api', ['<rootDir>/{gateway,services/*,shared/*,infra/*}/test/**/*.api.test.ts'], servers),
    project('system', ['<rootDir>/{gateway,services/*,shared/*,infra/*}/test/**/!(attacks).system.test.ts'], servers),
    // By themselves: beside other tests, the victims would notice those.
    project('attacks', ['<rootDir>/infra/verification/test/attacks/attacks.system.test.ts'], servers),
  ],
};

import { expect, test } from '@jest/globals';
import { DEFAULT_CONFIGURATION } from '../src/configuration/domain/configuration.ts';
import { ConfigurationChanged } from '../src/configuration/store/configuration-store.ts';
import { withConfiguration } from '../src/configuration/with-configuration.ts';
import { testPrincipal } from '@tocsin/testing';

const { workspace } = testPrincipal();
/** A workspace whose configuration changes at each read. */
const configurations = () => {
  let version = 0;
  return {
    get: async () => ({ ...DEFAULT_CONFIGURATION, version }),
    reload: async () => ({ ...DEFAULT_CONFIGURATION, version: (version += 1) }),
  };
};

test('a command runs again with the new configuration, but not after another error', async () => {
  const versions: number[] = [];
  const fault = new Error('another');
  const running = withConfiguration({ configurations: configurations() }, workspace, async ({ version }) => {
    versions.push(version);
    throw versions.length < 3 ? new ConfigurationChanged() : fault;
  });
  await expect(running).rejects.toBe(fault);
  expect(versions).toEqual([0, 1, 2]);
});

test('a command whose configuration changes each time fails with 503', async () => {
  let runs = 0;
  const running = withConfiguration({ configurations: configurations() }, workspace, async () => {
    runs += 1;
    throw new ConfigurationChanged();
  });
  await expect(running).rejects.toMatchObject({ code: 'service_unavailable', status: 503 });
  expect(runs).toBe(5);
});

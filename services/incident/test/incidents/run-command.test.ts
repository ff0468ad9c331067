import { expect, test } from '@jest/globals';
import type { Knex } from '@tocsin/postgres';
import { testPrincipal } from '@tocsin/testing';
import { DEFAULT_CONFIGURATION } from '../../src/configuration/domain/configuration.ts';
import { withRetries } from '../../src/incidents/run-command.ts';
import type { Replicas } from '../../src/replicas/replicas.ts';
import { Retry } from '../../src/shared/domain/retry.ts';

const { workspace } = testPrincipal();
const CONFIRMED = { version: 1, confirmed: true };
/** Of a workspace whose configuration changes at each read, and with no replica before its owner is called. */
const dependencies = () => {
  let version = 0;
  return {
    database: {} as Knex,
    configurations: {
      get: async () => ({ ...DEFAULT_CONFIGURATION, version }),
      reload: async () => ({ ...DEFAULT_CONFIGURATION, version: (version += 1) }),
    },
    replicas: {
      refresh: async () => new Map(),
      confirm: async () => new Map([['catalog', CONFIRMED]]),
    } as Partial<Replicas> as Replicas,
  };
};

test('a command runs again with what has changed, and keeps the rest, but not after another error', async () => {
  const attempts: unknown[] = [];
  const reasons = ['configuration', 'catalog', 'configuration'] as const;
  const fault = new Error('another');
  const running = withRetries(dependencies(), { workspace }, async ({ freshness, readConfiguration }) => {
    attempts.push([(await readConfiguration()).version, freshness.has('catalog')]);
    const reason = reasons[attempts.length - 1];
    throw reason === undefined ? fault : new Retry(reason);
  });
  await expect(running).rejects.toBe(fault);
  expect(attempts).toEqual([
    [0, false],
    [1, false],
    [1, true],
    [2, true],
  ]);
});

test.each(['configuration', 'catalog', 'external_id'] as const)(
  'a command for which the %s changes each time fails with 503',
  async (reason) => {
    let runs = 0;
    const running = withRetries(dependencies(), { workspace }, async () => {
      runs += 1;
      throw new Retry(reason);
    });
    await expect(running).rejects.toMatchObject({ code: 'service_unavailable', status: 503 });
    expect(runs).toBe(8);
  },
);

import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { eventually, testServers } from '@tocsin/testing';
import { describeWithRedis } from '@tocsin/testing/suites';
import { createLogger, memoryVersions, redisVersions, type Versions } from '../src/index.ts';
import { openRedis, type Redis } from '../src/redis.ts';

/** The tests of every implementation. */
function describeVersions(versions: () => Versions): void {
  test('a raised version is read back, separately for each workspace and owner', async () => {
    expect(await versions().read(['catalog', 'custom_field'], 1)).toEqual([undefined, undefined]);
    await versions().raise('catalog', 1, 0);
    await versions().raise('custom_field', 1, 5);
    expect(await versions().read(['custom_field', 'catalog'], 1)).toEqual([5, 0]);
    expect(await versions().read(['catalog'], 2)).toEqual([undefined]);
  });

  test('a version never falls, whatever the order of the raises', async () => {
    await Promise.all([3, 9, 1, 7].map(async (version) => versions().raise('catalog', 3, version)));
    expect(await versions().read(['catalog'], 3)).toEqual([9]);
  });
}

describe('versions in memory', () => {
  const versions = memoryVersions();
  describeVersions(() => versions);
});

describeWithRedis('versions in Redis', () => {
  let redis: Redis;
  beforeAll(async () => {
    redis = openRedis({
      url: testServers().redisUrl ?? '',
      namespace: `tocsin-test-${randomBytes(4).toString('hex')}`,
      log: createLogger({ app: 'test', level: 'silent' }),
    });
    await eventually(async () => redis.ping(), { what: 'the connection to Redis' });
  });
  afterAll(() => redis.disconnect());
  describeVersions(() => redisVersions(redis));
});

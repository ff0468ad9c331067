import { expect, test } from '@jest/globals';
import fc from '@tocsin/testing/fuzz';
import { describeWithout } from '@tocsin/testing/suites';
import { mayMakeNetworks, missingPackages } from '../../cluster/packages.ts';
import { soakCluster } from '../../soak/cluster.ts';

/** Violations in the output of a failure. */
const SHOWN = 5;
/** One of each engine; `make soak ARGS="--cluster"` has all. */
const FAULTS = ['PostgreSQL primary killed', 'RabbitMQ leader frozen', 'Redis primary cut off'];
/** Milliseconds: three engines start, and three times another machine takes over. */
const TIMEOUT = 1_800_000;

describeWithout(...missingPackages(), ...(mayMakeNetworks() ? [] : ['root']))('three machines of each engine', () => {
  test(
    'lose no write, no event and no delivery when a leader dies, freezes or loses its network',
    async () => {
      const { violations, observations } = await soakCluster({
        seed: fc.readConfigureGlobal().seed ?? Date.now(),
        goesOn: (count) => count < FAULTS.length,
        only: (name) => FAULTS.includes(name),
        print: () => undefined,
      });
      expect(violations.slice(0, SHOWN)).toEqual([]);
      const lost = [...observations].map(([name, each]) => [name, ...each.map((one) => one.lost)]);
      expect(lost.toSorted()).toEqual(FAULTS.map((name) => [name, 0]));
    },
    TIMEOUT,
  );
});

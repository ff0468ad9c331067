import Sequencer from '@jest/test-sequencer';

/** How many other tests run between two tests of the whole system. */
const BETWEEN = 6;

/**
 * Spreads the tests of the whole system, which are long and keep all processors busy, so that they hardly run at the same
 * time, and none of them runs alone at the end.
 */
export default class SpreadSystemTests extends Sequencer {
  sort(tests) {
    const sorted = [...super.sort(tests)];
    const isSystem = ({ path }) => path.endsWith('.system.test.ts');
    const system = sorted.filter(isSystem).sort((a, b) => (a.path < b.path ? -1 : 1));
    const others = sorted.filter((test) => !isSystem(test));
    return [
      ...system.flatMap((test, index) => [test, ...others.slice(index * BETWEEN, (index + 1) * BETWEEN)]),
      ...others.slice(system.length * BETWEEN),
    ];
  }
}

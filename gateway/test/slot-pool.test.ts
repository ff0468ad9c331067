import { afterEach, describe, expect, test } from '@jest/globals';
import { EventEmitter } from 'node:events';
import { fairShares } from '@tocsin/runtime';
import { eventually } from '@tocsin/testing';
import { type Release, slotPool } from '../src/http/slot-pool.ts';

/** Longer than a test. */
const WAIT = 60_000;

class Client extends EventEmitter {
  destroyed = false;
}

const clients: Client[] = [];
afterEach(() => {
  // Ends the waits that the test has left.
  for (const client of clients.splice(0)) client.emit('close');
});

function poolOf({ total = Infinity, perHolder = Infinity, maxWaiting = 100 }) {
  const pool = slotPool({ shares: fairShares({ total, perHolder }), maxWaiting });
  const served: string[] = [];
  const releases = new Map<string, Release | undefined>();
  return {
    served,
    /** Enters without waiting for the slot; `name` is in `served` when it has it, or `-name` when it has none. */
    enter: (workspace: number, name: string, { wait = WAIT, client = new Client() } = {}) => {
      clients.push(client);
      const entered = async () => {
        const release = await pool.enter(workspace, wait, client);
        releases.set(name, release);
        served.push(release === undefined ? `-${name}` : name);
      };
      return entered();
    },
    leave: (name: string) => releases.get(name)?.(),
  };
}

/** Until all promises that can be settled are settled. */
const settled = async () => new Promise((resolve) => setImmediate(resolve));

describe('shares', () => {
  test('nobody holds more than its share', () => {
    const shares = fairShares({ total: Infinity, perHolder: 3 });
    expect([1, 2, 3, 4].map(() => shares.take(1, 1))).toEqual([true, true, true, false]);
    expect(shares.take(2, 3)).toBe(true);
    shares.giveBack(1, 1);
    expect(shares.heldBy(1)).toBe(2);
    expect(shares.take(1, 1)).toBe(true);
  });

  test('however many are greedy, one without anything gets something', () => {
    for (const greedy of [1, 2, 3, 10, 50]) {
      const shares = fairShares({ total: 256, perHolder: Infinity });
      for (let round = 0; round < 300; round += 1) for (let one = 1; one <= greedy; one += 1) shares.take(one, 1);
      const each = Array.from({ length: greedy }, (_, index) => shares.heldBy(index + 1));
      expect(Math.max(...each) - Math.min(...each)).toBeLessThanOrEqual(1);
      expect(shares.take(1_000, 1)).toBe(true);
    }
  });
});

describe('slots', () => {
  test('a request that finds no slot waits for the next one', async () => {
    const { enter, leave, served } = poolOf({ perHolder: 1 });
    void enter(1, 'first');
    void enter(1, 'second');
    void enter(2, 'other workspace');
    await settled();
    expect(served).toEqual(['first', 'other workspace']);
    leave('first');
    await settled();
    expect(served).toEqual(['first', 'other workspace', 'second']);
  });

  test('the workspace with the fewest requests is served first, then the others in turn', async () => {
    const { enter, leave, served } = poolOf({ total: 4 });
    for (const name of ['a1', 'a2', 'a3', 'a4']) void enter(1, name);
    await enter(2, 'b1');
    void enter(2, 'b2');
    await enter(3, 'c1');
    void enter(3, 'c2');
    await settled();
    expect(served).toEqual(['a1', 'a2', 'b1', 'c1']);
    leave('a1');
    leave('a2');
    await settled();
    expect(served.slice(4)).toEqual(['a3']);
    leave('b1');
    leave('c1');
    await settled();
    expect(served.slice(5)).toEqual(['b2', 'c2']);
  });

  test('a wait ends after its time, with the client, or at once when too many wait', async () => {
    const { enter, leave, served } = poolOf({ perHolder: 1, maxWaiting: 2 });
    const client = new Client();
    void enter(1, 'first');
    void enter(1, 'impatient', { wait: 1 });
    void enter(1, 'gone', { client });
    void enter(1, 'too many');
    await settled();
    // The time of the impatient one may be over by now, too.
    expect(served.filter((name) => name !== '-impatient')).toEqual(['first', '-too many']);
    client.emit('close');
    await settled();
    expect(served).toContain('-gone');
    await eventually(() => served.includes('-impatient'));
    expect(client.listenerCount('close')).toBe(0);
    leave('first');
    leave('first');
    void enter(1, 'next');
    void enter(1, 'after next');
    await settled();
    expect(served.slice(4)).toEqual(['next']);
  });
});

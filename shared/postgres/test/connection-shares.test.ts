import { describe, expect, test } from '@jest/globals';
import { type ConnectionPermit, ConnectionShares, sharedLimits, type ShareRefusal } from '../src/connection-shares.ts';
import { databaseFailure } from '../src/index.ts';
import { RequestWork, type ShareHolder } from '@tocsin/runtime';

/** Shares of a pool of ten connections, with a clock that the test moves. */
function sharesOfTen() {
  const state = { now: 0, isServing: true };
  const refusals: ShareRefusal[] = [];
  const shares = new ConnectionShares({
    limits: sharedLimits(10),
    now: () => state.now,
    isServing: () => state.isServing,
    onRefusal: (reason) => refusals.push(reason),
  });
  const served: unknown[] = [];
  const permits: ConnectionPermit[] = [];
  /** Takes a connection; its label is added to `served` when it is given. */
  const take = async (label: unknown, request: RequestWork | undefined, nested = false) => {
    const permit = await shares.take(request, { nested });
    served.push(label);
    permits.push(permit);
    return permit;
  };
  /** Takes a connection; resolves to why it was refused. */
  const failureOf = async (request: RequestWork | undefined) =>
    take('refused', request).then(
      () => 'given',
      (error: unknown) => databaseFailure(error),
    );
  return { shares, state, refusals, served, permits, take, failureOf };
}

const request = (holder: ShareHolder, options: Partial<{ readOnly: boolean; isClientGone: () => boolean }> = {}) =>
  new RequestWork({ holder, readOnly: true, isClientGone: () => false, ...options });

/** Lets promises that are settled already continue. */
const settle = async () => new Promise((resolve) => setImmediate(resolve));

describe('a share', () => {
  test('is three of ten connections for a workspace; another workspace gets its own at once', async () => {
    const { shares, served, take } = sharesOfTen();
    for (let count = 1; count <= 5; count += 1) void take(`a${count}`, request(1)).catch(() => undefined);
    void take('b1', request(2));
    await settle();
    expect(served).toEqual(['a1', 'a2', 'a3', 'b1']);
    expect([shares.inUse, shares.waiting]).toEqual([4, 2]);
  });

  test('leaves two of ten connections to background work, and five to requests', async () => {
    const { served, take } = sharesOfTen();
    for (const holder of [1, 2, 3]) for (let count = 0; count < 3; count += 1) void take('request', request(holder));
    await settle();
    expect(served).toHaveLength(8);
    for (let count = 0; count < 3; count += 1) void take('background', undefined);
    await settle();
    expect(served.slice(8)).toEqual(['background', 'background']);

    const other = sharesOfTen();
    for (let count = 0; count < 10; count += 1) void other.take('background', undefined);
    void other.take('request', request(1));
    await settle();
    expect(other.served).toEqual([...Array.from({ length: 5 }, () => 'background'), 'request']);
  });

  test('exists in a pool of any size, so that nobody waits for ever', () => {
    for (let size = 1; size <= 100; size += 1) {
      const { all, requests, holder, background } = sharedLimits(size);
      expect([
        all,
        Math.min(requests, holder, background) >= 1,
        Math.max(requests, holder, background) <= size,
      ]).toEqual([size, true, true]);
    }
  });
});

describe('those that wait', () => {
  test('are served in turns, a workspace with many requests no more often than one with a single one', async () => {
    const { served, permits, take } = sharesOfTen();
    for (const holder of [1, 2, 3]) for (let count = 0; count < 3; count += 1) void take('first', request(holder));
    await settle();
    for (let count = 1; count <= 4; count += 1) void take(`a${count}`, request(7)).catch(() => undefined);
    void take('b1', request(8)).catch(() => undefined);
    void take('c1', request(9)).catch(() => undefined);
    await settle();
    expect(served).toHaveLength(8);
    // One of the nine still waits: it has been waiting longest.
    for (let count = 0; count < 6; count += 1) {
      permits[count]?.release();
      await settle();
    }
    expect(served.slice(8)).toEqual(['first', 'a1', 'b1', 'c1', 'a2', 'a3']);
  });

  test('in one workspace are served in order, but a write that has begun comes before requests that have not', async () => {
    const { served, permits, take } = sharesOfTen();
    const begun = request(1, { readOnly: false });
    const first = await take('claim', begun);
    for (let count = 0; count < 3; count += 1) void take(`read${count}`, request(1)).catch(() => undefined);
    first.release();
    await settle();
    expect(served).toEqual(['claim', 'read0', 'read1', 'read2']);
    void take('read3', request(1)).catch(() => undefined);
    void take('create', begun).catch(() => undefined);
    for (const index of [1, 2]) {
      permits[index]?.release();
      await settle();
    }
    expect(served.slice(4)).toEqual(['create', 'read3']);
  });

  test('longer than five seconds are refused: 429 if their workspace uses its share, 503 if it does not', async () => {
    const { shares, state, take, failureOf } = sharesOfTen();
    for (let count = 0; count < 3; count += 1) await take('a', request(1));
    const share = failureOf(request(1));
    for (const holder of [2, 3])
      for (let count = 0; count < 3; count += 1) void take('x', request(holder)).catch(() => undefined);
    const pool = failureOf(request(4));
    state.now = 4_999;
    shares.refuseOverdue();
    await settle();
    expect(shares.waiting).toBeGreaterThanOrEqual(2);
    state.now = 5_000;
    shares.refuseOverdue();
    expect([await share, await pool]).toEqual(['share_exceeded', 'busy']);
    expect(shares.waiting).toBe(0);
  });

  test('for a database that does not respond are not told that it is their fault', async () => {
    const { shares, state, take, failureOf } = sharesOfTen();
    for (let count = 0; count < 3; count += 1) await take('a', request(1));
    const refused = failureOf(request(1));
    Object.assign(state, { now: 5_000, isServing: false });
    shares.refuseOverdue();
    expect(await refused).toBe('busy');
  });

  test('after they have begun to write get 503, later: a 429 would say that nothing has happened', async () => {
    const { shares, state, take, failureOf } = sharesOfTen();
    const write = request(1, { readOnly: false });
    (await take('claim', write)).release();
    for (let count = 0; count < 3; count += 1) await take('a', request(1));
    const refused = failureOf(write);
    state.now = 7_999;
    shares.refuseOverdue();
    expect(shares.waiting).toBe(1);
    state.now = 8_000;
    shares.refuseOverdue();
    expect(await refused).toBe('busy');
  });

  test('are at most two hundred in one workspace', async () => {
    const { shares, take, failureOf, refusals } = sharesOfTen();
    for (let count = 0; count < 203; count += 1) void take('a', request(1)).catch(() => undefined);
    await settle();
    expect([shares.inUse, shares.waiting]).toEqual([3, 200]);
    expect(await failureOf(request(1))).toBe('share_exceeded');
    expect(refusals).toEqual(['share']);
    expect(await failureOf(request(2))).toBe('given');
  });

  test('leave when their client has gone, except a write that has begun', async () => {
    const { shares, take, failureOf } = sharesOfTen();
    let gone = false;
    const isClientGone = () => gone;
    const begun = request(1, { readOnly: false, isClientGone });
    (await take('claim', begun)).release();
    for (let count = 0; count < 3; count += 1) await take('a', request(1));
    const waiting = [request(1, { isClientGone }), request(1, { readOnly: false, isClientGone })].map(failureOf);
    void take('begun', begun).catch(() => undefined);
    gone = true;
    shares.refuseOverdue();
    expect(await Promise.all(waiting)).toEqual(['abandoned', 'abandoned']);
    expect(shares.waiting).toBe(1);
  });
});

test('a caller that holds a connection gets another one or a refusal at once, beyond its share too', async () => {
  const { shares, take } = sharesOfTen();
  for (let count = 0; count < 3; count += 1) await take('a', request(1));
  await take('nested', request(1), true);
  expect(shares.inUse).toBe(4);
  for (let count = 0; count < 6; count += 1) await take('nested', undefined, true);
  expect(() => shares.take(request(1), { nested: true })).toThrow('all connections of the pool are in use');
});

test('a permit that is released twice counts once', async () => {
  const { shares, take } = sharesOfTen();
  const permit = await take('a', request(1));
  await take('b', request(1));
  permit.release();
  permit.release();
  expect(shares.inUse).toBe(1);
});

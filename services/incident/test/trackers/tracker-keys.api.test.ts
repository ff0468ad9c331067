import { expect, test } from '@jest/globals';
import { createLogger, createMetrics, generateSecretKeys } from '@tocsin/runtime';
import { countUnopenedTrackers } from '../../src/administration.ts';
import { openAddress, sealAddress, trackerKeyring } from '../../src/trackers/address.ts';
import { trackerAddressRotation } from '../../src/trackers/rotate-addresses.ts';
import { addressStore } from '../../src/trackers/store/address-store.ts';
import { serviceForFile } from '../service.ts';
import { TRACKERS } from './trackers.ts';

const service = await serviceForFile();

test('after a key change the addresses are sealed again, more than a transaction holds, and the old key can be removed', async () => {
  const [old, lost, fresh] = ['old', 'lost', 'fresh'].map((id) => generateSecretKeys().replace(/^[^:]+/, id));
  const tracker = { name: 'Issues', kind: 'github', project: 'acme/shop', credential: 'github_pat_secret' };
  const created = await service.as().post(TRACKERS, tracker);
  const [row] = await service.knex('trackers').where({ id: created.body.tracker.id });
  await service.knex('trackers').delete();
  const addressOf = (id: number) => ({ url: 'https://api.github.com', credential: `token ${id}`, secret: 'tracksec_' });
  const rows = Array.from({ length: 1_100 }, (_, index) => {
    const id = index + 1;
    const keys = [lost, fresh][id % 550] ?? old;
    const { keyId, ciphertext } = sealAddress(trackerKeyring(keys!), id, addressOf(id));
    return { ...row, workspace_id: 1 + (id % 20), id, name: `Issues ${id}`, key_id: keyId, ciphertext };
  });
  await service.knex.batchInsert('trackers', rows, 500);

  const metrics = createMetrics('test');
  const log = createLogger({ app: 'test', level: 'silent' });
  const trackerKeys = trackerKeyring(`${fresh},${old}`);
  await trackerAddressRotation({ database: service.knex, trackerKeys, log, metrics })();
  expect(await metrics.metrics()).toMatch(/^tocsin_trackers_unopened\{.*\} 2$/m);

  const opened = new Map(
    (await addressStore(service.knex).listLatest(rows.length)).map((sealed) => [
      sealed.id,
      openAddress(trackerKeyring(fresh!), sealed.id, sealed),
    ]),
  );
  // An address that no key opens does not affect the others, and stays until its key is back.
  const left = [550, 1_100];
  expect(opened).toEqual(new Map(rows.map(({ id }) => [id, left.includes(id) ? undefined : addressOf(id)])));
  const check = { secretKeys: `${fresh},${lost}`, limit: rows.length };
  expect(await countUnopenedTrackers(service.knex, check)).toEqual({ checked: rows.length, unopened: 0 });
});

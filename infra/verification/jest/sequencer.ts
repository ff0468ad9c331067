import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import type { Test } from '@jest/test-result';
import { ROOT } from '../../installation/environment.ts';

const require = createRequire(import.meta.url);
const { default: TestSequencer } = require('@jest/test-sequencer') as typeof import('@jest/test-sequencer');

/**
 * Small test files that take long. A new clone knows no durations, so that Jest begins with the largest files; these would
 * come last, and keep one worker busy alone. What waits is between what computes.
 */
const FIRST = [
  'infra/verification/test/round-trips/round-trips.api.test.ts',
  'infra/verification/test/round-trips/workers.api.test.ts',
  'infra/verification/test/description/published-schemas.test.ts',
  'services/incident/test/list/list-model.api.test.ts',
  'services/incident/test/values/values-fuzz.api.test.ts',
  'services/webhook/test/slow-receivers.api.test.ts',
  'services/incident/test/chat/slack-hanging.api.test.ts',
  'services/catalog/test/announcements.api.test.ts',
  'infra/verification/test/history/faults.system.test.ts',
  'infra/verification/test/statements/rest.system.test.ts',
  'gateway/test/console/incident.system.test.ts',
  'infra/verification/test/database-outage.system.test.ts',
  'gateway/test/console/session.system.test.ts',
  'shared/messaging/test/shortages.system.test.ts',
  'gateway/test/console/workspace.system.test.ts',
  'shared/messaging/test/relay-order.system.test.ts',
  'gateway/test/pages/reference-examples.system.test.ts',
  'infra/verification/test/guides/consumer-example.system.test.ts',
  'services/incident/test/transfer/transfer.system.test.ts',
  'infra/migrate/test/migrations-under-traffic.system.test.ts',
  'shared/sdk/test/sdk.system.test.ts',
  'infra/generate/test/generated-clients.system.test.ts',
].map((file) => path.join(ROOT, file));

/** The order of test files, as Jest has it, apart from those that begin first. */
export default class Sequencer extends TestSequencer {
  override async sort(tests: Test[]): Promise<Test[]> {
    for (const file of FIRST) if (!existsSync(file)) throw new Error(`there is no test file ${file}`);
    const places = new Map(FIRST.map((file, index) => [file, index]));
    const placeOf = (test: Test) => places.get(test.path) ?? FIRST.length;
    return (await super.sort(tests)).toSorted((one, other) => placeOf(one) - placeOf(other));
  }
}

import { MemoryBroker } from '@tocsin/messaging';
import { createLogger, memoryVersions } from '@tocsin/runtime';
import { testClock } from '@tocsin/testing';
import { startApp } from '../../src/app.ts';
import { incidentConfig } from '../../src/config.ts';

/** The incident service as a process that a test kills: `process.ts <time>`, at which its clock stands. Sends its URL. */
const { url } = await startApp(incidentConfig(process.env), {
  clock: testClock(process.argv[2]),
  broker: new MemoryBroker(),
  versions: memoryVersions(),
  log: createLogger({ app: 'incident', level: 'silent' }),
  firstRunWithin: Number.MAX_SAFE_INTEGER,
});
process.send?.(url);

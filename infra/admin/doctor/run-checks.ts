import { urlsOfHosts } from '@tocsin/runtime';
import { MEMORY_BROKER } from '../../installation/apps.ts';
import { describeBroker, describeRedis } from '../../installation/describe-servers.ts';
import type { Target } from '../target.ts';
import { BROKER_CHECK } from './broker-check.ts';
import { type Check, CHECK_TIME, type Finding, type Status, unknown } from './check.ts';
import { CLOCK_CHECK } from './clock-check.ts';
import { FEED_CHECK } from './feed-check.ts';
import { MESSAGE_CHECK } from './message-check.ts';
import { MIGRATION_CHECK } from './migration-check.ts';
import { NUMBER_CHECK } from './number-check.ts';
import { POOL_CHECK } from './pool-check.ts';
import { REPLICA_CHECK } from './replica-check.ts';
import { SECRET_CHECK } from './secret-check.ts';
import { SEQUENCE_CHECK } from './sequence-check.ts';
import { SETTINGS_CHECK } from './settings-check.ts';
import { STORAGE_CHECK } from './storage-check.ts';
import { TIMELINE_CHECK } from './timeline-check.ts';

export const CHECKS: readonly Check[] = [
  SETTINGS_CHECK,
  MIGRATION_CHECK,
  CLOCK_CHECK,
  POOL_CHECK,
  SEQUENCE_CHECK,
  NUMBER_CHECK,
  REPLICA_CHECK,
  TIMELINE_CHECK,
  STORAGE_CHECK,
  MESSAGE_CHECK,
  BROKER_CHECK,
  FEED_CHECK,
  SECRET_CHECK,
];

export interface DoctorLine {
  check: string;
  status: Status;
  message: string;
}

/** Runs checks, one after the other. With `fix` it repairs what can be repaired safely, and checks that again. */
export async function runChecks(
  checks: readonly Check[],
  target: Target,
  options: { fix: boolean; describeError: (error: unknown) => string },
): Promise<DoctorLine[]> {
  printServers(target);
  const attempt = async (check: Check): Promise<Finding[]> => {
    const endsAt = performance.now() + CHECK_TIME;
    try {
      return await check.run({ ...target, isOver: () => performance.now() > endsAt });
    } catch (error) {
      return [unknown(options.describeError(error))];
    }
  };
  const lines: DoctorLine[] = [];
  for (const check of checks) {
    let findings = await attempt(check);
    const repairs = findings.flatMap(({ repair }) => (repair === undefined ? [] : [repair]));
    if (options.fix && repairs.length > 0) {
      const done: Finding[] = [];
      for (const repair of repairs) {
        done.push(
          await repair().then(
            (message): Finding => ({ status: 'fixed', message }),
            (error: unknown): Finding => ({
              status: 'problem',
              message: `not repaired: ${options.describeError(error)}`,
            }),
          ),
        );
      }
      findings = [...done, ...(await attempt(check))];
    }
    lines.push(...findings.map(({ status, message }) => ({ check: check.name, status, message })));
  }
  return lines;
}

/** Names the servers that are checked besides the databases, which are named when they are opened. */
function printServers({ env, print }: Target): void {
  if (env['TOCSIN_BROKER'] === MEMORY_BROKER) return;
  const { AMQP_URL: broker = '', REDIS_URL: redis = '', TOCSIN_NAMESPACE: namespace = 'tocsin' } = env;
  const names = `names that begin with ${namespace}`;
  if (URL.canParse(urlsOfHosts(broker)[0])) print(`using ${describeBroker(broker)}, ${names}`);
  if (URL.canParse(urlsOfHosts(redis)[0])) print(`using ${describeRedis(redis)}, ${names}`);
}

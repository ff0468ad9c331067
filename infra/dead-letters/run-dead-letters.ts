import { parseArgs } from 'node:util';
import type { QueueDefinition } from '@tocsin/contracts';
import { brokerSettings, type Environment, processSettings, readConfig } from '@tocsin/runtime';
import { targetEnvironment } from '../admin/target.ts';
import { QUEUES_BY_NAME, withDeadLetters } from './dead-letters.ts';

const USAGE = `usage: npm run -s dead-letters -- <command> [flags]

  list                          how many dead letters each queue has
  show    --queue Q [--most N]  the oldest ones, which stay where they are (10 unless given)
  replay  --queue Q [--most N]  send them back to their queue (all unless given)
  discard --queue Q --most N    remove the oldest ones for good

queues: ${[...QUEUES_BY_NAME.keys()].join(', ')}`;

const settings = { ...brokerSettings, TOCSIN_NAMESPACE: processSettings.TOCSIN_NAMESPACE };

/**
 * Does what the words of a command line ask for; `AMQP_URL` and `TOCSIN_NAMESPACE` lead to the queues.
 * @returns what is to be printed, one JSON object
 * @throws Error whose message is for whoever gave the command
 */
export async function runDeadLetters(args: string[], env: Environment): Promise<string> {
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    options: { queue: { type: 'string' }, most: { type: 'string' }, help: { type: 'boolean', short: 'h' } },
  });
  const [command, ...others] = positionals;
  if (values.help === true) return USAGE;
  if (command === undefined || others.length > 0) throw new Error(USAGE);
  const most = readMost(values.most);
  const queue = readQueue(values.queue);
  const { AMQP_URL: url, TOCSIN_NAMESPACE: namespace } = readConfig(settings, await targetEnvironment(env));
  return JSON.stringify(
    await withDeadLetters({ url, namespace }, async (letters) => {
      switch (command) {
        case 'list':
          return { dead_letters: await letters.count() };
        case 'show':
          return { dead_letters: await letters.peek(wanted(queue), most ?? 10) };
        case 'replay':
          return { replayed: await letters.replay(wanted(queue), most ?? Infinity) };
        case 'discard':
          if (most === undefined) throw new Error('discard: say how many with --most');
          return { discarded: await letters.discard(wanted(queue), most) };
        default:
          throw new Error(USAGE);
      }
    }),
    undefined,
    2,
  );
}

function readMost(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  if (!/^[1-9]\d{0,8}$/.test(text)) throw new Error(`--most: ${text} is not a positive number`);
  return Number(text);
}

function readQueue(name: string | undefined): QueueDefinition | undefined {
  const queue = QUEUES_BY_NAME.get(name ?? '');
  if (name !== undefined && queue === undefined) {
    throw new Error(`--queue: ${name} is none of ${[...QUEUES_BY_NAME.keys()].join(', ')}`);
  }
  return queue;
}

function wanted(queue: QueueDefinition | undefined): QueueDefinition {
  if (queue === undefined) throw new Error(`name the queue with --queue: ${[...QUEUES_BY_NAME.keys()].join(', ')}`);
  return queue;
}

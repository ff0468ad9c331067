import { parseArgs } from 'node:util';
import type { QueueDefinition } from '@tocsin/contracts';
import type { Environment } from '@tocsin/runtime';
import { chooseQueues } from './choose-queues.ts';
import { type DeadLetters, QUEUES_BY_NAME, withDeadLetters } from './dead-letters.ts';
import { withOutboxDeadLetters } from './outbox-dead-letters.ts';

const USAGE = `usage: npm run -s dead-letters -- <command> [flags]

  list                          Count the dead letters of each queue
  show    --queue Q [--most N]  Show the oldest ones; they stay in the queue (10 by default)
  replay  --queue Q [--most N]  Send the oldest ones back to their queue (all by default)
  discard --queue Q --most N    Delete the oldest ones

queues: ${[...QUEUES_BY_NAME.keys()].join(', ')}`;

/**
 * Runs a command line on the queues that `chooseQueues` finds.
 * @param print receives a line that names the broker or the instance before it is used
 * @returns the output, one JSON object
 * @throws Error with a message for the operator
 */
export async function runDeadLetters(
  args: string[],
  env: Environment,
  print: (line: string) => void = () => undefined,
): Promise<string> {
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
  const queues = await chooseQueues(env, print);
  const withLetters = async <Result>(work: (letters: DeadLetters) => Promise<Result>): Promise<Result> =>
    queues.kind === 'broker' ? withDeadLetters(queues, work) : withOutboxDeadLetters(queues.env, work);
  return JSON.stringify(
    await withLetters(async (letters) => {
      switch (command) {
        case 'list':
          return { dead_letters: await letters.count() };
        case 'show':
          return { dead_letters: await letters.peek(requireQueue(queue), most ?? 10) };
        case 'replay':
          return { replayed: await letters.replay(requireQueue(queue), most ?? Infinity) };
        case 'discard':
          if (most === undefined) throw new Error('discard: say how many with --most');
          return { discarded: await letters.discard(requireQueue(queue), most) };
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
    throw new Error(`--queue: ${name} is not one of ${[...QUEUES_BY_NAME.keys()].join(', ')}`);
  }
  return queue;
}

function requireQueue(queue: QueueDefinition | undefined): QueueDefinition {
  if (queue === undefined) throw new Error(`name the queue with --queue: ${[...QUEUES_BY_NAME.keys()].join(', ')}`);
  return queue;
}

import type { QueueDefinition } from '@tocsin/contracts';
import { chooseQueues } from './dead-letters/choose-queues.ts';
import { type DeadLetters, QUEUES_BY_NAME, withDeadLetters } from './dead-letters/dead-letters.ts';
import { withOutboxDeadLetters } from './dead-letters/outbox-dead-letters.ts';
import type { Command, CommandContext, Flag } from './command.ts';
import type { FlagValues } from './flag-values.ts';
import { UsageError } from './target.ts';

const QUEUE_NAMES = [...QUEUES_BY_NAME.keys()];
const queue: Flag = { value: 'QUEUE', help: 'the queue', required: true, choices: QUEUE_NAMES };

const DEFAULT_SHOWN = 10;
/** Characters of a message in the table; `--json` prints it whole. */
const SHOWN_BODY = 80;

async function withLetters<Result>(
  { env, print }: CommandContext,
  work: (letters: DeadLetters) => Promise<Result>,
): Promise<Result> {
  const choice = await chooseQueues(env, print);
  return choice.kind === 'broker' ? withDeadLetters(choice, work) : withOutboxDeadLetters(choice.targets, work);
}

const readQueue = (values: FlagValues) =>
  QUEUES_BY_NAME.get(values.oneOf('queue', QUEUE_NAMES) ?? '') as QueueDefinition;

function readMost(values: FlagValues): number | undefined {
  const text = values.text('most');
  if (text === undefined) return undefined;
  if (!/^[1-9]\d{0,8}$/.test(text)) throw new UsageError(`--most: ${text} is not a positive number`);
  return Number(text);
}

export const deadLetterCommands: readonly Command[] = [
  {
    name: 'dead-letters list',
    summary: 'Count the messages of each queue that consumers could not handle',
    flags: {},
    table: {
      rows: (answer) =>
        Object.entries(answer['dead_letters'] as Record<string, number>).map(([name, count]) => ({
          queue: name,
          count,
        })),
      columns: ['queue', 'count'],
    },
    runFreely: async (_, context) => withLetters(context, async (letters) => ({ dead_letters: await letters.count() })),
  },
  {
    name: 'dead-letters show',
    summary: 'Show the oldest dead letters of a queue; they stay in it',
    flags: { queue, most: { value: 'N', help: `at most N of them; ${DEFAULT_SHOWN} by default` } },
    table: {
      rows: 'dead_letters',
      columns: ['id', 'type', 'reason', 'died_at', ['body', ({ body }) => String(body).slice(0, SHOWN_BODY)]],
    },
    runFreely: async (values, context) => {
      const [from, limit] = [readQueue(values), readMost(values) ?? DEFAULT_SHOWN];
      return withLetters(context, async (letters) => ({ dead_letters: await letters.peek(from, limit) }));
    },
  },
  {
    name: 'dead-letters replay',
    summary: 'Send the oldest dead letters back to their queue',
    flags: { queue, most: { value: 'N', help: 'at most N of them; all by default' } },
    runFreely: async (values, context) => {
      const [from, limit] = [readQueue(values), readMost(values) ?? Infinity];
      return withLetters(context, async (letters) => ({ replayed: await letters.replay(from, limit) }));
    },
  },
  {
    name: 'dead-letters discard',
    summary: 'Delete the oldest dead letters of a queue',
    flags: { queue, most: { value: 'N', help: 'how many', required: true } },
    runFreely: async (values, context) => {
      const [from, limit] = [readQueue(values), readMost(values) ?? 0];
      return withLetters(context, async (letters) => ({ discarded: await letters.discard(from, limit) }));
    },
  },
];

import type { QueueDefinition } from '@tocsin/schemas';
import type { Row } from '../cli/src/output.ts';
import { chooseQueues } from './dead-letters/choose-queues.ts';
import { type DeadLetters, QUEUES_BY_NAME, withDeadLetters } from './dead-letters/dead-letters.ts';
import { withOutboxDeadLetters } from './dead-letters/outbox-dead-letters.ts';
import { type Command, type CommandContext, type Flag, parsePositive } from './command.ts';

const QUEUE_NAMES = [...QUEUES_BY_NAME.keys()];
const queue: Flag = {
  ...{ value: 'QUEUE', help: 'the queue', required: true, choices: QUEUE_NAMES },
  parse: (name) => QUEUES_BY_NAME.get(name),
};

const most: Flag = { value: 'N', help: 'how many', parse: parsePositive };

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

interface Selection {
  queue: QueueDefinition;
  most?: number;
}

export const list: Command = {
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
};

export const show: Command = {
  flags: { queue, most: { ...most, help: `at most N of them; ${DEFAULT_SHOWN} by default` } },
  table: {
    rows: (answer) =>
      (answer['dead_letters'] as Row[]).map((letter) => ({
        ...letter,
        body: String(letter['body']).slice(0, SHOWN_BODY),
      })),
    columns: ['id', 'type', 'reason', 'died_at', 'body'],
  },
  runFreely: async ({ queue: from, most: limit = DEFAULT_SHOWN }: Selection, context) =>
    withLetters(context, async (letters) => ({ dead_letters: await letters.peek(from, limit) })),
};

export const replay: Command = {
  flags: { queue, most: { ...most, help: 'at most N of them; all by default' } },
  runFreely: async ({ queue: from, most: limit = Infinity }: Selection, context) =>
    withLetters(context, async (letters) => ({ replayed: await letters.replay(from, limit) })),
};

export const discard: Command = {
  flags: { queue, most: { ...most, required: true } },
  runFreely: async ({ queue: from, most: limit = 0 }: Selection, context) =>
    withLetters(context, async (letters) => ({ discarded: await letters.discard(from, limit) })),
};

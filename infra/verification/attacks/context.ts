import { setMaxListeners } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { type AttackContext, type AttackResult, newResult } from './attack.ts';
import type { Answers, FromAttacker, Question, ToAttacker } from './messages.ts';
import { deadUrl, receiverUrl } from '../systems/receiver-urls.ts';
import { type Outcome, type ReceivedAnswer, send, type SentRequest } from '../systems/send.ts';
import type { TargetAddress } from '../systems/target.ts';

interface ContextOptions {
  target: TargetAddress;
  isShort: boolean;
  tell: (message: FromAttacker) => void;
}

const exampleOf = ({ method = 'GET', path }: SentRequest, { text }: ReceivedAnswer): string =>
  `${method} ${path}: ${text}`.slice(0, 300);

/** Opens what an attack works with, in the attacker's process. */
export async function openContext({ target, isShort, tell }: ContextOptions) {
  const sql = new pg.Client({ connectionString: target.databaseUrl });
  await sql.connect();

  let result = newResult();
  const over = new AbortController();
  const closing = new AbortController();
  // Each pause and each request listens.
  setMaxListeners(0, over.signal, closing.signal);
  const countOutcome = (outcome: Outcome) => {
    // What is still open at the end is counted there.
    if (outcome !== 'silent') result.outcomes[outcome] = (result.outcomes[outcome] ?? 0) + 1;
  };
  let questions = 0;
  const ask = async <About extends Question['about']>(
    question: Extract<Question, { about: About }>,
  ): Promise<Answers[About]> => {
    questions += 1;
    const id = questions;
    const answered = nextMessage('answer', (message) => message.id === id);
    tell({ kind: 'question', id, question });
    return (await answered).answer as Answers[About];
  };
  const createWorkspace = async () => ask({ about: 'workspace' });

  const context: AttackContext = {
    isShort,
    gateway: target.gateway,
    sql,
    choose: (full, short) => (isShort ? short : full),
    createWorkspace,
    createWorkspaces: async (count) => Array.fromAsync({ length: count }, createWorkspace),
    begin: async () => {
      const begin = nextMessage('begin');
      tell({ kind: 'prepared' });
      const { time, grace } = await begin;
      result = newResult();
      setTimeout(() => over.abort(), time);
      setTimeout(() => closing.abort(), time + grace);
    },
    get isOver() {
      return over.signal.aborted;
    },
    pause: async (milliseconds) => (milliseconds > 0 ? until(over.signal, milliseconds) : undefined),
    untilOver: async () => until(over.signal),
    send: async (workspace, request) => {
      result.requestCount += 1;
      const answer = await send(target.gateway, workspace, { ...request, signal: closing.signal });
      countOutcome(answer.outcome);
      result.examples[answer.outcome] ??= exampleOf(request, answer);
      return answer;
    },
    countRequest: () => {
      result.requestCount += 1;
    },
    countOutcome,
    check: (ok, what, { timed = false } = {}) => {
      if (!ok) result.violations.push({ what, timed });
    },
    receiverUrl: (receiver, path) => receiverUrl(target.receiverPort, receiver, path),
    deadUrl: (nth) => deadUrl(target.receiverPort, nth),
    breakPart: async (fault) => ask({ about: 'break', fault }),
    heal: async () => {
      await ask({ about: 'heal' });
    },
    skip: (reason) => void (result.skipped = reason),
  };
  return {
    context,
    result: (): AttackResult => {
      const ended = Object.values(result.outcomes).reduce((sum, count) => sum + count, 0);
      return {
        ...result,
        outcomes: { ...result.outcomes, ...(result.requestCount > ended && { silent: result.requestCount - ended }) },
      };
    },
    close: async () => sql.end(),
  };
}

/** The next message of the parent process. */
async function nextMessage<Kind extends ToAttacker['kind']>(
  kind: Kind,
  isExpected: (message: Extract<ToAttacker, { kind: Kind }>) => boolean = () => true,
): Promise<Extract<ToAttacker, { kind: Kind }>> {
  const { promise, resolve } = Promise.withResolvers<Extract<ToAttacker, { kind: Kind }>>();
  const listen = (message: ToAttacker) => {
    const candidate = message as Extract<ToAttacker, { kind: Kind }>;
    if (message.kind !== kind || !isExpected(candidate)) return;
    process.off('message', listen);
    resolve(candidate);
  };
  process.on('message', listen);
  return promise;
}

/** Resolves when the signal is aborted, or after this time. */
const until = async (signal: AbortSignal, milliseconds = LONGEST_DELAY) =>
  delay(milliseconds, undefined, { signal }).catch(() => undefined);

/** Of a timer. */
const LONGEST_DELAY = 2 ** 31 - 1;

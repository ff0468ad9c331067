import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { type AttackResult, newResult } from './attack.ts';
import type { Answers, FromAttacker, Question, ToAttacker } from './messages.ts';
import type { Target, TargetAddress } from '../systems/target.ts';

/** One attack, in a process of its own. When that ends, the system closes its connections. */
export interface Attacker {
  /** Resolves when the attack can begin, or with the result if it ended during its preparation. */
  prepared(): Promise<AttackResult | undefined>;
  begin(time: { time: number; grace: number }): Promise<AttackResult>;
  kill(): Promise<void>;
}

/** Milliseconds. */
const PREPARE_TIMEOUT = 180_000;
/** How much longer than its time an attack may take, for what it checks at its end. */
const OVERTIME = 30_000;

const failed = (error: string): AttackResult => ({ ...newResult(), error });

/** Starts a process that waits for its attack. */
export const forkAttacker = (): ChildProcess => fork(path.join(import.meta.dirname, 'attacker.ts'));

/** @param options.child a process of `forkAttacker` */
export function startAttacker(options: {
  child: ChildProcess;
  target: Target;
  attack: string;
  isShort: boolean;
}): Attacker {
  const { child, target, attack, isShort } = options;
  const send = (message: ToAttacker) => {
    if (child.connected) child.send(message);
  };
  const prepared = Promise.withResolvers<undefined>();
  const done = Promise.withResolvers<AttackResult>();
  const ended = (code: number | null, signal: string | null) =>
    done.resolve(failed(`the attacker's process ended: ${code ?? signal}`));
  if (child.exitCode !== null || child.signalCode !== null) ended(child.exitCode, child.signalCode);
  child.once('exit', ended);
  child.on('message', (message: FromAttacker) => {
    if (message.kind === 'prepared') prepared.resolve(undefined);
    else if (message.kind === 'done') done.resolve(message.result);
    else void answerTo(target, message.question).then((answer) => send({ kind: 'answer', id: message.id, answer }));
  });
  const { gateway, databaseUrl, receiverPort } = target;
  const address: TargetAddress = { gateway, databaseUrl, receiverPort };
  send({ kind: 'prepare', attack, target: address, isShort });
  return {
    prepared: async () =>
      Promise.race([prepared.promise, done.promise, timeout(PREPARE_TIMEOUT, 'the preparation takes too long')]),
    begin: async ({ time, grace }) => {
      send({ kind: 'begin', time, grace });
      return Promise.race([done.promise, timeout(time + grace + OVERTIME, 'the attack does not end')]);
    },
    kill: async () => {
      if (child.exitCode !== null || child.signalCode !== null) return;
      child.kill('SIGKILL');
      await once(child, 'exit');
    },
  };
}

async function answerTo(target: Target, question: Question): Promise<Answers[Question['about']]> {
  if (question.about === 'workspace') return target.createWorkspace();
  if (question.about === 'break') return target.faults.break(question.fault);
  target.faults.heal();
  return true;
}

async function timeout(milliseconds: number, error: string): Promise<AttackResult> {
  await delay(milliseconds, undefined, { ref: false });
  return failed(error);
}

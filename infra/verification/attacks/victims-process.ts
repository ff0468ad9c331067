import { fork } from 'node:child_process';
import path from 'node:path';
import type { FromVictims, ToVictims, VictimSummary } from './messages.ts';
import type { Route, Victim } from './routes.ts';

/** The victims, in a process of their own, so that nothing else delays their clock. */
export interface Victims {
  /** Makes requests of these kinds from now on. The result ends that, and waits for the last responses. */
  observe(routes: readonly Route[]): () => Promise<VictimSummary>;
  stop(): void;
}

export function startVictims(options: {
  gateway: { host: string; port: number };
  victims: readonly Victim[];
  /** Milliseconds between the requests of one kind. */
  every: number;
}): Victims {
  const child = fork(path.join(import.meta.dirname, 'victims.ts'));
  const send = (message: ToVictims) => void child.send(message);
  const waiting = new Map<number, (summary: VictimSummary) => void>();
  child.on('message', ({ id, summary }: FromVictims) => {
    waiting.get(id)?.(summary);
    waiting.delete(id);
  });
  send({ kind: 'victims', ...options });
  let observations = 0;
  return {
    observe: (routes) => {
      observations += 1;
      const id = observations;
      const { promise, resolve } = Promise.withResolvers<VictimSummary>();
      waiting.set(id, resolve);
      send({ kind: 'observe', id, routes });
      return async () => {
        send({ kind: 'end', id });
        return promise;
      };
    },
    stop: () => void child.kill('SIGKILL'),
  };
}

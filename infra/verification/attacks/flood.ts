import type { AttackContext } from './attack.ts';

export interface Flood {
  /** How many run at once. */
  clients: number;
  /** How many run in all; by default more than the time allows. */
  total?: number;
  /** How many start in a second; by default as many as the limit allows. */
  perSecond?: number;
}

/** Requests in a second that a workspace may make all the time under the default limit of 1,200 a minute. */
export const LEGAL_RATE = 20;

/** Runs `work` again and again until the attack's time is over, with the number of the run. Waits for the last runs. */
export async function flood(
  context: AttackContext,
  { clients, total = 1_000, perSecond = LEGAL_RATE }: Flood,
  work: (number: number) => Promise<unknown>,
): Promise<void> {
  const start = performance.now();
  let next = 0;
  // A function, because the time may end during the pause below.
  const isOver = () => context.isOver;
  const client = async () => {
    while (next < total && !isOver()) {
      const number = next;
      next += 1;
      await context.pause(start + (number * 1_000) / perSecond - performance.now());
      if (isOver()) return;
      await work(number);
    }
  };
  await Promise.all(Array.from({ length: Math.min(clients, total) }, client));
}

/** Begins an attack with a flood. */
export async function beginFlood(...options: Parameters<typeof flood>): Promise<void> {
  await options[0].begin();
  await flood(...options);
}

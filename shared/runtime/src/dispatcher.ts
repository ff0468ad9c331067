import type { Logger } from './logger.ts';
import { startSweep } from './sweep.ts';

/** Works off a queue that is kept in the database, several things at once. */
export interface Dispatcher {
  /** Looks at the queue at once. */
  wake(): void;
  /** Claims nothing more, and waits for what is under way. */
  stop(): Promise<void>;
}

export interface DispatcherOptions<Claim> {
  /** In the words of a log line: "dispatching webhooks". */
  name: string;
  /** Looks at the queue so often whatever happens; milliseconds. */
  interval: number;
  log: Logger;
  /** Milliseconds until the next thing is due, negative when it is late; `undefined` while there is none. */
  nextDue: () => Promise<number | undefined>;
  /** Takes some of what is due, under a lease: no other dispatcher sees it. */
  claim: (underWay: number) => Promise<readonly Claim[]>;
  /** Does it. What it leaves undone by throwing is free again when its lease is over. */
  run: (claim: Claim) => Promise<void>;
}

/**
 * Does what is due. Any number of dispatchers may run: what one leaves behind in a crash is claimed again when its lease is over.
 * It is woken by commits and by ends of what it does, and sets a timer for what is due before its next look.
 */
export function startDispatcher<Claim>(options: DispatcherOptions<Claim>): Dispatcher {
  const { name, interval, log, nextDue, claim, run } = options;
  const underWay = new Set<Promise<void>>();
  let timer: NodeJS.Timeout | undefined;

  const start = (claimed: Claim) => {
    const running = run(claimed)
      .catch((error: unknown) => log.error({ err: error }, `${name} was interrupted`))
      .finally(() => {
        underWay.delete(running);
        sweep.wake();
      });
    underWay.add(running);
  };

  const look = async (): Promise<boolean> => {
    clearTimeout(timer);
    const wait = await nextDue();
    if (wait === undefined) return false;
    if (wait > 0) {
      // Anything later is for a later look.
      if (wait < interval) timer = setTimeout(sweep.wake, wait);
      return false;
    }
    const claims = await claim(underWay.size);
    claims.forEach(start);
    return claims.length > 0;
  };

  const sweep = startSweep({ name, interval, log, work: look });
  return {
    wake: sweep.wake,
    stop: async () => {
      await sweep.stop();
      clearTimeout(timer);
      await Promise.all(underWay);
    },
  };
}

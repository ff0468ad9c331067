import { setTimeout as delay } from 'node:timers/promises';
import { behave } from '@tocsin/testing';
import { APP_NAMES } from '../../installation/apps.ts';
import type { FaultySystem } from '../history/faulty-system.ts';
import type { Random } from '../history/random.ts';

/** What breaks, and is whole again when `run` resolves, or soon after. */
export interface SoakFault {
  name: string;
  run(): Promise<void>;
}

/** Milliseconds for which something is away, at most. */
const AWAY = 12_000;
const CLOCK_STEP = 600_000;

export function soakFaults(system: FaultySystem, random: Random): SoakFault[] {
  const { broker, proxies, receiver } = system;
  const away = async () => delay(500 + random.int(AWAY));
  const signal = async (...signals: NodeJS.Signals[]) => {
    const pids = (await system.processes()).get(random.pick(APP_NAMES)) ?? [];
    if (pids.length === 0) return;
    const pid = random.pick(pids);
    for (const [index, name] of signals.entries()) {
      if (index > 0) await away();
      process.kill(pid, name);
    }
  };
  const network = (Object.keys(proxies) as (keyof typeof proxies)[]).flatMap((server) =>
    (['stall', 'cut'] as const).map((how) => ({
      name: `${how} the connections to ${server}`,
      run: async () => {
        proxies[server][how]();
        await away();
        proxies[server].restore();
      },
    })),
  );
  return [
    ...network,
    { name: 'kill a process', run: async () => signal('SIGKILL') },
    { name: 'restart a process', run: async () => signal('SIGTERM') },
    { name: 'stop a process for a while', run: async () => signal('SIGSTOP', 'SIGCONT') },
    {
      name: 'kill the broker',
      run: async () => {
        await broker.kill();
        await away();
        await broker.start();
      },
    },
    {
      name: 'memory alarm of the broker',
      run: async () => {
        await broker.control('set_vm_memory_high_watermark', '0');
        await away();
        await broker.control('set_vm_memory_high_watermark', '0.6');
      },
    },
    { name: 'kill the database', run: system.killPostgres },
    ...[CLOCK_STEP, -CLOCK_STEP].map((step) => ({
      name: `step the clocks by ${step / 60_000} minutes`,
      run: async () => {
        await system.stepClocks(step);
        await away();
        await system.stepClocks(0);
      },
    })),
    {
      name: 'a receiver that hangs',
      run: async () => {
        const { respond } = receiver;
        receiver.respond = behave.hang;
        await away();
        receiver.respond = respond;
      },
    },
  ];
}

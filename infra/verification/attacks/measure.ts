import { APP_NAMES, type AppName } from '../../installation/apps.ts';
import { childrenOf, memoryOf, type Processes, resetPeak } from '../systems/processes.ts';
import type { Target } from '../systems/target.ts';

/** Milliseconds. */
const MEMORY_INTERVAL = 250;
const EVENT_LOOP_INTERVAL = 2_000;
/** A blocked process answers late, and its answer has the delay: the metric begins anew with each answer. */
const SCRAPE_TIMEOUT = 10_000;
const EVENT_LOOP_METRIC = 'tocsin_event_loop_delay_seconds';

export interface Measurement {
  /** The highest resident memory of each process, MiB. */
  memory: Record<AppName, number>;
  /** The same of any process that they have started, such as the one that encodes pictures. */
  childMemory: number;
  /** The longest delay of each event loop, milliseconds; without the processes that do not report it. */
  eventLoop: Partial<Record<AppName, number>>;
}

/** Measures the apps' processes until the result is called. */
export async function startMeasuring(target: Target, processes: Processes): Promise<() => Promise<Measurement>> {
  const memory = Object.fromEntries(APP_NAMES.map((name) => [name, 0])) as Record<AppName, number>;
  let childMemory = 0;
  const eventLoop: Partial<Record<AppName, number>> = {};
  const apps = [...processes.keys()];
  let hasPeaks = true;
  for (const pid of processes.values()) hasPeaks = (await resetPeak(pid)) && hasPeaks;

  const sampleMemory = async () => {
    for (const [name, pid] of processes) {
      const sample = await memoryOf(pid);
      if (sample !== undefined) memory[name] = Math.max(memory[name], hasPeaks ? sample.peak : sample.now);
      for (const child of await childrenOf(pid))
        childMemory = Math.max(childMemory, (await memoryOf(child))?.peak ?? 0);
    }
  };
  let scrape: Promise<unknown> | undefined;
  const sampleEventLoops = async () => {
    scrape ??= scrapeAll().finally(() => (scrape = undefined));
    await scrape;
  };
  const scrapeAll = async () => {
    await Promise.all(
      apps.map(async (name) => {
        const delay = await eventLoopDelay(target.internalUrl(name));
        if (delay !== undefined) eventLoop[name] = Math.max(eventLoop[name] ?? 0, delay);
      }),
    );
  };
  // The first scrape begins a new interval of the metric; what it returns happened before.
  await Promise.all(apps.map(async (name) => eventLoopDelay(target.internalUrl(name))));
  const timers = [
    setInterval(() => void sampleMemory(), MEMORY_INTERVAL),
    setInterval(() => void sampleEventLoops(), EVENT_LOOP_INTERVAL),
  ];
  return async () => {
    for (const timer of timers) clearInterval(timer);
    await sampleMemory();
    await scrape;
    await sampleEventLoops();
    return { memory, childMemory, eventLoop };
  };
}

/** Scrapes the longest delay of a process's event loop, milliseconds. */
async function eventLoopDelay(url: string): Promise<number | undefined> {
  try {
    const response = await fetch(`${url}/metrics`, { signal: AbortSignal.timeout(SCRAPE_TIMEOUT) });
    return longestDelay(await response.text());
  } catch {
    return undefined;
  }
}

/** Reads the longest delay from Prometheus text: of the samples of the metric, the highest. */
export function longestDelay(metrics: string): number | undefined {
  const seconds = metrics
    .split('\n')
    .map((line) => new RegExp(`^${EVENT_LOOP_METRIC}(?:\\{[^}]*\\})? ([\\d.e+-]+)$`).exec(line)?.[1])
    .filter((value) => value !== undefined)
    .map(Number);
  return seconds.length === 0 ? undefined : Math.max(...seconds) * 1_000;
}

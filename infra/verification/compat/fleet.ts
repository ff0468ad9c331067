import type { Environment } from '@tocsin/runtime';
import { APP_NAMES, type AppName, APPS } from '../../apps.ts';
import { freePorts } from '../../ports.ts';
import { type AppProcess, startAppProcess } from './app-process.ts';
import type { Assignment } from './combinations.ts';
import type { Release, ReleaseName } from './release.ts';

export type Releases = Readonly<Record<ReleaseName, Release>>;

/** The processes of all apps, each of one of the two releases. */
export interface Fleet {
  /** Replaces the processes that have another release than this one. `beside`: a second process of the other release. */
  assign(releases: Assignment, beside: boolean): Promise<void>;
  /** Returns what went wrong since the last call. */
  takeProblems(): string[];
  stop(): Promise<void>;
}

/** @param options.environments of each app, with the addresses that its processes have one after the other */
export function createFleet({
  releases,
  environments,
}: {
  releases: Releases;
  environments: Readonly<Record<AppName, Environment>>;
}): Fleet {
  const running = new Map<AppName, AppProcess>();
  const second: AppProcess[] = [];
  const problems: string[] = [];
  const report = (problem: string) => void problems.push(problem);

  const start = async (app: AppName, release: Release, env: Environment) =>
    startAppProcess({ app, release, env, report });
  const stopAll = async (processes: readonly AppProcess[]) =>
    Promise.all(processes.map(async (process) => process.stop()));

  /** The gateway takes requests only while the services run. */
  const startAll = async (apps: readonly AppName[], startOne: (app: AppName) => Promise<void>) => {
    for (const group of [apps.filter((app) => app !== 'gateway'), apps.filter((app) => app === 'gateway')]) {
      const outcomes = await Promise.allSettled(group.map(startOne));
      for (const outcome of outcomes) if (outcome.status === 'rejected') throw outcome.reason;
    }
  };

  return {
    assign: async (assignment, beside) => {
      await stopAll(second.splice(0));
      // A service that only one release has runs that one.
      const wanted = (app: AppName) => {
        const release = releases[assignment[app]];
        return app in release.apps ? release : releases.new;
      };
      const changed = APP_NAMES.filter((app) => running.get(app)?.release !== wanted(app));
      await stopAll(changed.flatMap((app) => running.get(app) ?? []));
      for (const app of changed) running.delete(app);
      await startAll(changed, async (app) => {
        running.set(app, await start(app, wanted(app), environments[app]));
      });
      if (!beside) return;
      const ports = await freePorts(2 * APP_NAMES.length);
      await startAll(APP_NAMES, async (app) => {
        const other = releases[assignment[app] === 'old' ? 'new' : 'old'];
        if (!(app in other.apps)) return;
        const { port } = APPS[app].listenVariables;
        const index = 2 * APP_NAMES.indexOf(app);
        const env = { ...environments[app], PORT: String(ports[index]), [port]: String(ports[index + 1]) };
        second.push(await start(app, other, env));
      });
    },
    takeProblems: () => problems.splice(0),
    stop: async () => {
      await stopAll([...second.splice(0), ...running.values()]);
      running.clear();
    },
  };
}

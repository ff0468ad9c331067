import { setTimeout as delay } from 'node:timers/promises';
import { eventually } from '@tocsin/testing';
import { APP_NAMES } from '../../installation/apps.ts';
import type { Cluster } from '../cluster/start-cluster.ts';
import type { Group } from '../cluster/group.ts';
import type { Machine } from '../cluster/network.ts';
import type { TestedApps } from '../history/tested-apps.ts';

/** What happens to one machine or to some processes. */
export interface ClusterFault {
  name: string;
  /** Resolves when it is over, and everything works again. Calls `begun` when it begins. */
  run(begun: () => void): Promise<void>;
}

type Way = readonly [
  name: string,
  begin: (machine: Machine, group: Group) => Promise<void>,
  end: (machine: Machine) => Promise<void>,
];

const WAYS: readonly Way[] = [
  ['killed', async (machine) => machine.kill(), async (machine) => machine.boot()],
  ['frozen', async (machine) => machine.freeze(), async (machine) => machine.thaw()],
  ['cut off', async (machine) => machine.cut(), async (machine) => machine.mend()],
  [
    'cut off from the others',
    async (machine, { machines }) => machine.cutFrom(machines.filter((each) => each !== machine)),
    async (machine) => machine.mend(),
  ],
];

/** Milliseconds, on a machine that is busy with other work. */
const TAKEN_OVER_WITHIN = 300_000;
/** Milliseconds for which a machine stays away after another one has taken over. */
const AWAY = 5_000;
/** Milliseconds for which processes of apps are stopped. */
const STOPPED = 10_000;

const onMachine = (group: Group, role: string, [way, begin, end]: Way): ClusterFault => ({
  name: `${group.name} ${role} ${way}`,
  run: async (begun) => {
    const roleNow = group.roles[role] ?? (async () => undefined);
    const machine = await roleNow();
    if (machine === undefined) throw new Error(`no machine is the ${role} of ${group.name}`);
    begun();
    await begin(machine, group);
    const what = `another ${role} of ${group.name} than ${machine.name}`;
    try {
      await eventually(async () => ![machine, undefined].includes(await roleNow(machine)), {
        what,
        within: TAKEN_OVER_WITHIN,
      });
      await delay(AWAY);
    } finally {
      await end(machine);
    }
    await group.whole();
  },
});

/** The faults of each role of each engine, and those of one process of each app. */
export function clusterFaults({ groups }: Cluster, apps: TestedApps): ClusterFault[] {
  const onProcesses = (way: string, ...signals: NodeJS.Signals[]): ClusterFault => ({
    name: `one process of each app ${way}`,
    run: async (begun) => {
      const pids = [...(await apps.processes()).values()].map(([pid = 0]) => pid);
      begun();
      for (const [index, signal] of signals.entries()) {
        if (index > 0) await delay(STOPPED);
        for (const pid of pids) process.kill(pid, signal);
      }
    },
  });
  return [
    ...groups.flatMap((group) =>
      Object.keys(group.roles).flatMap((role) => WAYS.map((way) => onMachine(group, role, way))),
    ),
    onProcesses('killed', 'SIGKILL'),
    onProcesses(`frozen for ${STOPPED / 1_000} s`, 'SIGSTOP', 'SIGCONT'),
  ].map(({ name, run }) => ({
    name,
    run: async (begun) => {
      await run(begun);
      for (const app of APP_NAMES) await apps.isComplete(app);
    },
  }));
}

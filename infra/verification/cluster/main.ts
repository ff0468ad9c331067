/**
 * `cluster` is `make cluster`: three machines of each engine on this one, with Debian's packages, and two processes of each
 * app. A machine is a network namespace with an address, process IDs and a host name of its own (`namespace.ts`). All
 * machines are connected to a switch, as this machine is (`network.ts`); so programs have their usual ports, and a machine
 * can lose its power, stop for a while, or lose its network. PostgreSQL runs under Patroni with etcd, and one standby has
 * each commit before it is answered; RabbitMQ has three nodes, and its queues are quorum queues; Redis has two replicas and
 * three Sentinels. A `Group` says which machine leads, and waits until all of them work. All data are in a temporary
 * folder. When this process ends, however it ends, the kernel ends every machine with it. `make soak ARGS="--cluster"`
 * kills machines of it.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { stepPrinter } from '../../embedded/steps.ts';
import { environment, ROOT } from '../../installation/environment.ts';
import { runScript } from '../../installation/run-script.ts';
import { type Cluster, checkRequirements, startCluster } from './start-cluster.ts';

/** The same as `make services REPLICAS=2`, on the servers of the cluster. */
function startApps({ env, folder }: Cluster) {
  const child = spawn(process.execPath, [path.join(ROOT, 'infra/processes/main.ts')], {
    cwd: ROOT,
    env: { ...environment(), ...env, REPLICAS: '2', TOCSIN_DATA_DIR: path.join(folder, 'apps') },
    // Ctrl-C in a terminal reaches only this process. When this process dies, the channel closes, and the apps stop.
    detached: true,
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  const exited = once(child, 'exit');
  return {
    exited,
    stop: async () => {
      child.kill('SIGTERM');
      await exited;
    },
  };
}

await runScript(async () => {
  const stopping = Promise.withResolvers<void>();
  // Further signals, which terminals and `make` send, do not shorten the stop.
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => stopping.resolve());
  checkRequirements();
  const cluster = await stepPrinter(console.log)('cluster', startCluster);
  try {
    for (const { name, machines } of cluster.groups)
      console.log(`${name.padEnd(14)}${machines.map((machine) => `${machine.name} ${machine.address}`).join(', ')}`);
    const apps = startApps(cluster);
    await Promise.race([stopping.promise, apps.exited]);
    await apps.stop();
  } finally {
    await cluster.stop();
  }
});

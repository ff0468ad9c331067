import { chown, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { eventually } from '@tocsin/testing';
import type { Group } from './group.ts';
import type { Machine } from './network.ts';

const NAME = 'tocsin';

/** A primary and two replicas; beside each, a Sentinel. Two Sentinels decide that the primary is down, after five seconds. */
export async function startRedisCluster(machines: readonly Machine[]): Promise<Group> {
  const [first] = machines as [Machine];
  for (const machine of machines) {
    const { address, folder } = machine;
    const { uid, gid } = await stat(folder);
    const common = [`bind ${address}`, 'protected-mode no', `dir ${folder}`];
    const settings = {
      'redis.conf': [...common, 'save ""', ...(machine === first ? [] : [`replicaof ${first.address} 6379`])],
      'sentinel.conf': [
        ...common,
        `sentinel monitor ${NAME} ${first.address} 6379 2`,
        `sentinel down-after-milliseconds ${NAME} 5000`,
        `sentinel failover-timeout ${NAME} 10000`,
      ],
    };
    for (const [name, lines] of Object.entries(settings)) {
      const file = path.join(folder, name);
      await writeFile(file, lines.join('\n') + '\n');
      await chown(file, uid, gid);
    }
    await machine.boot([
      { command: 'redis-server', args: [path.join(folder, 'redis.conf')] },
      { command: 'redis-sentinel', args: [path.join(folder, 'sentinel.conf')] },
    ]);
  }

  const ask = async ({ address, call }: Machine, port: string, ...args: string[]) =>
    call({ command: 'redis-cli', args: ['-h', address, '-p', port, ...args] });
  const primary = async (except?: Machine) => {
    const answers = machines
      .filter((machine) => machine !== except)
      .map(async (machine) => ask(machine, '26379', 'sentinel', 'get-master-addr-by-name', NAME));
    const [address] = (await Promise.any(answers)).split('\n');
    return machines.find((machine) => machine.address === address);
  };
  return {
    name: 'Redis',
    machines,
    url: `redis-sentinel://${machines.map(({ address }) => `${address}:26379`).join(',')}/0?master=${NAME}`,
    roles: { primary },
    whole: async () => {
      for (const machine of machines) {
        await eventually(
          async () => {
            const info = await ask(machine, '26379', 'info', 'sentinel');
            return /status=ok,address=\S+,slaves=2,sentinels=3/.test(info);
          },
          { what: `a Sentinel on ${machine.name} that knows all others` },
        );
      }
      await eventually(
        async () => {
          const server = await primary();
          return (
            server !== undefined &&
            (await ask(server, '6379', 'info', 'replication')).match(/state=online/g)?.length === 2
          );
        },
        { what: 'a Redis with two replicas' },
      );
    },
  };
}

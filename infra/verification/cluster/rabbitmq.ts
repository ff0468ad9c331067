import { chown, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { eventually } from '@tocsin/testing';
import type { Group } from './group.ts';
import type { Machine } from './network.ts';

const SCRIPTS = '/usr/lib/rabbitmq/bin';

/** Whether a node works, as docs/guides/high-availability.md asks it, and with how many, itself included. */
const STATE = '[2 * length(rabbit_node_monitor:partitions()) < 3, length(rabbit_nodes:all_running())].';
/** Milliseconds after which a node that does not work is restarted, and for all of that. */
const RESTARTED_AFTER = 120_000;
const REJOINED_WITHIN = 600_000;

const environmentOf = ({ name, folder, address }: Machine): Record<string, string> => ({
  RABBITMQ_NODENAME: `rabbit@${name}`,
  RABBITMQ_CONFIG_FILE: `${folder}/rabbitmq.conf`,
  RABBITMQ_CONF_ENV_FILE: `${folder}/rabbitmq-env.conf`,
  RABBITMQ_ENABLED_PLUGINS_FILE: `${folder}/enabled_plugins`,
  RABBITMQ_MNESIA_BASE: `${folder}/data`,
  RABBITMQ_LOG_BASE: folder,
  RABBITMQ_LOGS: '-',
  ERL_EPMD_ADDRESS: address,
  // One scheduler, because the machine also runs everything else.
  RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS: '+S 1:1',
});

const settingsOf = (machines: readonly Machine[]) => [
  'listeners.tcp.default = 5672',
  'loopback_users = none',
  'cluster_formation.peer_discovery_backend = classic_config',
  ...machines.map(({ name }, index) => `cluster_formation.classic_config.nodes.${index + 1} = rabbit@${name}`),
  'cluster_partition_handling = pause_minority',
  // Seconds until a node that is silent is left out; default 60.
  'net_ticktime = 15',
  'disk_free_limit.absolute = 10MB',
  'vm_memory_high_watermark.relative = 0.2',
  '',
];

/** Three nodes, of which those stop that see no majority. One that does not work again is restarted. */
export async function startRabbitMqCluster(machines: readonly Machine[]): Promise<Group> {
  const control = async (machine: Machine, ...args: string[]) => {
    const env = environmentOf(machine);
    return machine.call({ command: path.join(SCRIPTS, 'rabbitmqctl'), args: ['--quiet', ...args], env });
  };
  for (const machine of machines) {
    const { uid, gid } = await stat(machine.folder);
    for (const [name, content] of Object.entries({
      'rabbitmq.conf': settingsOf(machines).join('\n'),
      'rabbitmq-env.conf': '',
      enabled_plugins: '[].\n',
      '.erlang.cookie': 'tocsin-cluster',
    })) {
      const file = path.join(machine.folder, name);
      await writeFile(file, content, { mode: 0o600 });
      await chown(file, uid, gid);
    }
    await machine.boot([{ command: path.join(SCRIPTS, 'rabbitmq-server'), args: [], env: environmentOf(machine) }]);
  }

  /** The node that leads most queues. */
  const leader = async (except?: Machine) => {
    const [asked] = machines.filter((machine) => machine !== except) as [Machine];
    const leaders = (await control(asked, 'list_queues', 'leader')).split('\n');
    const countOf = ({ name }: Machine) => leaders.filter((line) => line === `rabbit@${name}`).length;
    return machines.toSorted((a, b) => countOf(b) - countOf(a))[0];
  };
  return {
    name: 'RabbitMQ',
    machines,
    url: `amqp://guest:guest@${machines.map(({ address }) => `${address}:5672`).join(',')}`,
    roles: { leader },
    whole: async () => {
      const failingSince = new Map<Machine, number>();
      const isWhole = async (machine: Machine) => {
        // A tool that takes too long says nothing of the node.
        const state = await control(machine, 'eval', STATE).catch((error: unknown) =>
          (error as { killed?: boolean }).killed === true ? undefined : '',
        );
        const since = failingSince.get(machine);
        if (state?.startsWith('[true,') === true) failingSince.delete(machine);
        else if (state !== undefined && since === undefined) failingSince.set(machine, Date.now());
        else if (state !== undefined && since !== undefined && Date.now() - since > RESTARTED_AFTER) {
          failingSince.delete(machine);
          await machine.kill();
          await machine.boot();
        }
        return state?.trim() === `[true,${machines.length}]`;
      };
      const areWhole = async () => {
        let areAll = true;
        for (const machine of machines) areAll = (await isWhole(machine)) && areAll;
        return areAll;
      };
      await eventually(areWhole, { what: 'a cluster of RabbitMQ', within: REJOINED_WITHIN });
    },
  };
}

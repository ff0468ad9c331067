import { chown, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { eventually } from '@tocsin/testing';
import type { Group } from './group.ts';
import type { Machine } from './network.ts';

const SCRIPTS = '/usr/lib/rabbitmq/bin';

/**
 * Whether a node and most of the others leave each other out until one of them starts again. A node that was frozen is
 * not paused: when it looks, it is connected to the others again.
 */
const IS_LEFT_OUT = '2 * length(rabbit_node_monitor:partitions()) > length(rabbit_mnesia:cluster_nodes(all)).';

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

/** Three nodes, of which those stop that see no majority. */
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
      for (const machine of machines) {
        await eventually(async () => control(machine, 'await_startup'), { what: `RabbitMQ on ${machine.name}` });
        await eventually(
          async () => {
            const status = await control(machine, 'cluster_status', '--formatter', 'json');
            const { running_nodes: nodes } = JSON.parse(status) as { running_nodes: string[] };
            if (nodes.length === machines.length) return true;
            // As docs/guides/high-availability.md advises.
            if ((await control(machine, 'eval', IS_LEFT_OUT)).trim() === 'true')
              for (const act of ['stop_app', 'start_app']) await control(machine, act);
            return false;
          },
          { what: 'a cluster of RabbitMQ' },
        );
      }
    },
  };
}

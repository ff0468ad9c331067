import { brokerSettings, type Environment, processSettings, readConfig } from '@tocsin/runtime';
import { APPS, MEMORY_BROKER } from '../../installation/apps.ts';
import { dataDirPath, findRunningInstance } from '../../installation/data-dir.ts';
import { describeBroker } from '../../installation/describe-servers.ts';
import { migrateConfig, type SchemaTarget } from '../../migrate/config.ts';
import { describeDatabase } from '../../migrate/describe-database.ts';

const settings = { ...brokerSettings, TOCSIN_NAMESPACE: processSettings.TOCSIN_NAMESPACE };

/** The queues on a broker; their names begin with `namespace`. */
interface BrokerChoice {
  kind: 'broker';
  url: string;
  namespace: string;
}

/** The queues of an instance without RabbitMQ; its dead letters are in the databases that `env` names. */
interface DatabaseChoice {
  kind: 'database';
  /** Those of the services that publish events. */
  targets: SchemaTarget[];
}

export type QueueChoice = BrokerChoice | DatabaseChoice;

/**
 * Returns the broker that the settings of `env` name, or else the queues of the instance that runs on the data folder.
 * @param print receives a line that names them
 * @throws Error when there is neither a broker nor an instance
 */
export async function chooseQueues(env: Environment, print: (line: string) => void): Promise<QueueChoice> {
  const instance = await findRunningInstance(dataDirPath(env));
  const configured = Object.fromEntries(Object.entries(env).filter(([, value]) => value !== undefined && value !== ''));
  const isNamed = configured['AMQP_URL'] !== undefined;
  if (instance === undefined) {
    if (!isNamed && configured['TOCSIN_BROKER'] === MEMORY_BROKER) {
      return chooseDatabases(configured, 'named by the settings; TOCSIN_BROKER is set, so there is no broker', print);
    }
    if (!isNamed) {
      throw new Error(
        `no broker is named, and no instance runs on ${dataDirPath(env)}: start one (make services), ` +
          'name its data folder (TOCSIN_DATA_DIR), or set AMQP_URL as the services have it',
      );
    }
    const choice = read(configured);
    print(`using ${describeChoice(choice)}, named by AMQP_URL`);
    return choice;
  }

  if (!isNamed && instance.env['TOCSIN_BROKER'] === MEMORY_BROKER) {
    return chooseDatabases(instance.env, `of the instance at ${instance.baseUrl}, which has no broker`, print);
  }
  const url = instance.env['AMQP_URL'] ?? '';
  const instanceChoice = url === '' ? undefined : read(instance.env);
  if (instanceChoice === undefined && !isNamed) {
    throw new Error(
      `the instance at ${instance.baseUrl} does not name its broker: restart it, or set AMQP_URL as the services have it`,
    );
  }
  if (
    instanceChoice !== undefined &&
    (!isNamed || describeBroker(read(configured).url) === describeBroker(instanceChoice.url))
  ) {
    const choice = read({ ...instance.env, ...configured });
    const other = `; TOCSIN_NAMESPACE is set, and names of the instance begin with ${instanceChoice.namespace}`;
    print(
      `using ${describeChoice(choice)}, of the instance at ${instance.baseUrl}` +
        (choice.namespace === instanceChoice.namespace ? '' : other),
    );
    return choice;
  }
  const choice = read(configured);
  const where = instanceChoice === undefined ? 'which has no broker' : describeChoice(instanceChoice);
  print(
    `using ${describeChoice(choice)}, named by AMQP_URL; ` +
      `not the settings of the running instance at ${instance.baseUrl} (${where})`,
  );
  return choice;
}

/** @throws Error when no setting names a database: there is no default for what is written to */
function chooseDatabases(env: Environment, origin: string, print: (line: string) => void): DatabaseChoice {
  const { targets } = migrateConfig(env);
  const unnamed = targets.find(({ variable }) => variable === undefined);
  if (unnamed !== undefined) {
    throw new Error(
      `the database of the ${unnamed.app} service is not named: set ${APPS[unnamed.app].databaseVariable} or DATABASE_URL`,
    );
  }
  for (const place of new Set(targets.map(({ url }) => describeDatabase(url)))) print(`using ${place}, ${origin}`);
  return { kind: 'database', targets };
}

function read(env: Environment): BrokerChoice {
  const { AMQP_URL: url, TOCSIN_NAMESPACE: namespace } = readConfig(settings, env);
  return { kind: 'broker', url, namespace };
}

const describeChoice = ({ url, namespace }: BrokerChoice) =>
  `${describeBroker(url)}, names that begin with ${namespace}`;

import type { EventWorkspace } from '@tocsin/schemas';
import type { Environment } from '@tocsin/runtime';
import { addSubscription } from '../../services/webhook/src/administration.ts';
import { openAppDatabase, withDatabase } from '../installation/databases.ts';
import { migrateConfig } from '../migrate/config.ts';

/** Its examples in the API description have this ID, so that they work in the sample workspace. */
export const SAMPLE_WEBHOOK = 'wh_SampleWebhookOfTheDemo';

/** The setting with the port of the sample receiver. */
export const PORT_SETTING = 'RECEIVER_PORT';

/** The port of the sample receiver, in the environment of an instance that allows it. */
export const receiverPort = (env: Environment): string | undefined =>
  env[PORT_SETTING] === '' ? undefined : env[PORT_SETTING];

/** The receiver as `WEBHOOK_TEST_RECEIVERS` lists it. */
export const receiverAddress = (port: number | string) => `localhost:${port}`;

export const receiverUrl = (port: number | string) => `https://${receiverAddress(port)}/tocsin`;

/** Creates the sample workspace's subscription of the receiver, if the instance allows the receiver. Can be repeated. */
export async function addSampleWebhook(env: Environment, workspace: EventWorkspace): Promise<void> {
  const port = receiverPort(env);
  const target = migrateConfig(env).targets.find(({ app }) => app === 'webhook');
  if (port === undefined || target === undefined) return;
  const database = openAppDatabase(target, { application: 'tocsin-demo', poolSize: 1 });
  const subscription = {
    secretKeys: env['TOCSIN_SECRET_KEYS'] ?? '',
    allowed: { testReceivers: new Set([receiverAddress(port)]), networks: [] },
    workspace,
    id: SAMPLE_WEBHOOK,
    url: receiverUrl(port),
  };
  await withDatabase(database, async () => addSubscription(database, subscription));
}

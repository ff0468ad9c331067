import { SCOPES } from '@tocsin/schemas';
import { MemoryBroker, type OutgoingMessage, type PublishOutcome } from '@tocsin/messaging';
import { type App, createLogger, memoryVersions } from '@tocsin/runtime';
import { BUSY_MACHINE, createTestDatabase, eventually, httpClient, TEST_SECRET_KEYS } from '@tocsin/testing';
import { losableVersions, loseTrips } from '@tocsin/testing/faulty-trips';
import { administration, openGatewayDatabase } from '../../../../gateway/src/administration.ts';
import { memoryRequestCounter } from '../../../../gateway/src/app.ts';
import { APP_NAMES, appEnvironments, APPS } from '../../../installation/apps.ts';
import { workspaceApi } from '../../../demo/api.ts';
import { addSampleData } from '../../../demo/sample-data.ts';
import { addSampleWebhook } from '../../../demo/sample-webhook.ts';
import { startParts } from '../../../embedded/start-parts.ts';
import { sharedRoles } from '../../systems/database-urls.ts';
import { running } from '../../systems/running.ts';
import { storedState } from './stored-state.ts';

const HOST = 'acme.localhost';

/** A broker that apps find connected only if a test says so. */
class SwitchedBroker extends MemoryBroker {
  connect(isConnected: boolean): void {
    (this as { connected: boolean }).connected = isConnected;
  }

  /** A relay that has found it connected may come later. */
  override async publish(messages: readonly OutgoingMessage[]): Promise<PublishOutcome[]> {
    return this.connected ? super.publish(messages) : messages.map(() => 'failed' as const);
  }

  /** Gives messages to the consumers, also while the relays find it disconnected. */
  async deliver(messages: readonly OutgoingMessage[]): Promise<PublishOutcome[]> {
    return super.publish(messages);
  }
}

/** All apps in this process, with the sample data, on a database that is restored for each write. */
export const losableSystem = () =>
  running(async () =>
    startParts(async (closing, stop) => {
      const database = await createTestDatabase(
        ...APP_NAMES.map((app) => ({ schema: APPS[app].schema.name, migrations: APPS[app].schema.migrations })),
      );
      closing.push(database.drop);
      const environments = await appEnvironments({
        NODE_ENV: 'test',
        PORT: '0',
        TOCSIN_SECRET_KEYS: TEST_SECRET_KEYS,
        DATABASE_URL: database.adminUrl,
        ...sharedRoles(database.adminUrl),
        DATABASE_POOL_SIZE: '4',
        RATE_LIMIT_PER_MINUTE: '1000000',
        WEBHOOK_TEST_RECEIVERS: 'localhost:1',
        RECEIVER_PORT: '1',
        ...BUSY_MACHINE,
      });
      const broker = new SwitchedBroker({ retryDelays: [20] });
      const overrides = {
        broker,
        log: createLogger({ app: 'system', level: process.env.TEST_LOG ?? 'silent' }),
        versions: losableVersions(memoryVersions()),
        requestCounter: memoryRequestCounter(),
        identityAges: { version: 0, entry: 0 },
        checkReplies: true,
        firstRunWithin: Number.MAX_SAFE_INTEGER,
        listening: 3_600_000,
        announcing: 3_600_000,
        erasing: 3_600_000,
        withdrawInterval: 3_600_000,
      };
      const end = loseTrips();
      closing.push(async () => end());
      const apps: App[] = [];
      closing.push(async () => Promise.all(apps.map(async (app) => app.stop())));
      // The gateway is the first one.
      for (const name of APP_NAMES) apps.push(await APPS[name].start(environments[name], overrides));
      const [{ url }] = apps as [App];
      const gatewayDatabase = openGatewayDatabase(environments.gateway);
      closing.push(async () => gatewayDatabase.destroy());
      const admin = administration(gatewayDatabase);
      const { id } = await admin.createWorkspace({ slug: 'acme', name: 'Acme' });
      const owner = {
        workspace: 'acme',
        email: 'demo@acme.example',
        name: 'Demo Owner',
        role: 'owner',
        seat: 'responder',
      } as const;
      await admin.createUser(owner);
      const { token } = await admin.createKey({
        workspace: 'acme',
        user: owner.email,
        name: 'demo',
        scopes: [...SCOPES],
      });
      await addSampleData(workspaceApi({ baseUrl: url, host: HOST, token }));
      await addSampleWebhook(environments.gateway, { id, slug: 'acme', is_demo: false });
      const state = await storedState(
        database.adminUrl,
        APP_NAMES.map((app) => APPS[app].schema.name),
      );
      closing.push(state.close);
      return {
        client: httpClient(url, { Host: HOST, Authorization: `Bearer ${token}` }),
        broker,
        databaseUrl: database.adminUrl,
        state,
        /** Lets the relays publish what `write` writes; otherwise they publish nothing. */
        publishing: async (write: () => Promise<unknown>) => {
          broker.connect(true);
          await write();
          await eventually(async () => !(await state.hasUnpublished()), { what: 'the publication of all events' });
          broker.connect(false);
        },
        stop,
      };
    }),
  );

import {
  type Answer,
  type Client,
  eventually,
  type FakeSlack,
  startSlack,
  TEST_SECRET_KEYS,
  type TestClock,
  testClock,
} from '@tocsin/testing';
import { stopAfterAll } from '@tocsin/testing/suites';
import type { Environment } from '@tocsin/runtime';
import type { Overrides } from '../../src/app.ts';
import { connectChat, disconnectChat } from '../../src/administration.ts';
import type { ProvisioningWire } from '../../src/chat/http/wire.ts';
import { RecordingBroker } from '../fakes/recording-broker.ts';
import { serviceForFile, type TestService } from '../service.ts';

export const INCIDENTS = '/api/v1/incidents';

/** The incident service of a test file, with its own fake Slack. */
export interface ChatTest {
  service: TestService;
  slack: FakeSlack;
  clock: TestClock;
  published: RecordingBroker['published'];
}

export async function startChatTest({
  settings = {},
  overrides: others = {},
}: { settings?: Environment; overrides?: Partial<Overrides> } = {}): Promise<ChatTest> {
  const clock = testClock();
  const slack = stopAfterAll(await startSlack({ now: () => Date.parse(clock.now()) }));
  const broker = new RecordingBroker();
  // The process cannot know when a test moves the clock.
  const overrides = { clock, broker, provisioningInterval: 50, ...others };
  const service = await serviceForFile(overrides, { SLACK_API_URL: slack.url, ...settings });
  return { service, slack, clock, published: broker.published };
}

/** A new workspace, connected to Slack by default. */
export interface ChatWorkspace {
  id: number;
  client: Client;
  connect(connection?: {
    botToken?: string;
    appToken?: string;
    channelTemplate?: string;
    secretKeys?: string;
  }): Promise<unknown>;
  disconnect(): Promise<unknown>;
  /** Creates an incident and returns it. */
  declare(properties?: Record<string, unknown>): Promise<{ id: number; human_id: string; slack_channel_id: string }>;
  get(incidentId: number): Promise<Answer>;
  provisioning(incidentId: number): Promise<ProvisioningWire>;
  /** Waits until all steps have ended. */
  provisioned(incidentId: number): Promise<ProvisioningWire>;
}

let workspaces = 2_000;

export async function chatWorkspace(
  { service, slack }: ChatTest,
  { connected = true, requiresShortTitle = false } = {},
): Promise<ChatWorkspace> {
  const id = (workspaces += 1);
  const client = service.as({
    workspace: { id, slug: `workspace-${id}`, short_title_required: requiresShortTitle },
  });
  const provisioning = async (incidentId: number) => {
    const { body } = await client.get(`${INCIDENTS}/${incidentId}/provisioning`);
    return body.provisioning as ProvisioningWire;
  };
  const workspace: ChatWorkspace = {
    id,
    client,
    connect: async ({ botToken = slack.token, appToken, channelTemplate, secretKeys = TEST_SECRET_KEYS } = {}) =>
      connectChat(service.knex, {
        workspaceId: id,
        botToken,
        appToken,
        // Unique for each workspace, because they share one Slack.
        channelTemplate: channelTemplate ?? `w${id}-{id}-{short_title}`,
        secretKeys,
      }),
    disconnect: async () => disconnectChat(service.knex, id),
    declare: async (properties = {}) => {
      const { status, body } = await client.post(INCIDENTS, { title: 'Checkout is down', ...properties });
      if (status !== 201) throw new Error(`incident not created: ${JSON.stringify(body)}`);
      return body.incident;
    },
    get: async (incidentId) => client.get(`${INCIDENTS}/${incidentId}`),
    provisioning,
    provisioned: async (incidentId) =>
      eventually(
        async () => {
          const current = await provisioning(incidentId);
          return current.status === 'pending' || current.status === 'running' ? undefined : current;
        },
        { what: 'the end of the provisioning' },
      ),
  };
  if (connected) await workspace.connect();
  return workspace;
}

/** A step of the provisioning without its times. */
export function stepOf({ steps }: ProvisioningWire, key: string) {
  const { updated_at, ...step } = steps.find((each) => each.key === key) ?? { updated_at: '' };
  return step;
}

import { type Client, eventually, type Receiver } from '@tocsin/testing';
import type { System } from '../../systems/system.ts';

/** Each has an address of its own, because a receiver's address gets at most ten deliveries a minute. */
const WEBHOOKS_PER_WORKSPACE = 3;
const HOOKED_WORKSPACES = 4;
/** All that the limits allow in a minute: 30 deliveries for each workspace, 120 in all. */
const EVENTS_PER_WORKSPACE = 10;
const DELIVERIES = HOOKED_WORKSPACES * WEBHOOKS_PER_WORKSPACE * EVENTS_PER_WORKSPACE;
/** Creates, changes and deletes of each kind in a round. */
const ACTIONS = 30;
const CONCURRENCY = 8;

export const RECEIVER_ADDRESSES = Array.from(
  { length: HOOKED_WORKSPACES * WEBHOOKS_PER_WORKSPACE },
  (_, index) => `127.0.0.${index + 2}`,
);

/** What a number of workspaces do again and again. */
export interface GrowthLoad {
  /** Runs one round, and waits until its deliveries have arrived. Returns the number of actions. */
  round(): Promise<number>;
  /** Incidents that one round creates. */
  readonly incidentsPerRound: number;
}

const at = (revision: number) => ({ 'If-Service-Resource-Version': String(revision) });

/** Runs `action` for 0 to `times` - 1, a few at a time. */
async function repeat(times: number, action: (index: number) => Promise<void>): Promise<void> {
  let next = 0;
  const worker = async () => {
    for (let index = next++; index < times; index = next++) await action(index);
  };
  await Promise.all(Array.from({ length: CONCURRENCY }, worker));
}

async function succeed(answer: ReturnType<Client['get']>): ReturnType<Client['get']> {
  const { status, text } = await answer;
  if (status >= 300) throw new Error(`${status} ${text}`);
  return answer;
}

export async function growthLoad(system: System, receiver: Receiver): Promise<GrowthLoad> {
  const hooked: { client: Client; webhooks: string[] }[] = [];
  for (let index = 0; index < HOOKED_WORKSPACES; index += 1) {
    const client = await system.as({ workspace: `hooked-${index}` });
    const webhooks: string[] = [];
    for (let number = 0; number < WEBHOOKS_PER_WORKSPACE; number += 1) {
      const url = receiver.url('/hook', RECEIVER_ADDRESSES[index * WEBHOOKS_PER_WORKSPACE + number]);
      const { body } = await succeed(client.post('/api/v1/settings/webhooks', { url }));
      await succeed(client.post(`/api/v1/settings/webhooks/${body.webhook.id}/verify`));
      webhooks.push(body.webhook.id);
    }
    hooked.push({ client, webhooks });
  }
  const client = await system.as({ workspace: 'busy' });
  const { team } = (await succeed(client.post('/api/v1/teams', { name: 'Payments' }))).body;
  const { field } = (await succeed(client.post('/api/v1/custom-fields', { name: 'Cause', field_type: 'string' }))).body;
  let rounds = 0;
  let revision = 1;

  const deliver = async () => {
    receiver.requests.length = 0;
    await repeat(HOOKED_WORKSPACES * EVENTS_PER_WORKSPACE, async (index) => {
      await succeed(hooked[index % HOOKED_WORKSPACES]!.client.post('/api/v1/incidents', { title: 'Down' }));
    });
    await eventually(() => receiver.requests.length >= DELIVERIES, { what: 'the deliveries' });
  };
  const change = async () =>
    repeat(ACTIONS, async (index) => {
      const { incident } = (
        await succeed(
          client.post(
            '/api/v1/incidents',
            { title: 'Down', team_id: team.id, custom_field_values: [{ field_id: field.id, value: 'Unknown' }] },
            { 'Idempotency-Key': `${rounds}-${index}` },
          ),
        )
      ).body;
      const path = `/api/v1/incidents/${incident.id}`;
      await succeed(client.patch(path, { status: 'monitoring' }, at(1)));
      const { event } = (
        await succeed(
          client.post(`${path}/timeline`, { title: 'Seen', body: 'x' }, { 'Idempotency-Key': `${rounds}-${index}` }),
        )
      ).body;
      await succeed(client.delete(`/api/v1/timeline/${event.id}`));
    });
  /** Changes of other services' data, which replicas follow, and of webhooks. */
  const configure = async () => {
    for (let index = 0; index < ACTIONS / 5; index += 1) {
      const description = `${rounds} ${index}`;
      await succeed(client.patch(`/api/v1/teams/${team.id}`, { description }, at(revision)));
      await succeed(client.patch(`/api/v1/custom-fields/${field.id}`, { description }, at(revision)));
      revision += 1;
    }
    await repeat(hooked.length, async (index) => {
      const { client: owner, webhooks } = hooked[index]!;
      for (const id of webhooks) {
        const path = `/api/v1/settings/webhooks/${id}`;
        for (const step of ['rotate-secret', 'pause', 'resume']) await succeed(owner.post(`${path}/${step}`));
      }
    });
  };
  return {
    incidentsPerRound: ACTIONS + HOOKED_WORKSPACES * EVENTS_PER_WORKSPACE,
    round: async () => {
      rounds += 1;
      await deliver();
      await change();
      await configure();
      const changes = 4 * ACTIONS + (2 * ACTIONS) / 5 + 3 * HOOKED_WORKSPACES * WEBHOOKS_PER_WORKSPACE;
      return DELIVERIES + HOOKED_WORKSPACES * EVENTS_PER_WORKSPACE + changes;
    },
  };
}

import type { Client } from '@tocsin/testing';

/** Clients that change incidents, timelines, services, teams and fields while the system breaks. */
export interface Writers {
  /** Settles when all changes were made or given up. */
  done: Promise<void>;
  /** How many requests succeeded so far. */
  changes(): number;
}

interface Target {
  id: number;
  revision: number;
}

const SEVERITIES = ['sev1', 'sev2', 'sev3'];
const STATUSES = ['open', 'monitoring', 'on-hold'];
const TRIES = 200;

/**
 * @param options.rounds changes of each writer
 * @param options.incidents how many incidents there are in the end
 */
export function startWriters(client: Client, options: { writers: number; rounds: number; incidents: number }): Writers {
  const { writers, rounds, incidents } = options;
  let changes = 0;

  /** Repeats a request that can be repeated until it gets an answer from the system. */
  const insist = async (send: () => ReturnType<Client['get']>) => {
    for (let attempt = 0; attempt < TRIES; attempt += 1) {
      const answer = await send().catch(() => undefined);
      if (answer !== undefined && answer.status < 500 && answer.status !== 429) {
        if (answer.status >= 200 && answer.status < 300) changes += 1;
        return answer;
      }
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
    throw new Error('the system does not come back');
  };
  /** Sends a change that may be lost, or be done without an answer. */
  const attempt = async (send: () => ReturnType<Client['get']>) => {
    const answer = await send().catch(() => undefined);
    if (answer !== undefined && answer.status < 300) changes += 1;
  };
  /**
   * Creates with a key; if a killed process still holds the key, with another one. Undefined: the incident is archived,
   * because its restoration failed.
   */
  const create = async (path: string, body: object, key: string): Promise<Target | undefined> => {
    const answer = await insist(async () => client.post(path, body, { 'Idempotency-Key': key }));
    if (answer.status === 409) {
      const isArchived = answer.body.code === 'invalid_resource_state';
      return isArchived ? undefined : create(path, body, `${key}-again`);
    }
    if (answer.status !== 201) throw new Error(`${path} refuses a create: ${answer.text}`);
    return Object.values(answer.body as Record<string, Target>).find((value) => typeof value.id === 'number');
  };
  const patch = async (path: string, body: object) => {
    const current = await client.get(path).catch(() => undefined);
    const revision = current?.headers.get('service-resource-version');
    if (typeof revision !== 'string') return;
    await attempt(async () => client.patch(path, body, { 'If-Service-Resource-Version': revision }));
  };

  const write = async (writer: number) => {
    const own: Target[] = [];
    const events: Target[] = [];
    const pick = <Item>(items: readonly Item[], round: number) => items[(writer + 7 * round) % items.length];
    const service = await create('/api/v1/services', { name: `Service ${writer}` }, `service-${writer}`);
    const field = await insist(async () =>
      client.post('/api/v1/custom-fields', { name: `Field ${writer}`, field_type: 'string' }),
    );
    for (let round = 0; round < rounds; round += 1) {
      if (own.length < incidents / writers) {
        const title = `Incident ${own.length} of writer ${writer}`;
        const declared = await create(
          '/api/v1/incidents',
          { title, severity: 'sev2' },
          `incident-${writer}-${own.length}`,
        );
        if (declared !== undefined) own.push(declared);
      }
      const incident = pick(own, round);
      if (incident === undefined) continue;
      const path = `/api/v1/incidents/${incident.id}`;
      const turn = (writer + round) % 8;
      if (turn === 0 || turn === 1) {
        const event = await create(`${path}/timeline`, { body: `Step ${round}` }, `event-${writer}-${round}`);
        if (event !== undefined) events.push(event);
      } else if (turn === 2) await patch(path, { title: `Changed in ${round}`, severity: pick(SEVERITIES, round) });
      else if (turn === 3) await patch(path, { status: pick(STATUSES, round), regions: [`region-${round}`] });
      else if (turn === 4 && events.length > 0) {
        await patch(`/api/v1/timeline/${pick(events, round)?.id}`, { body: `Changed in ${round}`, is_key: true });
      } else if (turn === 5 && events.length > 2) {
        await attempt(async () => client.delete(`/api/v1/timeline/${pick(events, round)?.id}`));
      } else if (turn === 6) {
        await patch(`/api/v1/services/${service?.id}`, { name: `Service ${writer} in ${round}` });
        if (field.status === 201)
          await patch(`/api/v1/custom-fields/${field.body.field.id}`, { name: `Field ${writer} in ${round}` });
      } else {
        await attempt(async () => client.post(`${path}/archive`));
        await attempt(async () => client.post(`${path}/restore`));
      }
    }
  };
  const done = Promise.all(Array.from({ length: writers }, async (_, writer) => write(writer))).then(() => undefined);
  return { done, changes: () => changes };
}

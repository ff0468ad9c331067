import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import type { Envelope } from '@tocsin/contracts';
import { eventually } from '@tocsin/testing';
import type { Release } from '../release.ts';
import { type Context, made, previous, succeed } from '../world.ts';

interface ChangedResource {
  id?: number;
}

/** The property of an event's data that has the changed resource, by type. */
const RESOURCES: Readonly<Record<string, string>> = {
  'incident.created': 'incident',
  'incident.updated': 'incident',
  'incident.archived': 'incident',
  'incident.restored': 'incident',
  'incident.imported': 'incident',
  'service.changed': 'service',
  'team.changed': 'team',
  'custom-field.changed': 'field',
  'user.changed': 'user',
};

/** Each change of this combination was published, and both releases can read every event. */
export async function checkPublishedEvents(context: Context): Promise<void> {
  const expected: [string, number][] = [
    ['incident.created', made(context, 'incident').id],
    ['service.changed', made(context, 'service').id],
    ['team.changed', made(context, 'team').id],
    ['custom-field.changed', made(context, 'field').id],
    ['user.changed', made(context, 'userId')],
  ];
  const earlier = previous(context, 'incident');
  if (earlier !== undefined) {
    for (const type of ['updated', 'archived', 'restored']) expected.push([`incident.${type}`, earlier.id]);
  }
  const { probe, world } = context;
  for (const [type, id] of expected) {
    const concerns = (event: Envelope) => {
      const data = event.data as Record<string, ChangedResource | undefined>;
      return event.type === type && data[RESOURCES[type] ?? '']?.id === id;
    };
    await eventually(() => probe.events.some(concerns), { what: `the event ${type} about ${id}` });
  }
  const problems = [world.releases.old, world.releases.new].flatMap((release) =>
    probe.events.flatMap((event) => unreadableParts(release, event)),
  );
  assert.deepEqual([...new Set(problems)], []);
}

/**
 * What a release cannot read of an event. A type that it does not know is no problem, as long as no queue brings it:
 * those become dead letters.
 */
function unreadableParts({ contracts, name }: Release, event: Envelope): string[] {
  const schemas: Readonly<
    Record<string, { safeParse(data: unknown): { error?: { issues: Issue[] } | undefined } } | undefined>
  > = contracts.eventData;
  const issues = [
    ...(contracts.envelope.safeParse(event).error?.issues ?? []),
    ...(schemas[event.type]?.safeParse(event.data).error?.issues ?? []),
  ];
  return issues.map(
    ({ path: place, message }) => `the ${name} release cannot read ${event.type}: ${place.join('.')}: ${message}`,
  );
}

interface Issue {
  path: PropertyKey[];
  message: string;
}

/** Events of other systems, in the form that each release documents, reach the incident. */
export async function checkConsumedEvents(context: Context): Promise<void> {
  const { client, probe, world, label } = context;
  const { id } = made(context, 'incident');
  let customers = 1_000 * (Number(label.slice(1)) + 1);
  for (const release of [world.releases.old, world.releases.new]) {
    customers += 1;
    await probe.publish(
      await example(release, 'customer-impact.updated', context, {
        incident_id: id,
        affected_customers: customers,
        as_of: now(),
      }),
    );
    const query = new URLSearchParams({ affected_customers_op: '=', affected_customers_value: String(customers) });
    await eventually(
      async () => {
        const list = await succeed(200, 'a list by impact', async () =>
          client.get(`/api/v1/incidents?${query.toString()}`),
        );
        return (list.body.incidents as { id: number }[]).some((incident) => incident.id === id);
      },
      { what: `the impact in the form of the ${release.name} release` },
    );
    const runId = `run-${label}-${release.name}`;
    await probe.publish(
      await example(release, 'investigation.run.updated', context, {
        incident_id: id,
        run_id: runId,
        started_at: now(),
        completed_at: now(),
      }),
    );
  }
  await eventually(
    async () => {
      const { body } = await succeed(200, 'the incident', async () => client.get(`/api/v1/incidents/${id}`));
      return (body.incident.investigation_summary as { run_count: number } | null)?.run_count === 2;
    },
    { what: 'the investigation runs in the forms of both releases' },
  );
}

const now = () => new Date().toISOString();

/** The documented example of a type, as an event about this installation. */
async function example(release: Release, type: string, { world }: Context, data: object): Promise<Envelope> {
  const file = path.join(release.root, 'docs/events/examples', `${type}.json`);
  const text = JSON.parse(await readFile(file, 'utf8')) as Envelope<object>;
  const { workspace } = world;
  return {
    ...text,
    id: randomUUID(),
    occurred_at: now(),
    workspace,
    data: { ...text.data, workspace_id: workspace.id, ...data },
  };
}

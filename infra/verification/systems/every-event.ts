import type { Client } from '@tocsin/testing';

/**
 * Makes changes that publish an event of every type, but for those of other systems.
 * @param client of an owner
 * @returns the incident as it was created, in a request `heard-1`
 */
export async function causeEveryEvent(client: Client): Promise<{ created_at: string }> {
  const { body: team } = await client.post('/api/v1/teams', { name: 'Payments' });
  await client.post('/api/v1/services', { name: 'Checkout', owner_team_id: team.team.id });
  await client.post('/api/v1/custom-fields', {
    name: 'Customers affected',
    field_type: 'number',
    default_value: 0,
    config: { min: 0, precision: 0 },
  });
  const { body } = await client.post(
    '/api/v1/incidents',
    { title: 'Down', service: 'checkout', regions: ['eu-west'] },
    { 'X-Request-ID': 'heard-1' },
  );
  const path = `/api/v1/incidents/${body.incident.id}`;
  await client.patch(path, { status: 'monitoring' }, { 'If-Service-Resource-Version': '1' });
  const note = await client.post(`${path}/timeline`, {
    at: '2026-11-20T09:35:00.000Z',
    body: 'Rolled back',
    tags: ['deploy'],
  });
  const event = `/api/v1/timeline/${note.body.event.id}`;
  await client.patch(event, { body: 'x'.repeat(5_000) }, { 'If-Service-Resource-Version': '1' });
  await client.patch(event, { body: 'Rolled back' }, { 'If-Service-Resource-Version': '2' });
  await client.delete(event);
  await client.post(`${event}/restore`);
  const { body: left } = await client.post(`${path}/follow-ups`, { title: 'Add an alarm' });
  const followUp = `/api/v1/follow-ups/${left.follow_up.id}`;
  await client.patch(followUp, { status: 'done' }, { 'If-Service-Resource-Version': '1' });
  await client.delete(followUp);
  await client.post(`${path}/postmortem`);
  await client.post(`${path}/timeline`, { body: 'Soon', type: 'update', next_update_at: '2026-11-20T10:30:00.000Z' });
  await client.post(`${path}/archive`);
  await client.post(`${path}/restore`);
  await client.post('/api/v1/imports/incidents', {
    incidents: [
      {
        ...{ external: { source: 'dispatch', id: '214' }, created_at: '2024-03-02T18:04:00.000Z' },
        ...{ title: 'Was down', status: 'closed', severity: 'sev1', author: { name: 'Ana' } },
        ...{ regions: ['eu-west'], values: { customers_affected: 12 } },
      },
    ],
  });
  const { incident: mistake } = (await client.post('/api/v1/incidents', { title: 'A mistake' })).body;
  const deletion = { reason: 'A mistake', confirmation: mistake.human_id };
  await client.post(`/api/v1/incidents/${mistake.id}/delete`, deletion);
  const person = { email: 'erased@acme.example', name: 'Erased' };
  const { user } = (await client.post('/api/v1/settings/users', person)).body;
  await client.post(`/api/v1/settings/users/${user.id}/erase`, { confirmation: person.email });
  return body.incident;
}

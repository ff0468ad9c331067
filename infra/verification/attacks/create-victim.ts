import { httpClient } from '@tocsin/testing';
import type { Target } from '../systems/target.ts';
import type { Victim } from './routes.ts';

/** A workspace as an ordinary one is: with a team, a service, a custom field and an incident. */
export async function createVictim({ gateway, createWorkspace }: Target): Promise<Victim> {
  const { host, token } = await createWorkspace();
  const client = httpClient(`http://${gateway.host}:${gateway.port}`, { Host: host, Authorization: `Bearer ${token}` });
  const create = async (path: string, body: unknown): Promise<{ id: number }> => {
    const answer = await client.post(`/api/v1/${path}`, body);
    if (answer.status !== 201) throw new Error(`a victim cannot create ${path}: ${answer.text}`);
    return Object.values(answer.body as Record<string, { id: number }>)[0] ?? { id: 0 };
  };
  const team = await create('teams', { name: 'Payments' });
  await create('services', { name: 'Checkout', owner_team_id: team.id });
  await create('custom-fields', { name: 'Customer', field_type: 'string' });
  const incident = await create('incidents', { title: 'Checkout is slow', service: 'checkout' });
  return { host, token, incidentId: incident.id };
}

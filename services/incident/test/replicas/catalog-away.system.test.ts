import { expect, test } from '@jest/globals';
import { eventually } from '@tocsin/testing';
import { describeWithServers } from '@tocsin/testing/suites';
import { running, runningSystem } from '../../../../infra/verification/systems/running.ts';

describeWithServers('while the catalog is unavailable', () => {
  const system = runningSystem();
  const client = running(async () => system.as());

  test('incidents are created and listed with replicated data, and it catches up after its restart', async () => {
    const team = await client.post('/api/v1/teams', { name: 'Payments' });
    const owner = team.body.team.id;
    await client.post('/api/v1/services', { name: 'Checkout', tier: 't0', owner_team_id: owner });
    await system.stopApp('catalog');

    const declared = await client.post('/api/v1/incidents', { title: 'Down', service: 'checkout' });
    expect(declared).toMatchObject({ status: 201, body: { incident: { team_id: owner } } });
    for (const filter of [`effective_team_id=${owner}`, 'service_tier=t0', 'sort=team']) {
      const { status, body } = await client.get(`/api/v1/incidents?${filter}`);
      expect([status, body.incidents?.length]).toEqual([200, 1]);
    }
    expect(await client.get('/api/v1/teams')).toMatchObject({ status: 503, body: { code: 'service_unavailable' } });

    await system.startApp('catalog');
    const newTeam = await eventually(async () => {
      const answer = await client.post('/api/v1/teams', { name: 'Late' });
      return answer.status === 201 ? answer : undefined;
    });
    // Until the incident service reaches the catalog again, it does not reject an unknown team.
    const accepted = await eventually(async () => {
      const answer = await client.post('/api/v1/incidents', { title: 'Again', team_id: newTeam.body.team.id });
      return answer.status === 503 ? undefined : answer;
    });
    expect(accepted.status).toBe(201);
    expect(accepted.body.incident.team_id).toBe(newTeam.body.team.id);
    // The catalog also learns which services incidents named meanwhile.
    await client.post('/api/v1/incidents', { title: 'Elsewhere', service: 'legacy' });
    const { body } = await client.get('/api/v1/services');
    expect(body.unmanaged_references).toEqual([{ value: 'legacy', incident_count: 1 }]);
  });
});

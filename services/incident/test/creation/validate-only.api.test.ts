import { describe, expect, test } from '@jest/globals';
import { serviceForFile } from '../service.ts';

const INCIDENTS = '/api/v1/incidents';
const VALIDATION = `${INCIDENTS}?validate_only=true`;

const service = await serviceForFile();
const { knex: database } = service;

let workspaces = 71_000;
const newWorkspace = (quotas: Record<string, number | null> = {}) => {
  const id = (workspaces += 1);
  return { id, client: service.as({ workspace: { id, quotas } }) };
};

describe('a create that is only validated', () => {
  test('takes no number from creates at the same time, in a new workspace, too', async () => {
    const { client } = newWorkspace();
    const send = async (index: number) =>
      client.post(index % 6 === 0 ? INCIDENTS : VALIDATION, { title: `Number ${index}`, service: 'checkout' });
    const answers = await Promise.all(Array.from({ length: 60 }, async (_, index) => send(index)));
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([201]));
    const references = answers.map(({ body }) => body.incident.human_id as string | null);
    const real = references.filter((reference) => reference !== null);
    const expected = Array.from({ length: 10 }, (_, index) => `INC-${index + 1}`);
    expect(real.sort()).toEqual(expected.sort());
  });

  test('fetches no document, requests no channel and counts no bytes', async () => {
    const { id, client } = newWorkspace({ storage_mb: 1 });
    const request = {
      title: 'Imported',
      doc_url: 'https://documents.example/1',
      import_source_timeline_event: true,
      create_slack_channel: true,
    };
    const { status, body } = await client.post(VALIDATION, request);
    expect([status, body]).toMatchObject([201, { incident: { id: null, revision: 1 }, source_timeline_import: null }]);
    const large = { title: 'Large', impact_summary: 'x'.repeat(10_000) };
    for (let count = 0; count < 150; count += 1) expect((await client.post(VALIDATION, large)).status).toBe(201);
    for (const table of ['incidents', 'incident_counters', 'outbox', 'service_references']) {
      expect(await database(table).where({ workspace_id: id }).select('workspace_id')).toEqual([]);
    }
    expect((await client.post(INCIDENTS, large)).body.incident.human_id).toBe('INC-1');
  });
});

import { expect } from '@jest/globals';
import type { Answer, Client } from '@tocsin/testing';

export const EXPORTS = '/api/v1/exports/incidents';

type Line = Record<string, unknown> & { kind: string };

export const linesOf = ({ text }: Answer): Line[] =>
  text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Line);

/** Incidents of a request. */
export const IMPORTED_AT_ONCE = 20;

/** Imports the incidents of an export as they are, and returns the outcomes. */
export async function importAll(client: Client, incidents: readonly Line[]): Promise<string[]> {
  const outcomes: string[] = [];
  for (let start = 0; start < incidents.length; start += IMPORTED_AT_ONCE) {
    const { text, body } = await client.post('/api/v1/imports/incidents', {
      incidents: incidents.slice(start, start + IMPORTED_AT_ONCE),
    });
    outcomes.push(
      ...(body.results ?? [{ outcome: text }]).map((result: { outcome: string }) =>
        result.outcome === 'refused' ? result : result.outcome,
      ),
    );
  }
  return outcomes;
}

/** Imports the pictures of an export, whose incidents are there. */
export async function importPictures(client: Client, lines: readonly Line[]): Promise<void> {
  for (const { external, event, filename, data } of lines.filter(({ kind }) => kind === 'picture')) {
    const { source, id } = external as Record<'source' | 'id', string>;
    const names = new URLSearchParams({ source, id, event: String(event), filename: String(filename) });
    const bytes = Buffer.from(String(data), 'base64');
    const answer = await client.post(`/api/v1/imports/pictures?${names.toString()}`, bytes, {
      'Content-Type': 'image/png',
    });
    expect([answer.status, answer.text]).toEqual([200, expect.any(String)]);
  }
}

/** Creates what the lines in front of the incidents say, as a person or a script would. */
export async function createFront(client: Client, lines: readonly Line[]): Promise<void> {
  const { configuration } = (await client.get('/api/v1/settings/configuration')).body;
  const wanted = lines.find(({ kind }) => kind === 'workspace')?.['configuration'] as Record<string, object[] | string>;
  const lists = Object.entries(wanted).map(([name, list]) => [
    name,
    Array.isArray(list)
      ? list.map((entry: object) =>
          Object.fromEntries(Object.entries(entry).filter(([key]) => !['order', 'id'].includes(key))),
        )
      : list,
  ]);
  const revision = { 'If-Service-Resource-Version': String(configuration.revision) };
  const replaced = await client.put('/api/v1/settings/configuration', Object.fromEntries(lists), revision);
  expect([replaced.status, replaced.text]).toEqual([200, expect.any(String)]);

  const ids = new Map<unknown, number>();
  const archivals: string[] = [];
  const create = async (path: string, { kind, archived, ...line }: Line, body: object) => {
    const given = Object.entries({ ...line, ...body }).filter(([, value]) => value !== null && value !== undefined);
    const answer = await client.post(`/api/v1/${path}`, Object.fromEntries(given));
    expect([answer.status, answer.text]).toEqual([201, expect.any(String)]);
    const { id } = answer.body[kind] as { id: number };
    ids.set(line['slug'], id);
    if (archived === true) archivals.push(`/api/v1/${path}/${id}`);
  };
  const of = (kind: string) => lines.filter((line) => line.kind === kind);
  for (const line of of('team')) await create('teams', line, { parent_team: undefined });
  for (const { slug, parent_team: parent } of of('team')) {
    if (parent === null) continue;
    const body = { parent_team_id: ids.get(parent) };
    const { status } = await client.patch(`/api/v1/teams/${ids.get(slug)}`, body, {
      'If-Service-Resource-Version': '1',
    });
    expect(status).toBe(200);
  }
  for (const line of of('service')) {
    const owner_team_id = ids.get(line['owner_team']);
    await create('services', line, { owner_team: undefined, owner_team_id });
  }
  for (const line of of('field')) {
    await create('custom-fields', line, { sort_order: undefined });
    const place = { sort_order: line['sort_order'] };
    await client.patch(`/api/v1/custom-fields/${ids.get(line['slug'])}`, place, { 'If-Service-Resource-Version': '1' });
  }
  for (const path of archivals) expect((await client.delete(path)).status).toBe(200);
}

/** Without what names the workspace, the time, the IDs of groups, and cursors. */
export const withoutNames = (lines: readonly Line[]) =>
  lines.map(
    (line) =>
      JSON.parse(
        JSON.stringify(
          line.kind === 'incident' ? line : { ...line, cursor: '', exported_at: '' },
          (name, value: unknown) => (line.kind === 'workspace' && ['id', 'slug'].includes(name) ? undefined : value),
        ),
      ) as unknown,
  );

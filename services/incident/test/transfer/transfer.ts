import type { Answer, Client } from '@tocsin/testing';
import type { TestService } from '../service.ts';
import { aUser } from '../snapshots.ts';

export const IMPORTS = '/api/v1/imports/incidents';
export const EXPORTS = '/api/v1/exports/incidents';

/** An item with all that it must have. */
export const anItem = (id: string, more: object = {}) => ({
  external: { source: 'dispatch', id },
  title: `Incident ${id}`,
  status: 'closed',
  severity: 'sev2',
  created_at: '2024-03-02T18:04:00.000Z',
  author: { name: 'Ana', email: 'ana@acme.example' },
  ...more,
});

export const anEvent = (external_id: string, more: object = {}) => ({
  external_id,
  type: 'note',
  body: `Body ${external_id}`,
  started_at: '2024-03-02T18:20:00.000Z',
  author: { name: 'Ben' },
  ...more,
});

let workspaces = 20_000;

/** A workspace of its own: the user 42 is Ana. */
export async function transferWorkspace(service: TestService) {
  const id = (workspaces += 1);
  const slug = `w${id}`;
  const users = [aUser(42, 'Ana'), aUser(43, 'Cy')];
  const version = await service.owners.change(id, (data) => void (data.users = users));
  const client = service.as({ workspace: { id, slug, version }, key: { name: 'mover', prefix: 'tcs_move' } });
  return { id, slug, client, ...transferOf(client) };
}

/** Imports and exports as a client does them. */
export function transferOf(client: Client) {
  const send = async (...incidents: unknown[]): Promise<Answer> => client.post(IMPORTS, { incidents });
  const linesOf = ({ text }: Answer) =>
    text
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line) as Record<string, unknown>);
  return {
    send,
    /** Imports items one by one, and returns the results. */
    // eslint-disable-next-line @typescript-eslint/no-explicit-any
    results: async (...incidents: unknown[]): Promise<any[]> => (await send(...incidents)).body.results,
    /** All lines of an export, or those behind a cursor. */
    lines: async (query = '') => linesOf(await client.get(`${EXPORTS}${query}`)),
    /** The lines of incidents. */
    exported: async () => linesOf(await client.get(EXPORTS)).filter(({ kind }) => kind === 'incident'),
  };
}

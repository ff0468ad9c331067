import type { AttackContext } from './attack.ts';
import type { SentRequest } from '../systems/send.ts';
import { columnsOf } from '../statements/copy-rows.ts';
import type { Workspace } from '../systems/workspaces.ts';

/**
 * Creates a resource by a request while an attack is prepared, and returns it.
 * @throws Error with the response if it is refused
 */
export async function create<Resource = { id: number }>(
  context: AttackContext,
  workspace: Workspace,
  { path, body }: Pick<SentRequest, 'path' | 'body'>,
): Promise<Resource> {
  const { outcome, text } = await context.send(workspace, {
    method: 'POST',
    path: `/api/v1/${path}`,
    body,
    kept: Number.MAX_SAFE_INTEGER,
  });
  if (outcome !== 201) throw new Error(`cannot prepare: ${path} is ${outcome} ${text.slice(0, 200)}`);
  return Object.values(JSON.parse(text) as Record<string, Resource>)[0] as Resource;
}

/** Sends a create of an incident, however it ends. */
export const postIncident = async (
  context: AttackContext,
  workspace: Workspace,
  body: unknown,
  headers: Record<string, string> = {},
) => context.send(workspace, { method: 'POST', path: '/api/v1/incidents', body, headers });

export const createIncident = async <Incident = { id: number }>(
  context: AttackContext,
  workspace: Workspace,
  body: object = {},
) => create<Incident>(context, workspace, { path: 'incidents', body: { title: 'Hostile', ...body } });

/** The slugs of the string fields that `createTextFields` creates. */
export const textSlug = (index: number) => `text_${index}`;

export const createTextFields = async (context: AttackContext, workspace: Workspace, count: number) =>
  Array.fromAsync({ length: count }, async (_, index): Promise<number> => {
    const body = { name: `Text ${index}`, slug: textSlug(index), field_type: 'string' };
    return (await create(context, workspace, { path: 'custom-fields', body })).id;
  });

/** The largest values that one incident may have: 256 KiB in all, in strings of 10,000 characters. */
export const LARGEST = { fields: 25, characters: 10_000 } as const;

export const largestValues = (fields: readonly number[], character = 'a') =>
  fields.map((field_id) => ({ field_id, value: character.repeat(LARGEST.characters) }));

/** Copies the values of an incident to the copies of that incident. */
export async function copyValues({ sql }: AttackContext, workspace: Workspace, id: number): Promise<void> {
  const columns = await columnsOf(sql, 'incident.incident_values');
  await sql.query(
    `insert into incident.incident_values (${columns.join(', ')})
     select ${columns.map((column) => (column === 'incident_id' ? 'copy.id' : `original.${column}`)).join(', ')}
     from incident.incident_values as original
     join incident.incidents as copy on copy.workspace_id = $1 and copy.id > $2
     where original.incident_id = $2`,
    [workspace.id, id],
  );
}

/** Fills the event feed of a workspace; the first hundred events have this many bytes, the others are small. */
export async function fillFeed(
  { sql }: AttackContext,
  workspace: Workspace,
  { count, bytes }: { count: number; bytes: number },
): Promise<void> {
  await sql.query(
    `insert into webhook.feed_workspaces (workspace_id, position, unrestricted_position, recorded_at) values ($1, $2, $2, now())
     on conflict (workspace_id) do update set position = $2, unrestricted_position = $2, recorded_at = now()`,
    [workspace.id, count],
  );
  await sql.query('delete from webhook.feed_events where workspace_id = $1', [workspace.id]);
  await sql.query(
    `insert into webhook.feed_events (workspace_id, position, event_id, type, resource, recorded_at, body)
     select $1, nth, gen_random_uuid(), case nth when $2 then 'team.changed' else 'incident.updated' end,
       case nth when $2 then 'team:1' else 'incident:1' end, now(),
       '{"padding":"' || repeat('a', case when nth <= 100 then $3::integer else 100 end) || '"}'
     from generate_series(1, $2::integer) as nth`,
    [workspace.id, count, bytes],
  );
}

import type { Attack, AttackContext } from '../attack.ts';
import type { Workspace } from '../../systems/workspaces.ts';
import { beginFlood } from '../flood.ts';
import { copyValues, create, createIncident } from '../hostile-data.ts';
import { copyIncident } from '../../statements/copy-rows.ts';
import { createTextFields, LARGEST, textSlug } from '../hostile-data.ts';

/** The longest text that a search accepts (contract: Incident lists). */
const LONGEST_SEARCH = 200;
/** Characters of a filter by which candidates are found; the whole filter is compared afterwards. */
const INDEXED = 64;

/**
 * Returns a text that a text of one repeated letter nearly contains everywhere. Where the other letter is decides for
 * which algorithms that is the most expensive search: those that compare from the beginning, from the end, or after
 * looking up the beginning.
 */
function nearly(length: number, { letter = 'a', variant = 0 } = {}): string {
  const position = [INDEXED, 0, length - 1][variant % 3] ?? 0;
  return `${letter.repeat(position)}b${letter.repeat(length - 1 - position)}`;
}

/** Text searches in texts of one repeated letter. */
export const searchAttacks: readonly Attack[] = [
  {
    name: 'timeline-search',
    what: 'searches of 200 characters in a timeline of 40 events of 65,536 times a, 8 at once',
    expects: [200],
    run: async (context, workspace) => searchTimeline(context, workspace, LONGEST_SEARCH),
  },
  {
    name: 'timeline-search-long',
    onlyFull: true,
    what: 'the same with searches of 30,001 characters, which are refused',
    expects: [400],
    run: async (context, workspace) => searchTimeline(context, workspace, 30_001),
  },
  {
    name: 'user-search',
    what: 'searches of 200 characters in 10,000 users whose names are 255 times a (by SQL), 8 at once',
    expects: [200],
    run: searchUsers,
  },
  {
    name: 'text-filters',
    what: '25 filters of 200 characters on 25 texts of 10,000 characters of each of 200 incidents, 8 at once',
    expects: [200],
    run: async (context, workspace) => filterTexts(context, workspace, { operands: longest(LARGEST.fields) }),
  },
  {
    name: 'text-filters-long',
    onlyFull: true,
    what: 'one filter of 100,000 characters on the same texts, which is refused',
    expects: [400],
    run: async (context, workspace) => filterTexts(context, workspace, { operands: [nearly(100_000)] }),
  },
  {
    name: 'text-filters-stored',
    onlyFull: true,
    what: 'filters of 200 characters on texts of 900,000 characters that an earlier release stored (by SQL)',
    // Counts over more than 32 MiB of texts are refused.
    expects: [200, 400],
    run: async (context, workspace) =>
      filterTexts(context, workspace, { operands: longest(2), storedCharacters: 900_000 }),
  },
];

async function searchUsers(context: AttackContext, workspace: Workspace): Promise<void> {
  await context.sql.query(
    `insert into gateway.users (workspace_id, email, name, seat, role, version)
     select $1, 'u' || number || '@x.example', repeat('a', 255), 'none', 'member', 1
     from generate_series(1, 10000) as number`,
    [workspace.id],
  );
  await beginFlood(context, { clients: 8 }, async (number) => {
    const search = nearly(LONGEST_SEARCH, { variant: number });
    return context.send(workspace, { path: `/api/v1/settings/users?limit=100&q=${search}` });
  });
}

async function searchTimeline(context: AttackContext, workspace: Workspace, length: number): Promise<void> {
  const incident = await createIncident(context, workspace);
  const event = { path: `incidents/${incident.id}/timeline`, body: { body: 'a'.repeat(65_536) } };
  for (let count = 0; count < 40; count += 1) await create(context, workspace, event);
  await beginFlood(context, { clients: 8 }, async (number) => {
    const search = nearly(length, { variant: number });
    return context.send(workspace, { path: `/api/v1/incidents/${incident.id}/timeline?limit=100&q=${search}` });
  });
}

/** Each field has a letter of its own; `a` first. */
const letter = (index: number) => String.fromCodePoint('a'.charCodeAt(0) + (index === 0 ? 0 : index + 1));

/** A search for each of so many fields. */
const longest = (fields: number) =>
  Array.from({ length: fields }, (_, index) => nearly(LONGEST_SEARCH, { letter: letter(index), variant: index }));

/** @param options.operands of the filters of the first fields */
async function filterTexts(
  context: AttackContext,
  workspace: Workspace,
  { operands, storedCharacters }: { operands: readonly string[]; storedCharacters?: number },
): Promise<void> {
  const isStored = storedCharacters !== undefined;
  const ids = await createTextFields(context, workspace, isStored ? 2 : LARGEST.fields);
  const values = ids.map((field_id, index) => ({ field_id, value: letter(index).repeat(LARGEST.characters) }));
  const { id } = await createIncident(context, workspace, { custom_field_values: values });
  const incidents = isStored ? context.choose(40, 10) : context.choose(200, 40);
  await copyIncident(context.sql, workspace.id, { id, count: incidents - 1 });
  await copyValues(context, workspace, id);
  if (isStored) await lengthenTexts(context, workspace, storedCharacters);
  const query = new URLSearchParams();
  for (const [index, value] of operands.entries())
    query.append('custom_filter', JSON.stringify({ slug: textSlug(index), operator: 'contains', value }));
  await beginFlood(context, { clients: 8 }, async () =>
    context.send(workspace, { path: `/api/v1/incidents?include_counts=true&${query.toString()}` }),
  );
}

/** The texts stay of one letter, so that everything that is derived from them stays true. */
async function lengthenTexts(context: AttackContext, workspace: Workspace, characters: number): Promise<void> {
  await context.sql.query(
    `update incident.incident_values set
       text_value = repeat(left(text_value, 1), $2), text_folded = repeat(left(text_folded, 1), $2),
       value = to_jsonb(repeat(left(text_value, 1), $2))
     where workspace_id = $1`,
    [workspace.id, characters],
  );
  await context.sql.query(
    `update incident.incidents as incident set custom_fields = (
       select jsonb_object_agg(slug, value) from incident.incident_values as value where value.incident_id = incident.id)
     where workspace_id = $1`,
    [workspace.id],
  );
}

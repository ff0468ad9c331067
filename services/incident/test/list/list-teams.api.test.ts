import { expect, test } from '@jest/globals';
import { freshWorkspace } from '../fields.ts';
import { serviceForFile } from '../service.ts';
import { aService, aTeam } from '../snapshots.ts';

/** More than one statement looks up. */
const TEAMS = 1_300;
/** Every so many teams, one has three incidents: two of its own, and one that it inherits from its service. */
const EVERY = 37;

/** In the order of names, which is not that of the IDs. */
const nameOf = (team: number) => `Team ${String((team * 7) % TEAMS).padStart(4, '0')}`;
const teams = Array.from({ length: TEAMS }, (_, index) => index + 1);
const withIncidents = teams.filter((team) => team % EVERY === 0).sort((a, b) => (nameOf(a) < nameOf(b) ? -1 : 1));

const service = await serviceForFile();
const { knex: database } = service;
const workspace = freshWorkspace(service);
await service.owners.change(workspace.id, (data) => {
  data.teams.push(...teams.map((id) => aTeam(id, { name: nameOf(id) })));
  data.services.push(...teams.map((id) => aService(id, { owner_team_id: id })));
});
await database.raw(
  `insert into incidents (workspace_id, number, title, severity, severity_mode, status, issue_type,
     customer_impact_status, created_at, created_by, team_id, service, service_folded)
   select ?, row_number() over (order by copy, team), 'x', 'sev3', 'manual', 'open', 'incident', 'unknown', now(), '42',
     case when copy < 3 then team end, 'service_' || team, 'service_' || team
   from unnest(?::bigint[]) as team cross join generate_series(1, 3) as copy`,
  [workspace.id, withIncidents],
);
await database.raw(
  `insert into incidents (workspace_id, number, title, severity, severity_mode, status, issue_type,
     customer_impact_status, created_at, created_by)
   select ?, 1000 + n, 'none', 'sev3', 'manual', 'open', 'incident', 'unknown', now(), '42' from generate_series(1, 3) as n`,
  [workspace.id],
);

interface Listed {
  title: string;
  team_id: number | null;
  service: string;
}

const teamOf = ({ title, team_id, service: slug }: Listed) =>
  title === 'none' ? null : (team_id ?? Number(slug.slice('service_'.length)));

async function read(query: Record<string, string>, betweenPages?: () => Promise<void>): Promise<(number | null)[]> {
  const listed: (number | null)[] = [];
  for (let cursor: string | undefined, more = true; more;) {
    const search = new URLSearchParams({ sort: 'team', ...query, ...(cursor !== undefined && { cursor }) });
    const { status, body } = await workspace.client.get(`/api/v1/incidents?${search.toString()}`);
    expect(status).toBe(200);
    listed.push(...body.incidents.map(teamOf));
    cursor = body.next_cursor;
    more = body.has_more;
    await betweenPages?.();
  }
  return listed;
}

const thrice = (ids: readonly (number | null)[]) => ids.flatMap((id) => [id, id, id]);

test('more teams than one statement looks up are sorted by name, over all pages', async () => {
  expect(await read({ direction: 'asc', limit: '7' })).toEqual(thrice([...withIncidents, null]));
  expect(await read({ direction: 'desc', limit: '10' })).toEqual(thrice([...withIncidents.toReversed(), null]));
});

test('filters apply to all of them', async () => {
  const some = withIncidents.slice(3, 6);
  const search = new URLSearchParams(some.map((id): [string, string] => ['effective_team_id', String(id)]));
  search.set('sort', 'team');
  search.set('direction', 'asc');
  const { body } = await workspace.client.get(`/api/v1/incidents?${search.toString()}`);
  expect(body.incidents.map(teamOf)).toEqual(thrice(some));
});

test('a list goes on after a team that has been renamed, and lists see new names at once', async () => {
  let pages = 0;
  const [first = 0, second = 0, ...rest] = withIncidents;
  const listed = await read({ direction: 'asc', limit: '3' }, async () => {
    pages += 1;
    if (pages > 1) return;
    await service.owners.change(workspace.id, (data) => {
      data.teams = data.teams.map((team) => (team.id === first ? { ...team, name: 'zzz' } : team));
    });
  });
  expect(listed).toEqual(thrice([first, second, ...rest, first, null]));
  expect((await read({ direction: 'desc', limit: '100' })).slice(0, 3)).toEqual(thrice([first]));
});

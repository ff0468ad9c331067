import { expect, test } from '@jest/globals';
import { unnamedWorkspaces } from '../../statements/unnamed-workspaces.ts';

const TABLES = new Set(['teams', 'services', 'members']);
const unnamed = (text: string) => unnamedWorkspaces(text, TABLES);

test.each([
  'select id from teams where workspace_id = $1 and id = $2',
  'select id from teams where $1 = teams.workspace_id',
  'select id from teams as t where t.workspace_id = any((select $1::bigint[])::bigint[])',
  'select id from teams where workspace_id in ($1, $2)',
  'select id from teams where (workspace_id = $1 and id = $2) or (slug = $3 and workspace_id = $1)',
  'select 1 from services s left join teams t on t.workspace_id = s.workspace_id and t.id = s.team_id where s.workspace_id = $1',
  'select 1 from services join teams using (workspace_id) where services.workspace_id = $1',
  'select 1 from unnest($1::bigint[]) as asked (id) join teams on teams.workspace_id = asked.id',
  'select 1 from workspaces w join teams t on t.workspace_id = w.id where w.slug = $1',
  'select 1 from (select $1 as id) a cross join lateral (select 1 from teams where workspace_id = a.id limit 1) b',
  'with due as (select workspace_id, id from teams where workspace_id = $1) update teams set x = 1 from due where teams.workspace_id = due.workspace_id and teams.id = due.id',
  'with teams as (select 1 as id) select id from teams',
  'insert into teams (workspace_id, name) values ($1, $2) on conflict (workspace_id, slug) do nothing',
  'delete from members using asked where members.workspace_id = asked.workspace_id',
  'select id from tiers where id = $1',
])('names the workspace: %s', (text) => expect(unnamed(text)).toEqual([]));

test.each([
  ['select id from teams where id = $1', ['teams']],
  ['select id from teams where workspace_id > $1', ['teams']],
  ['select id from teams where workspace_id = $1 or id = $2', ['teams']],
  ['select id from teams where not workspace_id = $1', ['teams']],
  ['select id from teams where workspace_id <> all($1::bigint[])', ['teams']],
  ['select 1 from services s join teams t on t.id = s.team_id where s.workspace_id = $1', ['teams']],
  ['select 1 from services join teams using (workspace_id)', ['services', 'teams']],
  [
    'select 1 from services s where workspace_id = $1 and exists (select from teams t where t.id = s.team_id)',
    ['teams'],
  ],
  ['select 1 from services where workspace_id = $1 union all select 1 from teams', ['teams']],
  ['with all_teams as (select id from teams) select id from all_teams', ['teams']],
  ['update teams set name = $2 where id = $1', ['teams']],
  ['delete from members where team_id = $1', ['members']],
  ['insert into teams (name) values ($1)', ['teams']],
  ['insert into members (workspace_id, team_id) select $1, id from teams', ['teams']],
])('does not name the workspace: %s', (text, tables) => expect(unnamed(text)).toEqual(tables));

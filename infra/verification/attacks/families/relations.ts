import type { Attack, AttackContext } from '../attack.ts';
import type { Workspace } from '../../systems/workspaces.ts';
import { copyIncident } from '../../statements/copy-rows.ts';
import { beginFlood } from '../flood.ts';
import { createIncident } from '../hostile-data.ts';

/** As many as are visited to find a circle (contract: Relations). */
const CHAIN = 1_000;
const OTHERS = 200;

/** Incidents that are duplicates of each other. */
export const relationAttacks: readonly Attack[] = [
  {
    name: 'duplicate-chains',
    what: 'a chain of 1,000 duplicates (by SQL): more at its top and in the middle, both halves of circles, lists; 20 at once',
    // They wait for each other.
    expects: [200, 201, 400, 409, 'silent'],
    run: async (context, workspace) => {
      const { chain, others } = await buildChain(context, workspace);
      const relate = async (one: number, other: number) =>
        context.send(workspace, {
          method: 'POST',
          path: `/api/v1/incidents/${one}/relations`,
          body: { type: 'duplicate_of', incident_id: other },
        });
      await beginFlood(context, { clients: 20, total: 2_000, perSecond: 50 }, async (number) => {
        const [one = 0, other = 0] = [others[number % OTHERS], others[(number + 1) % OTHERS]];
        switch (number % 4) {
          case 0:
            // All walk along the chain, and the 101st is one too many.
            return relate(one, chain[0] ?? 0);
          case 1: {
            const { outcome } = await relate(chain.at(-1) ?? 0, chain[number % 100] ?? 0);
            context.check(outcome !== 201 && outcome !== 200, 'a circle of duplicates was closed');
            return;
          }
          case 2: {
            const answers = await Promise.all([relate(one, other), relate(other, one)]);
            const related = answers.filter(({ outcome }) => outcome === 200 || outcome === 201).length;
            context.check(related < 2, 'two incidents are duplicates of each other');
            return;
          }
          default:
            return context.send(workspace, { path: `/api/v1/incidents?duplicate=${number % 8 === 3}&limit=100` });
        }
      });
    },
  },
];

/** Each of the chain is a duplicate of the next. Returns the IDs of its incidents, and of others. */
async function buildChain(context: AttackContext, workspace: Workspace) {
  const { sql } = context;
  const { id } = await createIncident(context, workspace);
  await copyIncident(sql, workspace.id, { id, count: CHAIN + OTHERS });
  const { rows } = await sql.query<{ id: number }>(
    'select id::integer from incident.incidents where workspace_id = $1 and id > $2 order by id',
    [workspace.id, id],
  );
  const ids = rows.map((row) => row.id);
  const chain = ids.slice(0, CHAIN);
  await sql.query(
    `with pair as (
       select nextval('incident.incident_relations_id_seq') as id, one, other
       from unnest($1::bigint[], $2::bigint[]) as pair (one, other)
     ), marked as (update incident.incidents set is_duplicate = true where workspace_id = $3 and id = any($1::bigint[]))
     insert into incident.incident_relations (workspace_id, id, incident_id, type, related_id, created_at, created_by)
     select $3::bigint, id, one, 'duplicate_of', other, now(), '1' from pair
     union all select $3::bigint, id, other, 'duplicated_by', one, now(), '1' from pair`,
    [chain.slice(0, -1), chain.slice(1), workspace.id],
  );
  return { chain, others: ids.slice(CHAIN) };
}

import type { Knex } from '@tocsin/runtime';
import type { Incident } from '../../domain/incident.ts';
import { INCIDENT_COLUMNS, type IncidentRow, toIncident } from '../incident-row.ts';
import { conditions, isSelective, statusCondition } from './conditions.ts';
import { customConditions, customProbes } from './custom-conditions.ts';
import { customSteps } from './custom-steps.ts';
import { type Narrowed, narrowTexts } from './narrow.ts';
import { PLAIN_STEPS } from './plain-steps.ts';
import type { ListQuestion } from './question.ts';
import { all, run, Sql, sql } from './sql.ts';
import type { Key, Place, Step } from './steps.ts';

/** A place in a list: in which of its sort's steps, and where there. */
export interface ListPlace extends Place {
  step: number;
}

export interface ListedIncident {
  incident: Incident;
  place: ListPlace;
}

type Row = IncidentRow & { tie: number; key_0?: Key; key_1?: Key };

const COLUMNS = new Sql(INCIDENT_COLUMNS.map((column) => `i.${column}`).join(', '), []);
const PLACES = [sql`tie`, sql`tie, key_0`, sql`tie, key_0, key_1`];

export function stepsOf(question: ListQuestion): Step[] {
  const { sort } = question;
  return sort.key === 'custom'
    ? customSteps(question, sort.field, sort.direction)
    : PLAIN_STEPS[sort.key](question, sort.direction);
}

/** Up to `limit` incidents of a list, after a place in it. @param asked narrowed by `narrowMrr` */
export async function readPage(
  db: Knex,
  asked: Narrowed,
  { after, limit }: { after: ListPlace | undefined; limit: number },
): Promise<ListedIncident[]> {
  const found = new Map<number, ListedIncident>();
  const selective = isSelective(asked.question) || asked.conditions.length > 0;
  const look: Look = { asked, isNarrowed: false };
  for (const [index, step] of stepsOf(asked.question).entries()) {
    if (index < (after?.step ?? 0)) continue;
    let from: Place | undefined = index === after?.step ? after : undefined;
    for (let isMore = true; isMore && found.size < limit;) {
      const wanted = limit - found.size;
      const rows = await readStep(db, { look, selective, step, after: from, limit: wanted });
      for (const row of rows) {
        const keys = step.keysOf([row.key_0, row.key_1].slice(0, step.keys) as Key[]);
        from = { tie: row.tie, keys };
        // An incident whose value goes meanwhile is met again among those without one: once on a page is enough.
        if (!found.has(row.id)) found.set(row.id, { incident: toIncident(row), place: { step: index, ...from } });
      }
      isMore = rows.length === wanted;
    }
  }
  return [...found.values()];
}

/** How far to look for what custom filters let through, before everything that they let through is looked for. */
const FIRST_LOOK = 1_000;

/** What is looked for on a page, step after step. */
interface Look {
  asked: Narrowed;
  /** Whether that is as narrow as it gets. */
  isNarrowed: boolean;
}

interface Reading {
  look: Look;
  selective: boolean;
  step: Step;
  after: Place | undefined;
  limit: number;
}

async function readStep(db: Knex, { look, selective, step, after, limit }: Reading): Promise<Row[]> {
  const met = plainConditions(look.asked);
  // What nothing is left out of is read at once; else the IDs come first, for which an index alone is often enough.
  if (step.withColumns !== undefined && !selective) {
    return run<Row>(db, step.withColumns({ conditions: met, after, limit }, COLUMNS));
  }
  const place = PLACES[step.keys] ?? sql`tie`;
  const read = async (ids: Sql) =>
    run<Row>(
      db,
      sql`
        select ${COLUMNS}, ${place}
        from (${ids}) as page
        join incidents as i on i.id = page.id
        order by ${step.order}`,
    );
  const { custom } = look.asked.question;
  // Once few are known to be left, they are read at once.
  if (custom.length > 0 && look.asked.conditions.length === 0) {
    // Postgres cannot tell how much such a filter lets through. What is frequent is found fastest along the order, one
    // incident after the other; and only what is not, by looking for all of it.
    const first = step.statement({ conditions: met, after, limit: FIRST_LOOK });
    const rows = await read(sql`
      select i.id, ${place} from (${first}) as i
      where ${all(customProbes(look.asked.question))}
      order by ${step.order}
      limit ${limit}`);
    if (rows.length === limit) return rows;
  }
  if (!look.isNarrowed) {
    look.isNarrowed = true;
    look.asked = await narrowTexts(db, look.asked);
  }
  const left = [...plainConditions(look.asked), ...customConditions(look.asked.question)];
  return read(step.statement({ conditions: left, after, limit }));
}

const plainConditions = ({ question, conditions: more }: Narrowed): Sql[] => [
  ...conditions(question, 'shown'),
  ...statusCondition(question),
  ...more,
];

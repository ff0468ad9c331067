import { currentViewer, EVERY_RESTRICTED } from './viewer.ts';
import { Sql, sql } from '../../shared/store/sql.ts';

/** The one condition. @param names the parameter with those of the request */
const condition = (incident: string, names: string): string =>
  `(${incident}.viewers is null or ${incident}.viewers && ${names}::text[])`;

const composed = (incident: string): Sql => new Sql(condition(incident, '?'), [currentViewer()]);

/**
 * Whether the request may see an incident, as a condition of a prepared statement.
 * @param incident the name of the table or its alias
 * @param parameter the number of the parameter that is `currentViewer()`
 */
export const visible = (incident: string, parameter: number): string => condition(incident, `$${parameter}`);

/** The same for a composed statement of knex, also of a row that is about no incident. */
export const visibleOrNone = (incident: string): string => condition(incident, '?');

/** The same for incidents `i` of a composed statement. */
export const isVisible = (): Sql => composed('i');

/**
 * The same, where an index has all that the statement needs of other incidents, which it then reads alone. For those who
 * see all restricted incidents, or none, it is a short text, since lists are planned for each request.
 */
export function isVisibleByIndex(workspaceId: number): Sql {
  const viewer = currentViewer();
  if (viewer.length === 0) return sql`/* viewers */ not i.restricted`;
  if (viewer.includes(EVERY_RESTRICTED[0])) return sql`/* viewers */ true`;
  return sql`(not i.restricted or i.id in (select visible_restricted(${workspaceId}, ${viewer})))`;
}

/** The same for the incident of a row of another table, such as a follow-up; its ID is a column of that. */
export const isOfVisibleText = (incidentId: string, parameter: number): string => `exists (
  select from incidents as incident_of where incident_of.workspace_id = $1 and incident_of.id = ${incidentId}
    and ${visible('incident_of', parameter)})`;

export const isOfVisible = (workspaceId: number, incidentId: Sql): Sql => sql`exists (
  select from incidents as i where i.workspace_id = ${workspaceId} and i.id = ${incidentId} and ${isVisible()})`;

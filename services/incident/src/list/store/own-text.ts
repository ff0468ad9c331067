import { containsText } from '../../shared/store/contains-text.ts';
import { type Sql, sql } from '../../shared/store/sql.ts';

/** A reference to an incident by a part of its number, folded. */
const REFERENCE = /^inc-([1-9]\d*)$/;

// A text that an earlier release wrote is not folded.
const titleOf = (incident: Sql) => sql`coalesce(${incident}.title_folded, lower(${incident}.title))`;
const summaryOf = (incident: Sql) =>
  sql`coalesce(${incident}.impact_summary_folded, lower(${incident}.impact_summary))`;

/** Whether the title, the impact summary or the beginning of the human ID of an incident is or has the folded text. */
export function hasOwnText(incident: Sql, text: string): Sql {
  const digits = REFERENCE.exec(text)?.[1];
  const isReferred = digits === undefined ? sql`` : sql`or starts_with(${incident}.number::text, ${digits})`;
  return sql`(${containsText(titleOf(incident), text)} or ${containsText(summaryOf(incident), text)} ${isReferred})`;
}

/** The bytes that `hasOwnText` compares. */
export const ownTextBytes = (incident: Sql) =>
  sql`(octet_length(${titleOf(incident)}) + octet_length(${summaryOf(incident)}))`;

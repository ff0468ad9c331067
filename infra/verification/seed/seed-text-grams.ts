import type pg from 'pg';
import { fold } from '@tocsin/contracts';
import { textGrams } from '../../../services/incident/src/administration.ts';

/** Rows in one statement. */
const BATCH = 20_000;

/**
 * Creates the temporary table `text_grams`: the texts that incidents have in custom fields, each once for its field,
 * with the grams by which the incident service searches them.
 * @returns the number of rows
 */
export async function createTextGrams(client: pg.Client): Promise<number> {
  await client.query('create temporary table text_grams (field_id bigint, text text, grams bigint[])');
  const { rows } = await client.query<{ field_id: string; text: string }>(`
    select distinct field.id as field_id, incident.custom_fields ->> field.slug as text
    from replica_fields as field
    join incidents as incident on incident.workspace_id = field.workspace_id and incident.custom_fields ? field.slug
    where field.definition ->> 'field_type' = 'string'`);
  for (let start = 0; start < rows.length; start += BATCH) {
    const batch = rows.slice(start, start + BATCH);
    await client.query(
      `insert into text_grams (field_id, text, grams)
       select field_id, text, grams::bigint[]
       from unnest($1::bigint[], $2::text[], $3::text[]) as entry (field_id, text, grams)`,
      [
        batch.map(({ field_id }) => field_id),
        batch.map(({ text }) => text),
        batch.map(({ field_id, text }) => `{${textGrams(Number(field_id), fold(text)).join(',')}}`),
      ],
    );
  }
  await client.query('analyze text_grams');
  return rows.length;
}

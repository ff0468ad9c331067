/**
 * The texts that incidents have in fields, each once, with its grams as `store/text-grams.ts` of the incident service makes
 * them. Seeded texts are ASCII.
 */
export const GRAMS = `
  create temporary table text_grams as
  with texts as (
    select distinct field.id as field_id, incident.custom_fields ->> field.slug as text
    from replica_fields as field
    join incidents as incident on incident.workspace_id = field.workspace_id and incident.custom_fields ? field.slug
    where field.definition ->> 'field_type' = 'string'
  )
  select field_id, text, array(
    select distinct field_id * 65536 + gram % 65536
    from generate_series(1, length(text)) as place
    cross join lateral (
      select ascii(substr(folded, place)) as a, ascii(substr(folded, place + 1)) as b, ascii(substr(folded, place + 2)) as c
      from lower(text) as folded) as letters
    cross join lateral unnest(array[
      1021 + a,
      case when b > 0 then (2 * 1021 + a) * 1021 + b end,
      case when c > 0 then ((3 * 1021 + a)::bigint * 1021 + b) * 1021 + c end]) as gram
    where gram is not null) as grams
  from texts`;

import type { CustomField, Incident, SavedViews } from '@tocsin/sdk';
import { useGet, useList } from '../api/hooks.ts';
import type { ListSearch } from '../incidents/incident-filters.ts';
import { readSearch } from '../incidents/saved-views.tsx';

/** Incidents of which those with a value are counted. */
const MAX_COUNTED = 100;

export interface FieldUse {
  text: string;
  /** The list of incidents that it is; undefined: there is none. */
  search?: ListSearch | undefined;
}

const isValue = (value: unknown) =>
  value !== undefined && value !== null && !(Array.isArray(value) && value.length === 0);

/** Where fields are used: in the latest incidents, which one request reads for all fields, and in the user's own views. */
export function useFieldUses(): (field: CustomField) => readonly FieldUse[] {
  const { data, hasNextPage } = useList<Incident>('/incidents', 'incidents', { limit: MAX_COUNTED });
  const { saved_views: saved } = useGet<{ saved_views: SavedViews }>('/users/me/views').data ?? {};
  const views = (saved?.views ?? []).map(({ name, search }) => ({ name, search: readSearch(search) }));
  return ({ slug, field_type: type, archived_at: archived }) => {
    const ofViews = views
      .filter(({ search }) => search.fields?.some((filter) => filter.slug === slug) === true)
      .map(({ name, search }) => ({ text: `Your view “${name}”`, search }));
    if (data === undefined) return ofViews;
    const count = data.rows.filter(({ custom_fields: values }) => isValue(values[slug])).length;
    const of = hasNextPage
      ? ` of the latest ${data.rows.length} incidents`
      : ` ${count === 1 ? 'incident' : 'incidents'}`;
    const text = `${count === 0 ? (hasNextPage ? 'None' : 'No') : count.toLocaleString('en')}${of}`;
    // Nobody can filter by a field that is archived, or by JSON.
    const isListed = archived === undefined && type !== 'json' && (count > 0 || hasNextPage);
    const search = { view: 'all', fields: [{ slug, operator: 'has_value', value: true }] } as const;
    return [{ text, search: isListed ? { ...search, fields: [...search.fields] } : undefined }, ...ofViews];
  };
}

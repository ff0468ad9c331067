import type { CustomFieldDefinition } from '@tocsin/schemas';

/** A workspace's custom fields, including archived ones, in display order. */
export interface Fields {
  all: readonly CustomFieldDefinition[];
  find(id: number): CustomFieldDefinition | undefined;
  findBySlug(slug: string): CustomFieldDefinition | undefined;
}

export function fieldsOf(definitions: readonly CustomFieldDefinition[]): Fields {
  const all = definitions.toSorted(
    (a, b) => a.sort_order - b.sort_order || a.created_at.localeCompare(b.created_at) || a.id - b.id,
  );
  const byId = new Map(all.map((field) => [field.id, field]));
  const bySlug = new Map(all.map((field) => [field.slug, field]));
  return { all, find: (id) => byId.get(id), findBySlug: (slug) => bySlug.get(slug) };
}

import type { ExportedResources } from '@tocsin/schemas';
import type { Knex } from '@tocsin/postgres';
import { exportedPage } from '@tocsin/versioned-resources';
import { fieldStore } from '../store/field-store.ts';

/** A definition has 64 KiB at most. */
const PAGE = 20;

/** Returns a page of definitions for an export: what a create takes (contract: Export). */
export const exportFields = async (database: Knex, workspaceId: number, after: string): Promise<ExportedResources> =>
  exportedPage(fieldStore(database, workspaceId), { size: PAGE, after }, (fields) =>
    fields.map((field) => ({
      slug: field.slug,
      name: field.name,
      field_type: field.fieldType,
      description: field.description,
      default_value: field.defaultValue,
      config: field.config,
      required: field.required,
      sort_order: field.sortOrder,
      category: field.category,
      visibility_level: field.visibilityLevel,
      show_on_creation: field.showOnCreation,
      required_on_creation: field.requiredOnCreation,
      auto_add_to_layout: field.autoAddToLayout,
      external_source: field.externalSource,
      external_id: field.externalId,
      archived: field.archivedAt !== null,
    })),
  );

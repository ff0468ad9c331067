import type { FieldType } from '@tocsin/contracts';
import { invalid } from '@tocsin/http';
import { versionStore } from '@tocsin/runtime';
import { checkField } from '../domain/check-field.ts';
import { BLANK, type Field } from '../domain/field.ts';
import { slugOf } from '../domain/slug.ts';
import { fieldStore } from '../store/field-store.ts';
import type { Caller, Tools } from './context.ts';
import { propertiesOf, type WireProperties } from './properties.ts';
import { publishing } from './publish.ts';

export interface DefineCommand extends Caller {
  body: WireProperties & { name: string; slug?: string | undefined; field_type: FieldType };
}

/**
 * Defines a custom field (contract: Custom fields).
 * @throws DomainError `unknown_field` or `invalid_request` for what does not agree with the type; `duplicate_slug`
 */
export async function defineField(tools: Tools, command: DefineCommand): Promise<Field> {
  const { body } = command;
  const workspaceId = command.principal.workspace.id;
  const said = { ...BLANK, ...propertiesOf(body), name: body.name.trim(), fieldType: body.field_type };
  checkField(said);
  const suggested = slugOf(said.name);
  if (body.slug === undefined && suggested === undefined) {
    throw invalid('slug', 'The name has no letter from a to z to make a slug from: give one');
  }
  return publishing(tools, command, async (trx) => {
    const store = fieldStore(trx, workspaceId);
    // First of all, for its lock: slugs and sort orders are given out one at a time.
    const version = await versionStore(trx, workspaceId).next();
    const now = tools.clock.now();
    const field = await store.insert(
      {
        ...said,
        workspaceId,
        revision: 1,
        slug: body.slug ?? (await store.freeSlug(suggested ?? '')),
        sortOrder: await store.nextSortOrder(),
        createdAt: now,
        updatedAt: now,
        archivedAt: null,
      },
      version,
    );
    return { field, version };
  });
}

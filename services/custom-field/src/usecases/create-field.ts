import type { FieldType } from '@tocsin/contracts';
import { outbox } from '@tocsin/messaging';
import { type Caller, chooseSlug, runVersionedTransaction } from '@tocsin/resources';
import { checkField } from '../domain/check-field.ts';
import { DEFAULT_PROPERTIES, type Field } from '../domain/field.ts';
import { FIELD_SLUG } from '../domain/slug-rule.ts';
import { fieldStore } from '../store/field-store.ts';
import type { Dependencies } from './context.ts';
import { fieldChanged } from './events.ts';
import { fieldProperties, type WireField } from './properties.ts';

export interface CreateFieldCommand extends Caller {
  body: WireField & { name: string; slug?: string | undefined; field_type: FieldType };
}

/**
 * Creates the definition of a custom field (contract: Custom fields).
 * @throws DomainError `unknown_field` or `invalid_request` for properties that contradict each other;
 *   `invalid_resource_state` for the quota or the external ID; `duplicate_slug`
 */
export async function createField(dependencies: Dependencies, command: CreateFieldCommand): Promise<Field> {
  const { principal, body } = command;
  const workspaceId = principal.workspace.id;
  const properties = {
    ...DEFAULT_PROPERTIES,
    ...fieldProperties(body),
    name: body.name.trim(),
    fieldType: body.field_type,
  };
  checkField(properties);
  const slugChoice = chooseSlug(body, FIELD_SLUG);
  return runVersionedTransaction(dependencies, command, async ({ trx, nextVersion }) => {
    const store = fieldStore(trx, workspaceId);
    // First, for its lock: concurrent creates of a workspace choose their slug and sort order one after the other.
    const version = await nextVersion();
    await store.checkQuota({ workspace: principal.workspace, isNew: true });
    if (properties.externalId !== null) await store.checkExternalId(properties.externalId);
    const now = dependencies.clock.now();
    const field = await store.insert(
      {
        ...properties,
        workspaceId,
        revision: 1,
        slug: await store.resolveSlug(slugChoice),
        sortOrder: await store.nextSortOrder(),
        createdAt: now,
        updatedAt: now,
        archivedAt: null,
      },
      version,
    );
    await outbox(trx).add(fieldChanged(command, field, version));
    return field;
  });
}

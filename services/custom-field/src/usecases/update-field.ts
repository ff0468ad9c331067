import { checkRevision } from '@tocsin/http';
import { outbox } from '@tocsin/messaging';
import { type Caller, changedProperties, checkNotArchived, revise, runVersionedTransaction } from '@tocsin/resources';
import { checkField } from '../domain/check-field.ts';
import type { Field, FieldProperties } from '../domain/field.ts';
import { fieldStore } from '../store/field-store.ts';
import type { Dependencies } from './context.ts';
import { fieldChanged } from './events.ts';
import { fieldProperties, type WireField } from './properties.ts';

export interface UpdateFieldCommand extends Caller {
  id: number;
  expectedRevision: number;
  body: WireField;
}

/**
 * Changes properties of an active definition (contract: Custom fields). Values equal to the stored ones change nothing.
 * @throws DomainError `not_found`, `invalid_resource_state`, `precondition_failed`, `unknown_field` or `invalid_request`, in
 *   this order
 */
export async function updateField(dependencies: Dependencies, command: UpdateFieldCommand): Promise<Field> {
  const { principal, id, expectedRevision, body } = command;
  return runVersionedTransaction(dependencies, command, async ({ trx, nextVersion }) => {
    const store = fieldStore(trx, principal.workspace.id);
    const current = await store.getForUpdate(id);
    checkNotArchived(current);
    checkRevision(current.revision, expectedRevision);
    const changed = changedProperties<FieldProperties>(current, fieldProperties(body));
    if (changed === undefined) return current;

    const field = revise(current, changed, dependencies.clock.now());
    checkField(field, current);
    const version = await nextVersion();
    if (typeof changed.externalId === 'string') await store.checkExternalId(changed.externalId, id);
    await store.update(field, version);
    await outbox(trx).add(fieldChanged(command, field, version));
    return field;
  });
}

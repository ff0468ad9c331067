import { outbox } from '@tocsin/messaging';
import { archive, type Caller, restore, runVersionedTransaction } from '@tocsin/resources';
import type { Instant } from '@tocsin/runtime';
import type { Field } from '../domain/field.ts';
import { fieldStore } from '../store/field-store.ts';
import type { Dependencies } from './context.ts';
import { fieldChanged } from './events.ts';

export interface ArchiveFieldCommand extends Caller {
  id: number;
}

/**
 * Archives a definition: incidents keep their values of it and get no new ones (contract: Custom fields).
 * @throws DomainError `not_found`; `invalid_resource_state` if it is already archived
 */
export const archiveField = async (dependencies: Dependencies, command: ArchiveFieldCommand) =>
  changeState(dependencies, command, archive);

/**
 * Restores an archived definition.
 * @throws DomainError `not_found`; `invalid_resource_state` if it is not archived, or for the quota
 */
export const restoreField = async (dependencies: Dependencies, command: ArchiveFieldCommand) =>
  changeState(dependencies, command, restore);

async function changeState(
  dependencies: Dependencies,
  command: ArchiveFieldCommand,
  transition: (field: Field, now: Instant) => Field,
): Promise<Field> {
  return runVersionedTransaction(dependencies, command, async ({ trx, nextVersion }) => {
    const store = fieldStore(trx, command.principal.workspace.id);
    const current = await store.getForUpdate(command.id);
    const field = transition(current, dependencies.clock.now());
    const version = await nextVersion();
    if (field.archivedAt === null) await store.checkQuota({ workspace: command.principal.workspace, isNew: false });
    await store.update(field, version);
    await outbox(trx).add(fieldChanged(command, field, version));
    return field;
  });
}

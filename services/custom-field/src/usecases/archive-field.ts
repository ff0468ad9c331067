import { type Instant, versionStore } from '@tocsin/runtime';
import { archive, type Field, restore } from '../domain/field.ts';
import { fieldStore } from '../store/field-store.ts';
import type { Caller, Tools } from './context.ts';
import { publishing } from './publish.ts';

export interface ArchiveCommand extends Caller {
  id: number;
}

/**
 * Archives a definition: incidents keep their values of it, and get no new ones (contract: Custom fields).
 * @throws DomainError `not_found`; `invalid_resource_state` when it is archived already
 */
export const archiveField = async (tools: Tools, command: ArchiveCommand) => move(tools, command, archive);

/** @throws DomainError `not_found`; `invalid_resource_state` when it is not archived */
export const restoreField = async (tools: Tools, command: ArchiveCommand) => move(tools, command, restore);

async function move(tools: Tools, command: ArchiveCommand, to: (field: Field, now: Instant) => Field): Promise<Field> {
  const workspaceId = command.principal.workspace.id;
  return publishing(tools, command, async (trx) => {
    const store = fieldStore(trx, workspaceId);
    const field = to(await store.getForUpdate(command.id), tools.clock.now());
    const version = await versionStore(trx, workspaceId).next();
    await store.update(field, version);
    return { field, version };
  });
}

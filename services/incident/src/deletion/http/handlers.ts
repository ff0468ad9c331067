import type { CommandDependencies } from '../../incidents/run-command.ts';
import { deleteIncident } from '../delete-incident.ts';
import type { DeletionApi } from './contracts.ts';

export const deletionHandlers = (dependencies: CommandDependencies): DeletionApi => ({
  deleteIncident: async ({ params: { id }, body, ...caller }) => {
    await deleteIncident(dependencies, { ...caller, ...body, id });
    return {};
  },
});

import { close } from '../domain/lifecycle.ts';
import type { Tools } from './context.ts';
import { type TransitionCommand, type Transitioned, transitionIncident } from './transition-incident.ts';

/** Closes an incident that ended without a resolution (contract: Lifecycle). */
export async function closeIncident(tools: Tools, command: TransitionCommand): Promise<Transitioned> {
  return transitionIncident(tools, command, { transition: close, noteType: 'closure' });
}

import { resolve } from '../domain/lifecycle.ts';
import type { Tools } from './context.ts';
import { type TransitionCommand, type Transitioned, transitionIncident } from './transition-incident.ts';

/** Resolves an incident and makes it a postmortem (contract: Lifecycle). */
export async function resolveIncident(tools: Tools, command: TransitionCommand): Promise<Transitioned> {
  return transitionIncident(tools, command, { transition: resolve, noteType: 'resolution' });
}

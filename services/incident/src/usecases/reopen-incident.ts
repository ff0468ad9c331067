import { reopen } from '../domain/lifecycle.ts';
import type { Tools } from './context.ts';
import { type TransitionCommand, type Transitioned, transitionIncident } from './transition-incident.ts';

/** Takes up a resolved or closed incident again (contract: Lifecycle). */
export async function reopenIncident(tools: Tools, command: TransitionCommand): Promise<Transitioned> {
  return transitionIncident(tools, command, { transition: reopen, noteType: 'reopening' });
}

import type { EventHandlers } from '@tocsin/messaging';
import { queueEvent, type QueueTools } from '../usecases/queue-event.ts';

export function incidentHandlers(tools: QueueTools): EventHandlers {
  return { 'incident.created': async (event, trx) => queueEvent(tools, event, trx) };
}

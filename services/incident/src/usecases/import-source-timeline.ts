import { DomainError, type ErrorCode, type IdempotencyClaim } from '@tocsin/http';
import type { Knex, Logger } from '@tocsin/runtime';
import type { Incident } from '../domain/incident.ts';
import { checkWritable } from '../domain/lifecycle.ts';
import type { SourceImport, SourceReading } from '../domain/source/document.ts';
import { record } from '../domain/timeline-event.ts';
import { incidentStore } from '../store/incident-store.ts';
import { timelineStore } from '../store/timeline-store.ts';
import { actorOf, authorOf, type Caller, type Tools } from './context.ts';
import { saveTimeline } from './save-timeline.ts';

export interface ImportCommand extends Caller {
  /** As it was committed a moment ago. */
  incident: Incident;
  claim: IdempotencyClaim | undefined;
  log: Logger;
  /** The answer's text for the incident and what became of the import. */
  render: (incident: Incident, sourceImport: SourceImport) => string;
}

export interface Answer {
  text: string;
  /** The incident's. */
  revision: number;
}

interface Imported {
  sourceImport: SourceImport;
  answer: Answer;
}

/**
 * Imports the document of a new incident's `doc_url` into its timeline (contract: Timeline imports). The document is asked for
 * outside of any transaction; its events, the incident's figures and the outcome of the Idempotency-Key then commit together.
 * The incident is there already, so whatever goes wrong is told in the answer and never thrown.
 */
export async function importSourceTimeline(tools: Tools, command: ImportCommand): Promise<Answer> {
  const { principal, incident, log } = command;
  const begun = performance.now();
  const { sourceImport, answer } = await attempt(tools, command);
  log.info(
    {
      incident: incident.id,
      workspace: principal.workspace.id,
      source: URL.parse(incident.docUrl)?.hostname,
      result: sourceImport.status,
      events: sourceImport.eventCount,
      duration: Math.round(performance.now() - begun),
    },
    'a timeline was to be imported',
  );
  return answer;
}

async function attempt(tools: Tools, command: ImportCommand): Promise<Imported> {
  let sourceImport: SourceImport;
  try {
    const read = await tools.documents.read(command.incident.docUrl, command.principal.workspace.id);
    if (read.status === 'imported') return await saveEvents(tools, command, read);
    sourceImport = read;
  } catch (error) {
    const reason = error instanceof DomainError ? OVERTAKEN[error.code] : undefined;
    if (reason === undefined) command.log.error({ err: error }, 'the events of a document could not be saved');
    sourceImport = { status: 'failed', reason: reason ?? 'The events of the document could not be saved' };
  }
  return { sourceImport, answer: await answerWithoutEvents(tools, command, sourceImport) };
}

/** What can happen to an incident while its document is fetched. */
const OVERTAKEN: Partial<Record<ErrorCode, string>> = {
  invalid_resource_state: 'The incident was archived before the events could be added',
  not_found: 'The incident was removed before the events could be added',
};

async function saveEvents(
  tools: Tools,
  command: ImportCommand,
  { events, ...read }: Extract<SourceReading, { status: 'imported' }>,
): Promise<Imported> {
  const { principal, incident, claim, render } = command;
  const workspaceId = principal.workspace.id;
  const sourceImport = { ...read, eventCount: events.length };
  const recorded = events.map((properties) => ({
    ...record({ incidentId: incident.id, source: 'import', by: actorOf(command), properties }),
    sourceRef: incident.docUrl,
  }));
  const answer = await tools.database.transaction(async (trx) => {
    const before = await incidentStore(trx, workspaceId).getForUpdate(incident.id);
    checkWritable(before);
    await timelineStore(trx, workspaceId).insertAll(recorded);
    const saving = { trx, author: authorOf(command), before, now: tools.clock.now() };
    const after = await saveTimeline({ ...saving, more: recorded.length });
    return conclude(trx, claim, { text: render(after, sourceImport), revision: after.revision });
  });
  tools.wakeRelay();
  return { sourceImport, answer };
}

/** Shows the incident as it is by now. Where not even that can be read, or kept, it is still true that it was made. */
async function answerWithoutEvents(tools: Tools, command: ImportCommand, sourceImport: SourceImport): Promise<Answer> {
  const { principal, incident, claim, log, render } = command;
  const answerFor = (shown: Incident) => ({ text: render(shown, sourceImport), revision: shown.revision });
  try {
    return await tools.database.transaction(async (trx) => {
      const found = await incidentStore(trx, principal.workspace.id).find(incident.id);
      return conclude(trx, claim, answerFor(found ?? incident));
    });
  } catch (error) {
    log.error({ err: error }, 'the outcome of an import could not be stored');
    return answerFor(incident);
  }
}

async function conclude(trx: Knex.Transaction, claim: IdempotencyClaim | undefined, answer: Answer): Promise<Answer> {
  await claim?.finish(trx, { status: 201, ...answer });
  return answer;
}

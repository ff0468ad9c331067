/**
 * `source-imports` reads a document into the timeline of a new incident (contract: Timeline imports) (ADR 13). The
 * create has committed the incident, and marked its Idempotency-Key as one whose outcome is still to come: nothing from
 * here on makes it fail. The document is requested once, outside of any transaction, and parsed in a worker thread,
 * which is given three seconds. One transaction then locks the incident, checks it again, and writes events, summary
 * and the outcome of the key. Any failure is a status of the response, and is stored with the key as well. If the
 * process dies before that, the incident is there without events, and the outcome of the key is unknown. Leases bound
 * the documents that a process holds, and the imports that save. `domain/` has the rules for each format, and names
 * what it leaves out.
 */
import { quotaOf } from '@tocsin/schemas';
import { DomainError, type ErrorCode, type IdempotencyClaim } from '@tocsin/http';
import type { Knex } from '@tocsin/postgres';
import { afterCommit, type FairQueue, knownTimeZone, type Logger } from '@tocsin/runtime';
import type { Caller } from '@tocsin/versioned-resources';
import type { Incident } from '../incidents/domain/incident.ts';
import { checkWritable } from '../incidents/domain/lifecycle.ts';
import type { SourceImport, SourceDocument } from './domain/document.ts';
import { newTimelineEvent, limitToQuota } from '../timeline/domain/timeline-event.ts';
import { incidentStore } from '../incidents/store/incident-store.ts';
import { timelineStore } from '../timeline/store/timeline-store.ts';
import { authorOf, creatorOf, save } from '../incidents/save-incident.ts';
import { type CommandDependencies, runCommand } from '../incidents/run-command.ts';
import type { SourceDocuments } from './clients/source-documents.ts';
import { changeTimeline } from '../timeline/change-timeline.ts';

interface ImportCommand extends Caller {
  /** The committed incident. */
  incident: Incident;
  claim: IdempotencyClaim | undefined;
  log: Logger;
  /** Renders the response body. */
  render: (incident: Incident, sourceImport: SourceImport) => string;
}

export interface ImportDependencies extends CommandDependencies {
  documents: SourceDocuments;
  /** By the ID of their workspace. */
  imports: FairQueue<number>;
}

interface ImportResult {
  sourceImport: SourceImport;
  /** The response body and the incident's revision in it. */
  reply: { text: string; revision: number };
}

/**
 * Imports the document at a new incident's `doc_url` into its timeline (contract: Timeline imports). A failure is a part of
 * the response, and never thrown.
 */
export async function importSourceTimeline(
  dependencies: ImportDependencies,
  command: ImportCommand,
): Promise<ImportResult> {
  const { principal, incident, log } = command;
  const start = performance.now();
  const result = await attempt(dependencies, command);
  const { status, eventCount } = result.sourceImport;
  afterCommit(() =>
    log.info(
      {
        incident: incident.id,
        workspace: principal.workspace.id,
        source: URL.parse(incident.docUrl)?.hostname,
        result: status,
        events: eventCount,
        duration: Math.round(performance.now() - start),
      },
      'timeline import finished',
    ),
  );
  return result;
}

async function attempt(dependencies: ImportDependencies, command: ImportCommand): Promise<ImportResult> {
  const { documents, imports } = dependencies;
  const { workspace } = command.principal;
  const workspaceId = workspace.id;
  let sourceImport: SourceImport;
  try {
    const timeZone = knownTimeZone((await dependencies.configurations.get(workspace)).timeZone);
    const request = { url: command.incident.docUrl, workspaceId, timeZone };
    const result = await documents.read(request, async (document) =>
      document.status === 'imported'
        ? imports.run(workspaceId, async () => saveEvents(dependencies, command, document))
        : document,
    );
    if ('reply' in result) return result;
    sourceImport = result;
  } catch (error) {
    const reason = error instanceof DomainError ? reasonOf(error) : undefined;
    if (reason === undefined) command.log.error({ err: error }, 'cannot save the events of a document');
    sourceImport = { status: 'failed', reason: reason ?? 'The events of the document could not be saved' };
  }
  return { sourceImport, reply: await replyWithoutEvents(dependencies, command, sourceImport) };
}

/** Changes of the incident while its document was fetched. */
const CONFLICT_REASONS: Partial<Record<ErrorCode, string>> = {
  invalid_resource_state: 'The incident was archived before the events could be added',
  not_found: 'The incident was deleted before the events could be added',
};

/** The message of a quota says what to do about it. */
const reasonOf = ({ code, message, reason }: DomainError): string | undefined =>
  reason?.startsWith('quota_') === true ? message : CONFLICT_REASONS[code];

async function saveEvents(
  dependencies: ImportDependencies,
  command: ImportCommand,
  { events, ...result }: Extract<SourceDocument, { status: 'imported' }>,
): Promise<ImportResult> {
  const { principal, incident, claim, render } = command;
  const { workspace } = principal;
  const valid = events.map((properties) => ({
    ...newTimelineEvent({ incidentId: incident.id, source: 'import', ...creatorOf(command), properties }),
    sourceRef: incident.docUrl,
  }));
  return runCommand(dependencies, {
    workspace,
    reads: async (trx) => incidentStore(trx, workspace.id).getForUpdate(incident.id),
    decides: (before, { checkStorage, now }) => {
      checkWritable(before);
      checkStorage('addition');
      const quota = quotaOf(workspace, 'timeline_events');
      const newEvents = limitToQuota(before, valid, quota);
      const sourceImport = {
        ...result,
        eventCount: newEvents.length,
        ...(newEvents.length < valid.length && {
          reason: `Only ${newEvents.length} events: an incident may have at most ${quota} (quota timeline_events)`,
        }),
      };
      return {
        stores: async (trx) => {
          const stored = await timelineStore(trx, workspace.id).insertAll(newEvents);
          const timeline = stored.map((event) => ({ type: 'timeline_event.created', event }) as const);
          const after = await save(trx, changeTimeline({ author: authorOf(command), before, timeline, now }));
          const reply = await finishClaim(trx, claim, { text: render(after, sourceImport), revision: after.revision });
          return { sourceImport, reply };
        },
      };
    },
  });
}

/** Renders the current incident. If it cannot be read or stored, renders the created one: the create itself succeeded. */
async function replyWithoutEvents(
  dependencies: ImportDependencies,
  command: ImportCommand,
  sourceImport: SourceImport,
): Promise<ImportResult['reply']> {
  const { principal, incident, claim, log, render } = command;
  const replyFor = (incident: Incident) => ({ text: render(incident, sourceImport), revision: incident.revision });
  try {
    return await dependencies.database.transaction(async (trx) => {
      const current = await incidentStore(trx, principal.workspace.id).find(incident.id);
      return finishClaim(trx, claim, replyFor(current ?? incident));
    });
  } catch (error) {
    log.error({ err: error }, 'cannot store the result of an import');
    return replyFor(incident);
  }
}

async function finishClaim(
  trx: Knex.Transaction,
  claim: IdempotencyClaim | undefined,
  reply: ImportResult['reply'],
): Promise<ImportResult['reply']> {
  await claim?.finish(trx, { status: 201, ...reply });
  return reply;
}

import { quotaOf } from '@tocsin/contracts';
import { DomainError, type ErrorCode, type IdempotencyClaim } from '@tocsin/http';
import type { Knex } from '@tocsin/postgres';
import { afterCommit, type Logger } from '@tocsin/runtime';
import type { Incident } from '../incidents/domain/incident.ts';
import { checkWritable } from '../incidents/domain/lifecycle.ts';
import type { SourceImport, SourceDocument } from './domain/document.ts';
import { bytesOf } from '../storage/domain/storage-quota.ts';
import { newTimelineEvent } from '../timeline/domain/timeline-event.ts';
import { limitToQuota, textsOf } from '../timeline/domain/timeline-quota.ts';
import { incidentStore } from '../incidents/store/incident-store.ts';
import { timelineStore } from '../timeline/store/timeline-store.ts';
import type { Caller } from '@tocsin/resources';
import { actorOf, authorOf } from '../incidents/author.ts';
import type { Dependencies } from '../dependencies.ts';
import { saveTimeline } from '../timeline/save-timeline.ts';

export interface ImportCommand extends Caller {
  /** The committed incident. */
  incident: Incident;
  claim: IdempotencyClaim | undefined;
  log: Logger;
  /** Renders the response body. */
  render: (incident: Incident, sourceImport: SourceImport) => string;
}

/** A response body and the incident's revision in it. */
export interface StoredReply {
  text: string;
  revision: number;
}

/** The reply to a create with an import, and how many events it has added. */
export interface ImportReply extends StoredReply {
  imported: number;
}

interface ImportResult {
  sourceImport: SourceImport;
  reply: StoredReply;
}

/**
 * Imports the document at a new incident's `doc_url` into its timeline (contract: Timeline imports). It fetches the document
 * outside of any transaction; then the events, the incident's timeline summary and the outcome of the Idempotency-Key commit
 * together. The incident exists already, so a failure is part of the response and never thrown.
 */
export async function importSourceTimeline(dependencies: Dependencies, command: ImportCommand): Promise<ImportReply> {
  const { principal, incident, log } = command;
  const start = performance.now();
  const { sourceImport, reply } = await attempt(dependencies, command);
  afterCommit(() =>
    log.info(
      {
        incident: incident.id,
        workspace: principal.workspace.id,
        source: URL.parse(incident.docUrl)?.hostname,
        result: sourceImport.status,
        events: sourceImport.eventCount,
        duration: Math.round(performance.now() - start),
      },
      'timeline import finished',
    ),
  );
  return { ...reply, imported: sourceImport.eventCount ?? 0 };
}

async function attempt(dependencies: Dependencies, command: ImportCommand): Promise<ImportResult> {
  const { documents, importTurns } = dependencies;
  const workspaceId = command.principal.workspace.id;
  let sourceImport: SourceImport;
  try {
    const result = await documents.read(command.incident.docUrl, workspaceId, async (document) =>
      document.status === 'imported'
        ? importTurns.run(workspaceId, async () => saveEvents(dependencies, command, document))
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

/** A quota's message tells what to do about it. */
const reasonOf = ({ code, message, reason }: DomainError): string | undefined =>
  reason?.startsWith('quota_') === true ? message : CONFLICT_REASONS[code];

async function saveEvents(
  dependencies: Dependencies,
  command: ImportCommand,
  { events, ...result }: Extract<SourceDocument, { status: 'imported' }>,
): Promise<ImportResult> {
  const { principal, incident, claim, render } = command;
  const workspaceId = principal.workspace.id;
  const { workspace } = principal;
  const valid = events.map((properties) => ({
    ...newTimelineEvent({ incidentId: incident.id, source: 'import', createdBy: actorOf(command), properties }),
    sourceRef: incident.docUrl,
  }));
  const bytes = bytesOf(valid.map(textsOf));
  const imported = await dependencies.database.transaction(async (trx) => {
    const before = await incidentStore(trx, workspaceId).getForUpdate(incident.id);
    checkWritable(before);
    dependencies.storage.check(workspace, { kind: 'addition', growth: bytes });
    const quota = quotaOf(workspace, 'timeline_events');
    const newEvents = limitToQuota(before, valid, quota);
    const sourceImport = {
      ...result,
      eventCount: newEvents.length,
      ...(newEvents.length < valid.length && {
        reason: `Only ${newEvents.length} events: an incident may have at most ${quota} (quota timeline_events)`,
      }),
    };
    const stored = await timelineStore(trx, workspaceId).insertAll(newEvents);
    const timeline = stored.map((event) => ({ type: 'timeline_event.created', event }) as const);
    const options = { trx, author: authorOf(command), before, now: dependencies.clock.now() };
    const after = await saveTimeline({ ...options, timeline });
    const reply = await finishClaim(trx, claim, { text: render(after, sourceImport), revision: after.revision });
    return { sourceImport, reply };
  });
  const keyBytes = claim === undefined ? 0 : Buffer.byteLength(imported.reply.text);
  dependencies.storage.add(workspaceId, { bytes, keyBytes });
  dependencies.wakeRelay();
  return imported;
}

/** Renders the current incident. If it cannot be read or stored, renders the created one: the create itself succeeded. */
async function replyWithoutEvents(
  dependencies: Dependencies,
  command: ImportCommand,
  sourceImport: SourceImport,
): Promise<StoredReply> {
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
  reply: StoredReply,
): Promise<StoredReply> {
  await claim?.finish(trx, { status: 201, ...reply });
  return reply;
}

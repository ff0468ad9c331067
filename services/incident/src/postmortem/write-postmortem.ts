import { checkRevision, invalidState, type KeyedOutcome, notFound } from '@tocsin/http';
import { insertEvents } from '@tocsin/messaging';
import { type Knex, query, type Statement } from '@tocsin/postgres';
import type { Instant } from '@tocsin/runtime';
import type { Caller } from '@tocsin/versioned-resources';
import { BUILT_IN_TEMPLATE, sectionsOf } from '@tocsin/schemas/postmortem-template';
import { findPostmortemTemplate } from '../configuration/store/configuration-store.ts';
import { humanId, type Incident } from '../incidents/domain/incident.ts';
import { checkWritable } from '../incidents/domain/lifecycle.ts';
import { type CommandDependencies, runCommand } from '../incidents/run-command.ts';
import { type Author, authorOf, insertEntryOfParts, publishedActor } from '../incidents/save-incident.ts';
import { incidentStore } from '../incidents/store/incident-store.ts';
import {
  changePostmortem,
  type Edit,
  newPostmortem,
  type PostmortemState,
  type Section,
  type WrittenPostmortem,
} from './domain/written.ts';
import { insertWritten, keepWritten, selectWritten, updateOfWritten, updateState } from './store/written-store.ts';

interface BeginCommand extends Caller {
  incidentId: number;
  /** Undefined: those of the workspace's template. */
  sections: readonly Section[] | undefined;
  outcome: KeyedOutcome<WrittenPostmortem> | undefined;
}

/**
 * Begins the post-mortem of an active incident, as a draft (contract: Post-mortems).
 * @throws DomainError `not_found`, `invalid_resource_state`, in this order
 */
export async function beginPostmortem(
  dependencies: CommandDependencies,
  command: BeginCommand,
): Promise<WrittenPostmortem> {
  const { principal, incidentId, sections, outcome } = command;
  const { workspace } = principal;
  return runCommand(dependencies, {
    workspace,
    outcome,
    reads: async (trx) => ({
      ...(await lockWritten(trx, workspace.id, incidentId)),
      template: await findPostmortemTemplate(trx, workspace.id),
    }),
    decides: ({ incident, written: existing, template }, { checkStorage, now }) => {
      checkWritable(incident);
      if (existing !== undefined) throw invalidState('The incident has a post-mortem already');
      checkStorage('addition');
      const author = authorOf(command);
      const given = { incidentId, sections: sections ?? sectionsOf(template || BUILT_IN_TEMPLATE), template };
      const written = newPostmortem(given, editOf(author, now));
      const record = recordOf(author, { incident, written, was: null, now });
      return { stores: [insertWritten(workspace.id, written), ...record], answer: () => written };
    },
  });
}

interface UpdateCommand extends Caller {
  incidentId: number;
  expectedRevision: number;
  changes: Partial<Pick<WrittenPostmortem, 'state' | 'sections'>>;
}

/**
 * Changes the post-mortem of an active incident, and keeps what it was (contract: Post-mortems). Values equal to the
 * stored ones change nothing.
 * @throws DomainError `not_found`, `invalid_resource_state`, `precondition_failed`, in this order
 */
export async function updatePostmortem(
  dependencies: CommandDependencies,
  command: UpdateCommand,
): Promise<WrittenPostmortem> {
  const { principal, incidentId, expectedRevision, changes } = command;
  const { workspace } = principal;
  return runCommand(dependencies, {
    workspace,
    reads: async (trx) => {
      const { incident, written } = await lockWritten(trx, workspace.id, incidentId);
      if (written === undefined) throw notFound('The post-mortem');
      return { incident, was: written };
    },
    decides: ({ incident, was }, { checkStorage, now }) => {
      checkWritable(incident);
      checkRevision(was.revision, expectedRevision);
      const author = authorOf(command);
      const written = changePostmortem(was, changes, editOf(author, now));
      if (written === was) return { stores: [], answer: () => was };
      checkStorage('addition');
      const stores = [
        ...keepWritten(workspace.id, [incidentId]),
        updateOfWritten(workspace.id, written),
        ...(written.state === was.state ? [] : recordOf(author, { incident, written, was: was.state, now })),
      ];
      return { stores, answer: () => written };
    },
  });
}

/** Locks the incident, and reads its post-mortem then. @throws DomainError `not_found` */
async function lockWritten(trx: Knex.Transaction, workspaceId: number, incidentId: number) {
  const incident = await incidentStore(trx, workspaceId).getForUpdate(incidentId);
  const [written] = await query(trx, selectWritten({ workspaceId, incidentId }));
  return { incident, written };
}

const editOf = ({ actor, key }: Author, now: Instant): Edit => ({
  ...{ now, actor, key: key === undefined ? null : { name: key.name, prefix: key.prefix } },
});

/** The state in the incident, its entry in the changelog, and the event. What was written is in former versions. */
function recordOf(
  author: Author,
  changed: { incident: Incident; written: WrittenPostmortem; was: PostmortemState | null; now: Instant },
): Statement[] {
  const { incident, written, was, now } = changed;
  const { workspace, requestId } = author;
  const { revision, state } = written;
  const changes = [{ field: 'postmortem_state', from: was, to: state }];
  return [
    updateState({ workspaceId: incident.workspaceId, incidentId: incident.id }, state),
    insertEntryOfParts({ author, incident, changes, now }),
    insertEvents([
      {
        ...{ type: 'incident.postmortem_changed', occurredAt: now, workspace, requestId },
        restricted: incident.restricted,
        data: {
          incident: { id: incident.id, reference: humanId(incident.number) },
          postmortem: { revision, state, previous_state: was },
          ...publishedActor(author),
        },
      },
    ]),
  ];
}

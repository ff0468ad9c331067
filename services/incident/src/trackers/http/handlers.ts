import { type RestrictedCaller, type RouteRequest, seesRestricted } from '@tocsin/http';
import { changeBy } from '@tocsin/messaging';
import { definedProperties } from '@tocsin/versioned-resources';
import { calledStatusOf } from '@tocsin/safe-http';
import { replyOf as followUpReplyOf } from '../../follow-ups/http/handlers.ts';
import type { CommandDependencies } from '../../incidents/run-command.ts';
import type { AutoFilters, Tracker } from '../domain/tracker.ts';
import { trackerStore } from '../store/tracker-store.ts';
import { type TestDependencies, testTracker } from '../test-tracker.ts';
import { makeTicket, unlinkTicket } from '../ticket-commands.ts';
import {
  archiveTracker,
  createTracker,
  getTracker,
  pauseTracker,
  resumeTracker,
  type Settings,
  type TrackerDependencies,
  updateTracker,
} from '../tracker-commands.ts';
import type { TrackerApiHandlers } from './contracts.ts';
import type { TrackerWire } from './wire.ts';

export function trackerHandlers(
  dependencies: TrackerDependencies & CommandDependencies & Omit<TestDependencies, 'runningTests'>,
): TrackerApiHandlers {
  const { database } = dependencies;
  const runningTests = new Set<number>();
  return {
    listTrackers: async ({ principal }) => {
      const trackers = await trackerStore(database, principal.workspace.id).list();
      return { body: { trackers: trackers.map((each) => viewOf(each, principal)) } };
    },

    getTracker: async ({ principal, params: { id } }) =>
      replyOf(await getTracker(database, principal.workspace.id, id), principal),

    createTracker: async (request) => {
      const { name, kind, url = '', credential, project, issue_type: issueType = '' } = request.body;
      const { auto_filters: filters = null, include_restricted: includeRestricted = false } = request.body;
      const address = { url, credential, project, issueType: issueType.trim() };
      const settings = { name: name.trim(), ...address, autoFilters: filtersOf(filters), includeRestricted };
      const { tracker, secret } = await createTracker(dependencies, { ...commandOf(request), kind, settings });
      const { body, revision } = replyOf(tracker, request.principal);
      return { body: { ...body, secret }, revision };
    },

    updateTracker: async (request) => {
      const { name, url, credential, project, issue_type: issueType, auto_filters: filters } = request.body;
      const settings = {
        ...{ name: name?.trim(), url, credential, project, issueType: issueType?.trim() },
        autoFilters: filters === undefined ? undefined : filtersOf(filters),
        includeRestricted: request.body.include_restricted,
      };
      const { expectedRevision, params } = request;
      const command = { ...commandOf(request), id: params.id, expectedRevision };
      return replyOf(
        await updateTracker(dependencies, { ...command, settings: definedProperties<Settings>(settings) }),
        request.principal,
      );
    },

    testTracker: async ({ principal, params: { id } }) => {
      const of = { workspaceId: principal.workspace.id, id };
      const outcome = await testTracker({ ...dependencies, runningTests }, of);
      const test = { is_accepted: outcome === null, reason: outcome?.reason ?? null, status: outcome?.status ?? null };
      return { body: { test } };
    },

    pauseTracker: async (request) => replyOf(await pauseTracker(dependencies, changeOf(request)), request.principal),
    resumeTracker: async (request) => replyOf(await resumeTracker(dependencies, changeOf(request)), request.principal),
    archiveTracker: async (request) =>
      replyOf(await archiveTracker(dependencies, changeOf(request)), request.principal),

    listUsableTrackers: async ({ principal }) => {
      const trackers = await trackerStore(database, principal.workspace.id).list();
      const usable = trackers.filter(({ isPaused }) => !isPaused);
      return {
        body: {
          trackers: usable.map(({ id, name, kind, includeRestricted }) => ({
            ...{ id, name, kind, include_restricted: includeRestricted },
          })),
        },
      };
    },

    createFollowUpTicket: async ({ principal, requestId, params: { id }, body }) =>
      followUpReplyOf(await makeTicket(dependencies, { principal, requestId, id, trackerId: body.tracker_id })),

    deleteFollowUpTicket: async ({ principal, requestId, params: { id } }) => {
      await unlinkTicket(dependencies, { principal, requestId, id });
      return {};
    },
  };
}

/** An absent filter selects all. */
const filtersOf = (given: { [Name in keyof AutoFilters]?: AutoFilters[Name] | undefined } | null): AutoFilters | null =>
  given && { severities: given.severities ?? [], services: given.services ?? [], team_ids: given.team_ids ?? [] };

const commandOf = (request: RouteRequest<unknown, unknown, unknown>) => ({
  ...changeBy(request),
  ...{ caller: request.principal, context: request.principal.workspace },
});

const changeOf = (request: RouteRequest<{ id: number }, unknown, unknown>) => ({
  ...commandOf(request),
  id: request.params.id,
});

const replyOf = (tracker: Tracker, caller: RestrictedCaller) => ({
  body: { tracker: viewOf(tracker, caller) },
  revision: tracker.revision,
});

/** What came of tickets of restricted incidents says that there are some. */
const UNKNOWN = { failingSince: null, lastSuccessAt: null, lastFailure: null } as const;

function viewOf(stored: Tracker, caller: RestrictedCaller): TrackerWire {
  const tracker = stored.includeRestricted && !seesRestricted(caller) ? { ...stored, ...UNKNOWN } : stored;
  const { id, revision, name, kind, origin, project, issueType, autoFilters, failingSince, lastFailure } = tracker;
  return {
    ...{ id, revision, name, kind, url: origin, project, issue_type: issueType },
    auto_filters: autoFilters && {
      severities: [...autoFilters.severities],
      services: [...autoFilters.services],
      team_ids: [...autoFilters.team_ids],
    },
    include_restricted: tracker.includeRestricted,
    webhook_path: `/hooks/trackers/${id}`,
    status: calledStatusOf(tracker),
    last_success_at: tracker.lastSuccessAt,
    last_failure: lastFailure,
    retry_at: failingSince === null ? null : tracker.dueAt,
    created_at: tracker.createdAt,
    updated_at: tracker.updatedAt,
    archived_at: tracker.archivedAt,
  };
}

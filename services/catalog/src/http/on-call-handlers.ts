import { invalidRequest } from '@tocsin/http';
import { changeBy } from '@tocsin/messaging';
import { PAGERDUTY_URL } from '../clients/pagerduty.ts';
import type { Dependencies } from '../usecases/context.ts';
import { getOnCall, type OnCall, type PersonOnCall, removeOnCall, setOnCall } from '../usecases/on-call.ts';
import type { CatalogApi } from './contracts.ts';
import type { OnCallWire } from './on-call-wire.ts';

export function onCallHandlers(
  dependencies: Dependencies,
): Pick<CatalogApi, 'getTeamOnCall' | 'setTeamOnCall' | 'removeTeamOnCall'> {
  const { userReplica } = dependencies;
  return {
    getTeamOnCall: async ({ principal: { workspace }, params: { id } }) => {
      await userReplica.refresh(workspace);
      return replyOf(await getOnCall(dependencies, { workspaceId: workspace.id, teamId: id }));
    },

    setTeamOnCall: async (request) => {
      const { kind, url, schedule_id: scheduleId, credential } = request.body;
      const given = { url, schedule_id: scheduleId, credential };
      for (const name of REQUIRED[kind]) {
        if (given[name] === undefined) throw invalidRequest(name, `Is required for the kind ${kind}`);
      }
      for (const name of ['schedule_id', 'credential'] as const) {
        if (given[name] !== undefined && kind === 'icalendar')
          throw invalidRequest(name, 'Is only allowed for the kind pagerduty');
      }
      await userReplica.refresh(request.principal.workspace);
      return replyOf(
        await setOnCall(dependencies, {
          ...changeBy(request),
          ...{ teamId: request.params.id, kind, scheduleId: scheduleId ?? null },
          address: { url: url ?? PAGERDUTY_URL, credential: credential ?? '' },
        }),
      );
    },

    removeTeamOnCall: async (request) => {
      await removeOnCall(dependencies, { ...changeBy(request), teamId: request.params.id });
      return {};
    },
  };
}

const REQUIRED = { icalendar: ['url'], pagerduty: ['schedule_id', 'credential'] } as const;

const replyOf = (onCall: OnCall) => ({ body: { on_call: onCallView(onCall) } });

const onCallView = ({ source, fetchedAt, failure, now, next }: OnCall): OnCallWire => ({
  source: source?.kind ?? null,
  url: source?.origin ?? '',
  schedule_id: source?.scheduleId ?? null,
  fetched_at: fetchedAt,
  failure,
  now: now.map(personView),
  next: next.map(personView),
});

const personView = ({ userId, ...person }: PersonOnCall) => ({ user_id: userId, ...person });

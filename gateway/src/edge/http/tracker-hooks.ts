import { INTERNAL_PATHS, type TrackerHook, trackerHookAnswer } from '@tocsin/schemas';
import { DomainError, serviceUnavailable } from '@tocsin/http';
import type { ServicesClient } from '../../upstreams/clients/services-client.ts';
import { methodNotAllowed, type RequestContext } from '../../requests/http/request-context.ts';

const PATH = /^\/hooks\/trackers\/(\d{1,15})$/;
const SIGNATURES = ['x-hub-signature-256', 'x-hub-signature', 'x-gitlab-token', 'linear-signature'] as const;
const MAX_SIGNATURE = 1_024;

/** The ID of the tracker whose webhook a path receives; undefined for any other path. */
export function trackerOfPath(path: string): number | undefined {
  const [, id] = PATH.exec(path) ?? [];
  return id === undefined || Number(id) === 0 ? undefined : Number(id);
}

/**
 * Forwards a webhook of a tracker to the incident service, which verifies it (contract: Trackers).
 * @throws DomainError `authentication_required` for whatever is not signed, whether or not there is the tracker
 */
export async function receiveTrackerHook(
  { request, response, method }: RequestContext,
  options: {
    workspaceId: number;
    trackerId: number;
    readBody: () => Promise<Buffer | undefined>;
    services: Pick<ServicesClient, 'command'>;
  },
): Promise<void> {
  const { workspaceId, trackerId, readBody, services } = options;
  if (method !== 'POST') throw methodNotAllowed(method, ['POST']);
  const body = await readBody();
  const hook: TrackerHook = {
    ...{ workspace_id: workspaceId, tracker_id: trackerId, body: body?.toString('base64') ?? '' },
    headers: Object.fromEntries(
      SIGNATURES.flatMap((name) => {
        const value = request.headers[name];
        return typeof value === 'string' && value.length <= MAX_SIGNATURE ? [[name, value]] : [];
      }),
    ),
  };
  const command = { path: INTERNAL_PATHS.trackerHooks, body: hook, answer: trackerHookAnswer };
  const { is_verified: isVerified } = await services.command('incident', command).catch((cause: unknown) => {
    throw serviceUnavailable('The webhook cannot be verified at the moment; send it again', { cause });
  });
  if (!isVerified)
    throw new DomainError('authentication_required', 'The webhook is not signed with the secret of this tracker');
  if (!response.destroyed) response.writeHead(202).end();
}

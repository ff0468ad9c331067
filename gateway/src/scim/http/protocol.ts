/**
 * `scim` lets directories such as Entra ID and Okta manage users and groups by SCIM 2.0 (RFC 7643 and 7644; contract:
 * Users). The public server checks a request as any other, and forwards it to the internal server, which mounts this
 * file. A write is one command: one transaction, which locks the row of the workspace before it reads, so that no change
 * of a group is lost. `scimmy` checks attributes and applies patches; what it would do slowly or wrongly is taken out
 * before (`domain/`). Users change by the commands of the API (`accounts/users.ts`), and groups give roles and seats by
 * the mapping of the sign-in (`sign-in/roles-of-groups.ts`). The response is kept until the transaction has committed;
 * a crash leaves nothing, and directories repeat.
 */
import type { Request, RequestHandler, Response } from 'express';
import SCIMMY from 'scimmy';
import {
  checkAccess,
  DomainError,
  MAX_BODY_BYTES,
  notFound,
  PRINCIPAL_HEADER,
  type PrincipalVerifier,
  readJsonBody,
  requestIdOf,
} from '@tocsin/http';
import type { Protocol } from '@tocsin/http/app';
import type { Knex } from '@tocsin/postgres';
import { RequestWork, runForRequest } from '@tocsin/runtime';
import { scimMemberStore } from '../../accounts/store/scim-group-store.ts';
import { type Dependencies, runCommand } from '../../accounts/run-command.ts';
import type { CommandContext } from '../../accounts/actor.ts';
import { workspaceStore } from '../../accounts/store/workspace-store.ts';
import { idOf, type ResourceName } from '../domain/filter.ts';
import { readPatch, readResource } from '../domain/patch.ts';
import { readQuery } from '../domain/query.ts';
import { writeGroup } from '../groups.ts';
import { getUser } from '../users.ts';
import { SCIM_NEEDS, SCIM_PATH, SCIM_SCOPE } from './operations.ts';
import { SCIM_TYPE, sendScim, sendScimError } from './scim-error.ts';
import { scimRouter, type ScimWork, workOn } from './resources.ts';

interface Options {
  dependencies: Dependencies;
  principals: PrincipalVerifier;
  /** The origin of a workspace, by its slug. */
  originOf: (slug: string) => string;
}

interface Answer {
  status: number;
  body: Record<string, unknown> | undefined;
}

const NOTHING: Answer = { status: 204, body: undefined };

export const scimProtocol = (options: Options): Protocol => ({
  path: SCIM_PATH,
  handle: handler(options),
  sendError: sendScimError,
});

const handler =
  ({ dependencies, principals, originOf }: Options): RequestHandler =>
  async (request, response) => {
    const principal = principals.user(request.get(PRINCIPAL_HEADER));
    if (principal === undefined)
      throw new DomainError('authentication_required', 'The request does not come from the gateway');
    const isRead = request.method === 'GET' || request.method === 'HEAD';
    checkAccess(principal, { scope: SCIM_SCOPE, ...(!isRead && { needs: SCIM_NEEDS }) });
    const { id: workspaceId, slug } = principal.workspace;
    const isClientGone = () => response.destroyed && !response.writableFinished;
    const answer = await runForRequest(
      new RequestWork({ holder: workspaceId, readOnly: isRead, isClientGone }),
      async () => {
        const prepared = await prepare(request, workspaceId);
        if (isRead) return serve(request, response, { ...prepared, db: dependencies.database, context: undefined });
        const command = async (trx: Knex.Transaction, _input: { workspaceId: number }, context: CommandContext) => {
          await workspaceStore(trx).lock(workspaceId);
          return serve(request, response, { ...prepared, db: trx, context });
        };
        return runCommand(dependencies, { principal, requestId: requestIdOf(request) }, [command, {}]);
      },
    );
    send(response, answer, originOf(slug));
  };

type Prepared = Omit<ScimWork, 'db' | 'context'> & {
  resource: ResourceName | undefined;
  id: number;
  /** Whether `scimmy` has nothing to do. */
  isIgnored: boolean;
};

/** Reads query and body, and gives `scimmy` what it can read safely. */
async function prepare(request: Request, workspaceId: number): Promise<Prepared> {
  const { method } = request;
  const [path = '', search = ''] = request.url.split(/\?(.*)/s, 2);
  const [, name, id] = path.split('/');
  const resource: ResourceName | undefined = name === 'Users' || name === 'Groups' ? name : undefined;
  const query = readQuery(resource ?? 'Users', search);
  // The getter of Express reads the query of the URL each time, and `scimmy` would read all of it.
  Object.defineProperty(request, 'query', {
    value: method === 'GET' && resource !== undefined ? query.parameters : {},
  });
  const prepared = {
    ...{ workspaceId, method, query, resource, id: idOf(id ?? ''), isIgnored: false },
    ...{ members: undefined, failure: undefined },
  };
  if (!['POST', 'PUT', 'PATCH'].includes(method) || resource === undefined) return prepared;
  const { value } = await readJsonBody(request, {
    ...{ optional: false, maxBytes: MAX_BODY_BYTES, workspaceId, mediaType: SCIM_TYPE },
  });
  if (method === 'PATCH') {
    const { operations, members } = readPatch(resource, value);
    request.body = { schemas: value.schemas, Operations: operations };
    return { ...prepared, members, isIgnored: operations.length === 0 };
  }
  const { attributes, members } = readResource(resource, value);
  request.body = attributes;
  return { ...prepared, members };
}

/** Returns what `scimmy` answers. @throws DomainError */
async function serve(request: Request, response: Response, work: ScimWork & Prepared): Promise<Answer> {
  const { workspaceId, db, resource, id, members, context } = work;
  if (work.isIgnored && context !== undefined) {
    if (resource === 'Users') await getUser(db, workspaceId, id);
    else await writeGroup(db as Knex.Transaction, { workspaceId, id, members }, context);
    return NOTHING;
  }
  workOn(request, work);
  const { promise, resolve, reject } = Promise.withResolvers<Answer>();
  response.send = (body: unknown) => {
    const { statusCode: status } = response;
    // Its router passes worse errors on.
    if (status < 500)
      resolve({
        status,
        body: body === undefined ? undefined : (JSON.parse(JSON.stringify(body)) as Record<string, unknown>),
      });
    return response;
  };
  scimRouter(request, response, (error?: unknown) => reject(error ?? notFound('The path')));
  const answer = await promise.catch((error: unknown) => {
    throw work.failure ?? unreadable(error);
  });
  if (work.failure !== undefined) throw work.failure;
  if (answer.status >= 400) throw refusalOf(answer);
  const { body } = answer;
  if (body === undefined) return answer;
  if (resourcesIn(body) !== undefined) body.startIndex = work.query.startIndex;
  if (resource === 'Groups' && work.query.showsMembers) await addMembers(work, body);
  return answer;
}

/** `scimmy` refuses what it cannot read by an error of any kind. */
const unreadable = (error: unknown): DomainError =>
  error instanceof DomainError
    ? error
    : new DomainError('invalid_request', error instanceof Error ? error.message : 'The request cannot be read', {
        status: error instanceof SCIMMY.Types.Error && error.status < 500 ? error.status : 400,
      });

function refusalOf({ status, body }: Answer): DomainError {
  const { scimType, detail } = body ?? {};
  return new DomainError(status === 404 ? 'not_found' : 'invalid_request', String(detail), {
    status,
    ...(scimType !== undefined && { details: { scim_type: scimType } }),
  });
}

async function addMembers({ db, workspaceId }: ScimWork, body: Record<string, unknown>): Promise<void> {
  const groups = resourcesIn(body) ?? [body];
  const members = await scimMemberStore(db).list(
    workspaceId,
    groups.map(({ id }) => Number(id)),
  );
  const byGroup = Map.groupBy(members, ({ groupId }) => groupId);
  for (const group of groups) {
    const list = byGroup.get(Number(group.id)) ?? [];
    group.members = list.map(({ userId, name }) => ({ value: String(userId), display: name, type: 'User' }));
  }
}

const resourcesIn = ({ Resources: resources }: Record<string, unknown>) =>
  Array.isArray(resources) ? (resources as Record<string, unknown>[]) : undefined;

/** `scimmy` keeps the beginning of locations for the process; the origin of a workspace is added here. */
function send(response: Response, { status, body }: Answer, origin: string): void {
  for (const { meta } of body === undefined ? [] : (resourcesIn(body) ?? [body])) {
    const { location } = (meta ?? {}) as { location?: string };
    if (location === undefined) continue;
    Object.assign(meta as object, { location: `${origin}${location}` });
    if (status === 201) response.setHeader('Location', `${origin}${location}`);
  }
  sendScim(response, status, body);
}

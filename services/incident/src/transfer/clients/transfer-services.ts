import {
  type ExportedResources,
  exportedResources,
  INTERNAL_PATHS,
  MAX_PEOPLE,
  type People,
  people,
} from '@tocsin/contracts';
import { internalClient, serviceUnavailable } from '@tocsin/http';

type ExportedKind = 'team' | 'service' | 'field';

/** The internal calls of imports and exports. @throws DomainError `service_unavailable` */
export interface TransferServices {
  /** Returns the users of a workspace with these IDs or email addresses. */
  findPeople(
    workspaceId: number,
    named: { ids?: readonly number[]; emails?: readonly string[] },
  ): Promise<People['users']>;
  /** Returns a page of resources, after the `next` of the previous one. */
  readResources(workspaceId: number, page: { kind: ExportedKind; after: string }): Promise<ExportedResources>;
  close(): void;
}

/** Milliseconds for one call. */
const TIMEOUT = 2_500;

export function transferServices(options: {
  urls: Readonly<Record<'users' | 'catalog' | 'customFields', readonly string[]>>;
  secretKeys: string;
}): TransferServices {
  const { urls, secretKeys } = options;
  const clientOf = (service: string, addresses: readonly string[]) =>
    internalClient({ urls: addresses, self: 'incident', service, secretKeys, timeout: TIMEOUT });
  const gateway = clientOf('gateway', urls.users);
  const catalog = clientOf('catalog', urls.catalog);
  const customField = clientOf('custom-field', urls.customFields);
  const orUnavailable = async <Result>(what: string, call: Promise<Result>): Promise<Result> =>
    call.catch(() => {
      throw serviceUnavailable(`The ${what} of the workspace cannot be read at the moment; try again`);
    });
  return {
    async findPeople(workspaceId, { ids = [], emails = [] }) {
      const found: People['users'] = [];
      for (let start = 0; start < Math.max(ids.length, emails.length); start += MAX_PEOPLE) {
        const part = <Each>(all: readonly Each[]) => all.slice(start, start + MAX_PEOPLE);
        const query = { workspace_id: workspaceId, ids: part(ids), emails: part(emails) };
        found.push(...(await orUnavailable('users', gateway.post(INTERNAL_PATHS.people, query, people))).users);
      }
      return found;
    },
    readResources: async (workspaceId, { kind, after }) => {
      const client = kind === 'field' ? customField : catalog;
      const query = { workspace_id: workspaceId, kind, after };
      return orUnavailable(`${kind}s`, client.get(INTERNAL_PATHS.exportedResources, query, exportedResources));
    },
    close: () => [gateway, catalog, customField].forEach((client) => client.close()),
  };
}

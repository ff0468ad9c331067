import { DomainError, notFound } from '@tocsin/http';
import type { Logger } from '@tocsin/runtime';
import type { ServicesClient } from '../../upstreams/clients/services-client.ts';
import type { Operation } from '../../routes/domain/route-table.ts';
import { methodNotAllowed } from '../../requests/http/request-context.ts';

/**
 * Asks the service whether it has an operation that the gateway does not know: it may be newer (ADR 84).
 * @param tableMethods the methods that the route table has for the path, which count for a service that does not tell
 * @throws DomainError `not_found`, `method_not_allowed`, or `service_unavailable` if it does not answer
 */
export async function checkWithService(
  { services, log }: { services: Pick<ServicesClient, 'methodsAt'>; log: Logger },
  { service, method }: Pick<Operation, 'service' | 'method'>,
  { path, tableMethods }: { path: string; tableMethods: readonly string[] },
): Promise<void> {
  const methods =
    (await services.methodsAt(service, path).catch((error: unknown) => {
      log.info({ err: error, upstream: service }, 'a service did not say which methods a path has');
      throw new DomainError('service_unavailable', `The ${service} service does not answer`);
    })) ?? tableMethods;
  if (methods.length === 0) throw notFound('The path');
  if (!methods.includes(method)) throw methodNotAllowed(method, methods);
}

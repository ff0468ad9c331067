import { DomainError } from '@tocsin/http';

/** 503: the gateway or a service cannot take a request now, which is not due to its workspace alone. */
export const overloaded = (message: string, reason: string) =>
  new DomainError('service_unavailable', message, { reason, headers: { 'Retry-After': '1' } });
